package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"plimsoll/ground/host/lock"
)

// Names in a run's folder while it is under way.
const (
	journalFile  = "pages.json.gz"
	underWayFile = "under-way"
	reservedFile = "reserved"
	notKeptFile  = "not-kept"
)

// reservedSize is room for a result and its report.
const reservedSize = 8 << 20

// Reserve disk space for the result, so that it can be stored if the disk is full at the end. If that fails, the run is
// made all the same.
func (s *Store) Reserve(id string) {
	f, err := os.Create(filepath.Join(s.Dir(id), reservedFile))
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Fallocate(int(f.Fd()), 0, 0, reservedSize) != nil {
		_ = os.Remove(f.Name())
	}
}

// free the reserved space.
func (s *Store) free(id string) { _ = os.Remove(filepath.Join(s.Dir(id), reservedFile)) }

// NotKept notes that a run has ended whose result could not be stored. On a full disk there is no room for the reason.
func (s *Store) NotKept(id, why string) {
	_ = os.WriteFile(filepath.Join(s.Dir(id), notKeptFile), []byte(why), 0o600)
}

// WhyNotKept is why the result of a run that ended could not be stored; empty: its process died before.
func (s *Store) WhyNotKept(id string) string {
	why, err := os.ReadFile(filepath.Join(s.Dir(id), notKeptFile))
	switch {
	case err != nil:
		return ""
	case len(why) == 0:
		return syscall.ENOSPC.Error()
	}
	return string(why)
}

// JournalPath is the path of the journal of a run under way.
func (s *Store) JournalPath(id string) string { return filepath.Join(s.Dir(id), journalFile) }

// UnderWay marks a run as under way until the mark is removed or this process dies.
func (s *Store) UnderWay(ctx context.Context, id string) (*lock.Lock, error) {
	mark, err := lock.Acquire(ctx, filepath.Join(s.Dir(id), underWayFile), "run", 0)
	return mark, s.Problem("mark the run as under way", err)
}

// Unfinished lists the runs whose process died before they were complete, oldest first.
func (s *Store) Unfinished() (ids []string, err error) {
	marks, err := filepath.Glob(filepath.Join(s.Root, "*", underWayFile))
	if err != nil {
		return nil, s.Problem("find unfinished runs", err)
	}
	for _, mark := range marks {
		id := filepath.Base(filepath.Dir(mark))
		if _, held, err := lock.HeldBy(mark); err != nil || held {
			continue
		}
		if _, err := os.Stat(s.JournalPath(id)); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Settle removes what only a running run needs. Of a run that never started it leaves only the workers' logs.
func (s *Store) Settle(id string) error {
	for _, name := range []string{s.JournalPath(id), filepath.Join(s.Dir(id), underWayFile),
		filepath.Join(s.Dir(id), reservedFile), filepath.Join(s.Dir(id), notKeptFile)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.Problem("clean up the folder of the run", err)
		}
	}
	if s.Has(id) {
		return nil
	}
	if err := s.DropLabel(id); err != nil {
		return err
	}
	entries, _ := os.ReadDir(s.Dir(id))
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(filepath.Join(s.Dir(id), entry.Name()))
		}
	}
	_ = os.Remove(s.Dir(id)) // fails if something is left in it
	return nil
}
