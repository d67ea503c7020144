package session

import (
	"container/list"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Limits of the data of one session.
const (
	DataMax  = 1 << 20
	KeysMax  = 256
	perValue = 128 // memory of a value besides key and content
)

var (
	// ErrDataFull means that the session has reached its limit of data.
	ErrDataFull = errors.New("the session stores more data than allowed")
	// ErrNoRoom means that memory is full and nothing can be moved to disk.
	ErrNoRoom = errors.New("the worker has no room for more session data")
)

// data is what one session keeps: form state, last lists, recent documents. It is in memory or, when it was not used
// for long, in a file. Its mutex is held while the file is written or read; its holder never waits for the mutex of
// another data.
type data struct {
	mutex  sync.Mutex
	owner  string
	values map[string][]byte // nil while it is in the file
	size   int64
	file   *file
	ended  bool
	place  *list.Element // in the order of use, while it is in memory
}

// Get returns a value, which must not be changed.
func (s *Session) Get(key string) (value []byte, found bool, err error) {
	d := &s.data
	d.mutex.Lock()
	defer d.mutex.Unlock()
	values, err := s.store.read(d)
	value, found = values[key]
	return value, found, err
}

// Set stores a value, which the caller must not change afterwards. An empty value deletes the key.
func (s *Session) Set(key string, value []byte) error {
	d := &s.data
	d.mutex.Lock()
	defer d.mutex.Unlock()
	values, err := s.store.read(d)
	if err != nil || d.ended {
		return err
	}
	had, found := values[key]
	size := d.size
	if found {
		size -= weight(key, had)
	}
	if len(value) > 0 {
		size += weight(key, value)
	}
	if size > d.size && (size > DataMax || !found && len(values) >= KeysMax) {
		return ErrDataFull
	}
	if err := s.store.keep(d, values, size); err != nil {
		return err
	}
	if len(value) == 0 {
		delete(d.values, key)
	} else {
		d.values[key] = value
	}
	return nil
}

// Entry is a key and the size of its value.
type Entry struct {
	Key   string `json:"key"`
	Bytes int    `json:"bytes"`
}

// Entries lists what the session keeps, sorted by key.
func (s *Session) Entries() ([]Entry, error) {
	d := &s.data
	d.mutex.Lock()
	defer d.mutex.Unlock()
	values, err := s.store.read(d)
	entries := []Entry{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		entries = append(entries, Entry{key, len(values[key])})
	}
	return entries, err
}

func weight(key string, value []byte) int64 { return int64(len(key) + len(value) + perValue) }

// end deletes what the session kept.
func (s *Session) end() {
	d := &s.data
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.ended = true
	s.store.forget(d)
}
