// Package store owns the folder of stored runs: one folder per run, with result.json and report.html, each written
// atomically. A run under way has a mark, which disappears when its process dies, and a journal of its counts.
//
//	begun ──mark, journal──▶ under way ──result──▶ complete
//	                             └──process dies──▶ unfinished ──recovered from its journal──▶ complete
package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
)

// Names in a run's folder.
const (
	resultFile = "result.json"
	reportFile = "report.html"
)

// Latest stands for the id of the newest complete run.
const Latest = "latest"

// Store is a folder of runs.
type Store struct {
	dir  string
	page Page
}

// Page writes the HTML report of a run.
type Page func(io.Writer, *result.Result) error

// Open opens the folder; the first run creates it.
func Open(dir string) *Store { return &Store{dir: dir} }

// WithPage returns the store with a page, which it writes next to each result.
func (s *Store) WithPage(page Page) *Store { return &Store{s.dir, page} }

// Default is the folder of runs in the state directory.
func Default() *Store { return Open(filepath.Join(dirs.State(), "runs")) }

// Begin reserves a folder for a run with so many users and returns its id, the time (UTC) and the size:
// 20260131-154500-1000u.
func (s *Store) Begin(at time.Time, users int) (id string, err error) {
	id, err = Reserve(s.dir, fmt.Sprintf("%s-%du", at.UTC().Format(IDFormat), users))
	return id, s.problem("create folder of the run", err)
}

// IDFormat is the time in the id of whatever is stored.
const IDFormat = "20060102-150405"

// Reserve makes a folder of this name, or of the name and a number where it is taken, and returns its name.
func Reserve(dir, name string) (id string, err error) {
	if err := dirs.Private(dir); err != nil {
		return "", err
	}
	id = name
	for n := 2; n < 1000; n++ {
		if err = os.Mkdir(filepath.Join(dir, id), 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
		id = fmt.Sprintf("%s-%d", name, n)
	}
	return id, err
}

func (s *Store) problem(what string, err error) error {
	if err == nil {
		return nil
	}
	hint := "PLIMSOLL_STATE names another state directory"
	return problem.New(problem.Environment, fmt.Errorf("%s: %w", what, err), hint)
}

// Dir is the folder of a run.
func (s *Store) Dir(id string) string { return filepath.Join(s.dir, id) }

// ReportPath is the path of a run's HTML report.
func (s *Store) ReportPath(id string) string { return filepath.Join(s.dir, id, reportFile) }

// ResultPath is the path of a run's JSON.
func (s *Store) ResultPath(id string) string { return filepath.Join(s.dir, id, resultFile) }

// List returns all complete runs, newest first, without their series, and errors for those that cannot be read: a run
// of another version does not hide others.
func (s *Store) List() (all []*result.Result, broken []error, err error) {
	ids, err := s.complete()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		r, err := Read(s.ResultPath(id))
		if err != nil {
			broken = append(broken, err)
			continue
		}
		r.Series = result.Series{}
		all = append(all, r)
	}
	return all, broken, nil
}

// complete lists the ids of complete runs, newest first.
func (s *Store) complete() (ids []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.problem("list runs", err)
	}
	for _, entry := range entries {
		if _, err := os.Stat(s.ResultPath(entry.Name())); err == nil {
			ids = append(ids, entry.Name())
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// IsComplete reports whether the result of a run is stored. A nil store has none.
func (s *Store) IsComplete(id string) bool { return s != nil && fileThere(s.ResultPath(id)) }

// Find returns the full id for an unambiguous prefix, or for Latest.
func (s *Store) Find(id string) (string, error) {
	ids, err := s.complete()
	if err != nil {
		return "", err
	}
	switch {
	case len(ids) == 0:
		return "", problem.New(problem.Usage, fmt.Errorf("no run is stored in %s", s.dir), "'plimsoll run' creates one")
	case id == Latest:
		return ids[0], nil
	}
	var found []string
	for _, full := range ids {
		if full == id {
			return id, nil
		}
		if id != "" && strings.HasPrefix(full, id) {
			found = append(found, full)
		}
	}
	switch len(found) {
	case 0:
		return "", problem.New(problem.Usage, fmt.Errorf("no run %q", id),
			"'plimsoll runs' lists them; latest is the newest")
	case 1:
		return found[0], nil
	}
	return "", problem.New(problem.Usage, fmt.Errorf("run %q is ambiguous", id),
		"it could be "+strings.Join(found[:min(3, len(found))], ", "))
}

// Load reads one run.
func (s *Store) Load(id string) (*result.Result, error) {
	full, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return Read(s.ResultPath(full))
}
