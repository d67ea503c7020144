// Package keep writes the individual operations of a run to a file while the run lasts.
package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go"

	"plimsoll/lab/load"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/samples"
)

const (
	// waitingMax operations may wait for the disk, about 100 bytes each; further ones are dropped and counted.
	waitingMax = 2_000_000
	// groupRows are written together and held in memory until then.
	groupRows = 100_000
	writeEach = time.Second
)

// File is written in the background: the loop that drives the users only appends to a list.
type File struct {
	path string
	own  *os.File // becomes the file when it is complete
	out  *parquet.GenericWriter[samples.Row]
	part *os.File // what can be read when this process dies
	head samples.Head
	ids  []string // of the crowd's operations

	mu      sync.Mutex
	waiting []samples.Row
	missing int64

	stop    chan struct{}
	done    chan struct{}
	inGroup int
	pieces  *samples.Part
	err     error
}

const wholeSuffix = ".whole"

// HeadOf a load, before anything is measured.
func HeadOf(l load.Load) samples.Head {
	head := samples.Head{Users: l.Users, From: int64(l.Ramp), To: int64(l.End())}
	for _, op := range l.Crowd().Operations {
		head.Operations = append(head.Operations, samples.Operation{ID: op.ID, Target: int64(op.Target),
			Priority: op.Priority})
	}
	return head
}

// Create begins a file. It is complete only once it is closed; if this process dies before, what was written up to then
// is in a second file next to it, which samples.Read finds.
func Create(path string, head samples.Head) (f *File, err error) {
	f = &File{path: path, head: head, stop: make(chan struct{}), done: make(chan struct{})}
	for _, op := range head.Operations {
		f.ids = append(f.ids, op.ID)
	}
	const flags = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	if f.own, err = os.OpenFile(path+wholeSuffix, flags, 0o600); err == nil {
		f.part, err = os.OpenFile(path+samples.PartSuffix, flags, 0o600)
	}
	if err == nil {
		f.pieces, err = samples.NewPart(f.part, head)
	}
	if err == nil {
		err = absent(path)
	}
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("write samples: %w", err)
	}
	f.out = parquet.NewGenericWriter[samples.Row](f.own, parquet.Compression(&parquet.Zstd))
	go f.write()
	return f, nil
}

// absent removes the file of an earlier run: it would be read instead of this one's.
func absent(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove the second file.
func (f *File) remove() {
	for _, own := range []*os.File{f.own, f.part} {
		if own != nil {
			_ = own.Close()
			_ = os.Remove(own.Name())
		}
	}
}

// Add an operation that has ended; it waits for nothing.
func (f *File) Add(operation string, s tally.Sample) {
	row := samples.Row{User: int32(s.User), Operation: operation, Planned: operation, Due: int64(s.Due),
		Held: int64(s.Held), Sent: int64(s.Sent), Done: int64(s.Done), Waited: int64(s.Waited),
		Outcome: s.Outcome.String(), Refused: s.Outcome == tally.Refused, Resent: int32(s.Resent), Bytes: s.Bytes}
	if s.Instead != "" && s.Planned < len(f.ids) {
		row.Planned = f.ids[s.Planned]
	}
	if s.FirstByte > 0 {
		first := int64(s.FirstByte)
		row.FirstByte = &first
	}
	if s.Err != nil {
		row.Error = s.Err.Error()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= waitingMax {
		f.missing++
		return
	}
	f.waiting = append(f.waiting, row)
}

func (f *File) write() {
	defer close(f.done)
	tick := time.NewTicker(writeEach)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.flush()
		case <-f.stop:
			f.flush()
			return
		}
	}
}

// flush what waits. After an error nothing more is written, and the file is removed: the run and the database need the
// disk, too.
func (f *File) flush() {
	f.mu.Lock()
	rows := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	if f.err != nil || len(rows) == 0 {
		return
	}
	if _, f.err = f.out.Write(rows); f.err == nil {
		f.err = f.pieces.Write(rows)
	}
	if f.inGroup += len(rows); f.err == nil && f.inGroup >= groupRows {
		f.err, f.inGroup = f.out.Flush(), 0
	}
	if f.err != nil {
		f.remove()
	}
}

// Close ends the file with what the figures depend on. Without a result there is none.
func (f *File) Close(r *result.Result) error {
	if r == nil {
		return f.End("", -1, 0)
	}
	return f.End(r.ID, time.Duration(nanoseconds(r.Series.SteadyFromS)),
		time.Duration(nanoseconds(r.Series.SteadyToS)))
}

// End is Close with the steady state of the run; without one, that begins below 0, there is no file.
func (f *File) End(run string, from, to time.Duration) error {
	close(f.stop)
	<-f.done
	err := f.err
	if from >= 0 && err == nil {
		f.head.Run, f.head.From, f.head.To, f.head.Missing = run, int64(from), int64(to), f.missing
		if err = f.finish(); err == nil {
			err = os.Rename(f.own.Name(), f.path)
		}
	}
	f.remove()
	if err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

func (f *File) finish() error {
	text, err := json.Marshal(f.head)
	if err != nil {
		return err
	}
	f.out.SetKeyValueMetadata(samples.HeadKey, string(text))
	return errors.Join(f.out.Close(), f.own.Close())
}

func nanoseconds(s float64) int64 { return int64(math.Round(s * 1e9)) }
