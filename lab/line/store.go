package line

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/lab/dirs"
	"plimsoll/lab/runs"
	"plimsoll/platform/problem"
)

// Names in the folder of a search.
const (
	lineFile   = "line.json"
	reportFile = "report.html"
)

// Store is a folder of searches.
type Store struct{ dir string }

// OpenStore names the folder; it is made when the first search begins.
func OpenStore(dir string) *Store { return &Store{dir} }

// DefaultStore is the folder of searches in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "lines")) }

// begin reserves a folder and returns its name, which reads as when (UTC).
func (s *Store) begin(at time.Time) (id string, err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return "", s.problem(err)
	}
	first := at.UTC().Format("20060102-150405")
	id = first
	for n := 2; n < 1000; n++ {
		if err = os.Mkdir(filepath.Join(s.dir, id), 0o755); !errors.Is(err, fs.ErrExist) {
			break
		}
		id = fmt.Sprintf("%s-%d", first, n)
	}
	return id, s.problem(err)
}

func (s *Store) problem(err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("keep the load line: %w", err), "PLIMSOLL_STATE chooses another state directory")
}

// save writes the page and the JSON, each whole or not at all.
func (s *Store) save(l *Line) error {
	err := runs.WriteWhole(s.ReportPath(l.ID), func(w io.Writer) error { return l.HTML(w) })
	if err == nil {
		err = runs.WriteWhole(filepath.Join(s.dir, l.ID, lineFile), l.WriteJSON)
	}
	return s.problem(err)
}

// ReportPath is where the page of a search is.
func (s *Store) ReportPath(id string) string { return filepath.Join(s.dir, id, reportFile) }

// unfinished is the newest search of a plan that is not complete.
func (s *Store) unfinished(fingerprint string) (*Line, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.problem(err)
	}
	slices.Reverse(entries)
	var others int
	for _, e := range entries {
		l, err := read(filepath.Join(s.dir, e.Name(), lineFile))
		if err != nil || l.Complete {
			continue // another version's, or under way elsewhere
		}
		if l.Plan.Fingerprint() == fingerprint {
			return l, nil
		}
		others++
	}
	hint := "begin one: the same command without --resume"
	if others > 0 {
		hint = "the searches that were stopped had other settings: repeat the very command of the one to go on with"
	}
	return nil, problem.New(problem.Usage, errors.New("no search with these settings was stopped"), hint)
}

func read(path string) (*Line, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Schema != Schema {
		return nil, fmt.Errorf("schema %q, want %q", l.Schema, Schema)
	}
	return &l, nil
}
