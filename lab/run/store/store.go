// Package store owns the folder of stored runs: one folder per run, with result.json and report.html, each written
// atomically. A run under way has a mark, which disappears when its process dies, and a journal of its counts.
//
//	begun ──mark, journal──▶ under way ──result──▶ complete
//	                             └──process dies──▶ unfinished ──recovered from its journal──▶ complete
package store

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
)

// Latest stands for the id of the newest complete run.
const Latest = kept.Latest

// Store is a folder of runs.
type Store struct {
	kept.Folder
	page Page
}

// Page writes the HTML report of a run.
type Page func(io.Writer, *result.Result) error

// Open opens the folder; the first run creates it.
func Open(dir string) *Store {
	return &Store{kept.Folder{Root: dir, File: "result.json", Kind: "run"}, nil}
}

// WithPage returns the store with a page, which it writes next to each result.
func (s *Store) WithPage(page Page) *Store { return &Store{s.Folder, page} }

// Default is the folder of runs in the state directory.
func Default() *Store { return Open(filepath.Join(dirs.State(), "runs")) }

// Begin reserves a folder for a run with so many users and returns its id, the time (UTC) and the size:
// 20260131-154500-1000u.
func (s *Store) Begin(at time.Time, users int) (id string, err error) {
	return s.Folder.Begin(at, fmt.Sprintf("-%du", users))
}

// Save writes the page, if the store has one, then the result. A run with a result is complete.
func (s *Store) Save(r *result.Result) error {
	s.free(r.ID)
	if s.page == nil {
		return s.Folder.Save(r.ID, nil, r.WriteJSON)
	}
	return s.Folder.Save(r.ID, func(w io.Writer) error { return s.page(w, r) }, r.WriteJSON)
}

// ScenarioPath is the path of what a run played, as JSON without secrets.
func (s *Store) ScenarioPath(id string) string { return filepath.Join(s.Dir(id), "scenario.json") }

// SaveScenario stores what a run played.
func (s *Store) SaveScenario(id string, masked []byte) error {
	return s.Failed(kept.Write(s.ScenarioPath(id), func(w io.Writer) error {
		_, err := w.Write(masked)
		return err
	}))
}

// List returns all complete runs, newest first, without their series, and errors for those that cannot be read: a run
// of another version does not hide others.
func (s *Store) List() (all []*result.Result, broken []error, err error) {
	ids, err := s.IDs()
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

// IsComplete reports whether the result of a run is stored. A nil store has none.
func (s *Store) IsComplete(id string) bool { return s != nil && s.Has(id) }

// Find returns the full id for an unambiguous prefix, or for Latest.
func (s *Store) Find(id string) (string, error) {
	ids, err := s.IDs()
	if err != nil {
		return "", err
	}
	found := kept.Meant(id, ids)
	switch {
	case len(ids) == 0:
		return "", problem.New(problem.Usage, fmt.Errorf("no run is stored in %s", s.Root),
			"'plimsoll run' creates one")
	case len(found) == 0:
		return "", problem.New(problem.Usage, fmt.Errorf("no run %q", id),
			"'plimsoll runs' lists them; latest is the newest")
	case len(found) > 1:
		return "", problem.New(problem.Usage, fmt.Errorf("run %q is ambiguous", id),
			"it could be "+strings.Join(found[:min(3, len(found))], ", "))
	}
	return found[0], nil
}

// Load reads one run.
func (s *Store) Load(id string) (*result.Result, error) {
	full, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return Read(s.ResultPath(full))
}
