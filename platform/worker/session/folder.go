package session

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A worker keeps its files in a folder of its own, which holds a marker that the worker has locked for as long as it
// lives:
//
//	DIR/worker-4711-…/plimsoll-sessions.json   locked
//	DIR/worker-4711-…/17.data                  what one session keeps
//
// Nothing in it outlives the worker: it is removed at the end, and what a killed worker has left is removed when the
// next one starts. Only folders with our marker, and in them only our files, are ever removed.
const (
	marker       = "plimsoll-sessions.json"
	folderPrefix = "worker-"
	fileSuffix   = ".data"
)

var errDiskFull = errors.New("session data has reached its limit on disk")

type folder struct {
	path string
	lock *os.File
	next atomic.Int64
}

// makeFolder makes the folder of this worker in dir, and removes those of workers that are gone.
func makeFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of session data: %w", err)
	}
	removeLeftovers(dir)
	path, err := os.MkdirTemp(dir, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("make folder of session data: %w", err)
	}
	// Locked before it gets its name: a marker that others can lock belongs to a dead worker.
	text, _ := json.Marshal(map[string]int{"format": 1, "pid": os.Getpid()})
	beginning := filepath.Join(path, marker+".new")
	lock, err := os.OpenFile(beginning, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		_, err = lock.Write(text)
	}
	if err == nil {
		err = os.Rename(beginning, filepath.Join(path, marker))
	}
	if err != nil {
		if lock != nil {
			lock.Close()
		}
		os.Remove(beginning)
		os.Remove(path)
		return nil, fmt.Errorf("mark folder of session data: %w", err)
	}
	return &folder{path: path, lock: lock}, nil
}

func removeLeftovers(dir string) {
	found, _ := os.ReadDir(dir)
	for _, e := range found {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() || !strings.HasPrefix(e.Name(), folderPrefix) {
			continue
		}
		lock, err := os.Open(filepath.Join(path, marker))
		if err != nil {
			continue // not ours, or not finished
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			empty(path)
		}
		lock.Close()
	}
}

// empty removes our files, the marker last, and the folder if nothing else is in it.
func empty(path string) {
	files, _ := filepath.Glob(filepath.Join(path, "*"+fileSuffix))
	for _, f := range files {
		os.Remove(f)
	}
	os.Remove(filepath.Join(path, marker))
	os.Remove(path)
}

func (f *folder) close() {
	empty(f.path)
	f.lock.Close()
}

// file holds the data of one session.
type file struct {
	path  string
	bytes int64
	sum   uint32
}

// stored includes the owner, so that no session can read another session's file.
type stored struct {
	Owner  string
	Values map[string][]byte
}

func (f *folder) write(owner string, values map[string][]byte, fits func(bytes int64) bool) (*file, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(stored{owner, values}); err != nil {
		return nil, fmt.Errorf("encode session data: %w", err)
	}
	if !fits(int64(b.Len())) {
		return nil, errDiskFull
	}
	path := filepath.Join(f.path, fmt.Sprintf("%d%s", f.next.Add(1), fileSuffix))
	// Not synced: nobody needs it after a crash.
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("write session data: %w", err)
	}
	return &file{path, int64(b.Len()), crc32.ChecksumIEEE(b.Bytes())}, nil
}

func (f *file) read(owner string) (map[string][]byte, error) {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read session data: %w", err)
	}
	if crc32.ChecksumIEEE(text) != f.sum {
		return nil, fmt.Errorf("read session data: %s has changed since it was written", f.path)
	}
	var s stored
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&s); err != nil {
		return nil, fmt.Errorf("read session data: %w", err)
	}
	if s.Owner != owner {
		return nil, fmt.Errorf("read session data: %s belongs to another session", f.path)
	}
	if s.Values == nil {
		s.Values = map[string][]byte{}
	}
	return s.Values, nil
}

func (f *file) remove() {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = os.Truncate(f.path, 0)
	}
}
