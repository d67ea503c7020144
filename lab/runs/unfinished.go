package runs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/lab/lock"
)

// Names of what a run has in its folder while it is under way.
const (
	journalFile  = "pages.json.gz"
	underWayFile = "under-way"
)

// JournalPath is where a run under way writes down what it counts.
func (s *Store) JournalPath(id string) string { return filepath.Join(s.dir, id, journalFile) }

// UnderWay marks a run that has begun as under way, until the mark is removed or this process dies.
func (s *Store) UnderWay(ctx context.Context, id string) (*lock.Lock, error) {
	mark, err := lock.Acquire(ctx, filepath.Join(s.Dir(id), underWayFile), "run", 0)
	return mark, s.problem("mark the run as under way", err)
}

// Unfinished are the runs whose process died before they were complete, the oldest first.
func (s *Store) Unfinished() (ids []string, err error) {
	marks, err := filepath.Glob(filepath.Join(s.dir, "*", underWayFile))
	if err != nil {
		return nil, s.problem("look for unfinished runs", err)
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

// Settle removes what only a run under way needs. Of a run that was never made it leaves no more than its workers had to say.
func (s *Store) Settle(id string) error {
	for _, name := range []string{s.JournalPath(id), filepath.Join(s.Dir(id), underWayFile)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.problem("tidy the folder of the run", err)
		}
	}
	if fileThere(s.ResultPath(id)) {
		return nil
	}
	entries, _ := os.ReadDir(s.Dir(id))
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
			_ = os.Remove(filepath.Join(s.Dir(id), entry.Name()))
		}
	}
	_ = os.Remove(s.Dir(id)) // which is refused where something is left
	return nil
}

func fileThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
