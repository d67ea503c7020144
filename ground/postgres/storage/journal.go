package storage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/problem"
)

// Kind of a record; shim.c has the same numbers.
type Kind uint16

const (
	Open     Kind = iota + 1 // Ino is now at Path
	Write                    // Data at Offset
	Zero                     // Size zeros at Offset
	Truncate                 // to Size
	Allocate                 // the file is at least Offset + Size long
	Sync                     // the part of Ino before Before, with all of its attributes: fsync
	SyncAll                  // of every file: sync, syncfs
	Rename                   // Path to To
	Link                     // the same
	Unlink
	Mkdir
	Rmdir
	Nothing // a call that failed
	// Datasync is Sync without what a reader does not need, such as times: fdatasync.
	Datasync
	// Writeback of Ino was begun, which makes nothing durable: sync_file_range.
	Writeback
)

// Flags of a record.
const (
	Created   uint16 = 1 << iota // the open created the file
	Emptied                      // the open truncated it
	Durable                      // the call itself flushed what it wrote, and began when Before was next: O_DSYNC
	Directory                    // the open file is a folder
	Whole                        // with Durable: and all attributes, as fsync does: O_SYNC
)

// Record is a change or a flush.
type Record struct {
	Number, Before, Ino uint64
	At                  time.Time
	Offset, Size        int64
	Kind                Kind
	Flags               uint16
	Path, To            string
	Data                []byte
}

const (
	recordMagic  = 0x4c4e524a
	headerLength = 64
	// Higher ones are two records, one cut behind its length and the next. That many records do not fit a disk.
	highestNumber = 1<<32 - 1
)

// Journal is what a server wrote and flushed, in order and without gaps.
type Journal struct {
	Records []Record
	memory  []byte
}

// ReadJournal reads a journal up to the first missing number: its process was killed between the change and the record.
func ReadJournal(dir string) (*Journal, error) {
	f, err := dirs.OpenIn(dir, "journal", os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("read the journal of writes: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the journal of writes: %w", err)
	}
	if info.Size() == 0 {
		return nil, errors.New("the journal of writes is empty: the library was not loaded")
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map the journal of writes: %w", err)
	}
	return &Journal{Records: withoutGap(parse(memory)), memory: memory}, nil
}

// Close frees the memory; its records must not be used afterwards.
func (j *Journal) Close() error { return unix.Munmap(j.memory) }

// parse skips what a killed process wrote only in part.
func parse(text []byte) (all []Record) {
	for len(text) >= headerLength+4 {
		r, length := parseRecord(text)
		if length == 0 {
			text = text[1:]
			continue
		}
		all = append(all, r)
		text = text[length:]
	}
	return all
}

// parseRecord returns length 0 if no complete record starts there.
func parseRecord(text []byte) (r Record, length int) {
	order := binary.LittleEndian
	if order.Uint32(text) != recordMagic {
		return r, 0
	}
	length = int(order.Uint32(text[4:]))
	r.Number = order.Uint64(text[8:])
	if length < headerLength+4 || length > len(text) || r.Number > highestNumber ||
		order.Uint32(text[length-4:]) != recordMagic^uint32(r.Number) {
		return r, 0
	}
	r.Before, r.Ino = order.Uint64(text[16:]), order.Uint64(text[32:])
	r.At = time.Unix(0, int64(order.Uint64(text[24:])))
	r.Offset, r.Size = int64(order.Uint64(text[40:])), int64(order.Uint64(text[48:]))
	r.Kind, r.Flags = Kind(order.Uint16(text[60:])), order.Uint16(text[62:])
	body := text[headerLength : length-4]
	if r.Kind == Write {
		r.Data = body
	} else {
		r.Path, r.To, _ = strings.Cut(string(body), "\x00")
	}
	return r, length
}

func withoutGap(all []Record) []Record {
	slices.SortFunc(all, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	for i, r := range all {
		if r.Number != uint64(i)+1 {
			return all[:i]
		}
	}
	return all
}

// State is shared by the processes that write the journal.
type State struct{ memory []byte }

const stateMagic = 0x3154535349504c

// OpenState maps the state of a server's journal.
func OpenState(dir string) (*State, error) {
	f, err := dirs.OpenIn(dir, "state", os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open the journal's state: %w", err)
	}
	defer f.Close()
	memory, err := syscall.Mmap(int(f.Fd()), 0, 24, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the journal's state: %w", err)
	}
	s := &State{memory}
	if s.word(0) != stateMagic {
		return nil, errors.Join(errors.New("the journal has no state: the library was not loaded"), s.Close())
	}
	return s, nil
}

func (s *State) word(i int) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&s.memory[8*i])))
}

// Last is the number of the last record that was started. Everything that the server acknowledged before is in the
// journal up to this number.
func (s *State) Last() uint64 { return s.word(1) - 1 }

// beyond is what a journal cannot describe; shim.c has the same numbers.
var beyond = map[uint64]string{
	10001: "the server renamed a folder, as a new replication slot does",
	10002: "the server made a symbolic link, as a tablespace does",
	10003: "the server mapped a file for writing",
	10004: "a file was moved or linked into the server's data or out of them",
	10005: "two names were swapped",
	10006: "a file was written by asynchronous calls",
}

// Err says that the journal is useless: a record could not be written, or something happened that no record describes.
func (s *State) Err() error {
	failed := s.word(2)
	if what, is := beyond[failed]; is {
		return problem.New(problem.Failure, errors.New("power cuts cannot be rebuilt: "+what), "try without that")
	}
	if failed != 0 {
		return fmt.Errorf("write the journal of writes: %w", syscall.Errno(failed))
	}
	return nil
}

// Close unmaps the state.
func (s *State) Close() error { return syscall.Munmap(s.memory) }
