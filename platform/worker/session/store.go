package session

import (
	"container/list"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Default limits of the data of all sessions of a worker.
const (
	MemoryDefault = 256 << 20
	// diskShare: files may hold this many times Memory.
	diskShare = 32
	// victimsMax candidates are tried, the longest unused first; those in use are skipped.
	victimsMax = 64
)

// Figures of the data of all sessions.
type Figures struct {
	MemoryBytes, MemoryMax int64
	DiskBytes, DiskMax     int64
	Hits, Reads            int64 // accesses to data in memory, and to data on disk
	Spills                 int64
	Refused                int64 // values that did not fit
	Lost                   int64 // files that could not be read back
	SpillTime, ReadTime    time.Duration
}

// store keeps the data of all sessions within a memory limit: the longest unused goes to disk.
type store struct {
	folder  *folder // nil means no disk
	log     *slog.Logger
	mutex   sync.Mutex // locked after a data's mutex, never before it
	used    *list.List // of *data in memory, unused longest first
	figures Figures
	full    bool // the last spill failed, and was logged
}

// read returns the values, from the file if necessary. If memory has no room for them, they stay in the file.
func (st *store) read(d *data) (map[string][]byte, error) {
	switch {
	case d.file == nil && d.values == nil:
		return map[string][]byte{}, nil
	case d.file == nil:
		st.mutex.Lock()
		defer st.mutex.Unlock()
		st.figures.Hits++
		st.used.MoveToBack(d.place)
		return d.values, nil
	}
	begun := time.Now()
	values, err := d.file.read(d.owner)
	st.count(func(f *Figures) { f.Reads++; f.ReadTime += time.Since(begun) })
	if err != nil {
		st.log.Warn("session data is lost", "error", err)
		st.count(func(f *Figures) { f.Lost++ })
		st.forget(d)
		return map[string][]byte{}, nil // the session continues without it
	}
	if st.room(d, d.size) == nil {
		st.drop(d)
		d.values = values
	}
	return values, nil
}

// keep makes values the data in memory; size includes the value that the caller is about to add.
func (st *store) keep(d *data, values map[string][]byte, size int64) error {
	grows := size
	if d.values != nil {
		grows = size - d.size
	}
	if err := st.room(d, grows); err != nil {
		st.count(func(f *Figures) { f.Refused++ })
		return err
	}
	st.drop(d)
	d.values, d.size = values, size
	return nil
}

// room reserves memory, and moves the longest unused data to disk until there is enough.
func (st *store) room(d *data, bytes int64) error {
	for {
		victim, enough := st.reserve(d, bytes)
		if enough {
			return nil
		}
		if victim == nil {
			return ErrNoRoom
		}
		err := st.spill(victim)
		victim.mutex.Unlock()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNoRoom, err)
		}
	}
}

// reserve takes the memory if there is enough; otherwise it returns data to spill, with its mutex locked.
func (st *store) reserve(d *data, bytes int64) (victim *data, enough bool) {
	st.mutex.Lock()
	defer st.mutex.Unlock()
	if bytes <= 0 || st.figures.MemoryBytes+bytes <= st.figures.MemoryMax {
		st.figures.MemoryBytes += bytes
		if d.place == nil {
			d.place = st.used.PushBack(d)
		}
		return nil, true
	}
	e := st.used.Front()
	for range victimsMax {
		if e == nil || st.folder == nil {
			break
		}
		if v := e.Value.(*data); v != d && v.mutex.TryLock() {
			return v, false
		}
		e = e.Next()
	}
	return nil, false
}

func (st *store) spill(d *data) error {
	begun := time.Now()
	f, err := st.folder.write(d.owner, d.values, func(bytes int64) bool { return st.diskTakes(bytes) })
	st.mutex.Lock()
	defer st.mutex.Unlock()
	if err != nil {
		if !st.full {
			st.log.Warn("cannot write session data to disk: sessions keep only what fits into memory", "error", err)
		}
		st.full = true
		return err
	}
	st.full = false
	st.figures.Spills++
	st.figures.SpillTime += time.Since(begun)
	st.figures.DiskBytes += f.bytes
	st.figures.MemoryBytes -= d.size
	st.used.Remove(d.place)
	d.place, d.values, d.file = nil, nil, f
	return nil
}

func (st *store) diskTakes(bytes int64) bool {
	st.mutex.Lock()
	defer st.mutex.Unlock()
	return st.figures.DiskBytes+bytes <= st.figures.DiskMax
}

// drop deletes the file of data.
func (st *store) drop(d *data) {
	if d.file == nil {
		return
	}
	d.file.remove()
	st.count(func(f *Figures) { f.DiskBytes -= d.file.bytes })
	d.file = nil
}

// forget deletes data from memory and disk.
func (st *store) forget(d *data) {
	st.drop(d)
	st.mutex.Lock()
	defer st.mutex.Unlock()
	if d.place != nil {
		st.used.Remove(d.place)
		st.figures.MemoryBytes -= d.size
	}
	d.place, d.values, d.size = nil, nil, 0
}

func (st *store) count(change func(*Figures)) {
	st.mutex.Lock()
	defer st.mutex.Unlock()
	change(&st.figures)
}
