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

	"plimsoll/lab/host/dirs"
	"plimsoll/lab/run/store"
	"plimsoll/platform/problem"
)

// Names in the folder of a search.
const (
	lineFile       = "line.json"
	comparisonFile = "lines.json"
	reportFile     = "report.html"
)

// Store is a folder of searches.
type Store struct{ dir string }

// OpenStore names the folder; the first search creates it.
func OpenStore(dir string) *Store { return &Store{dir} }

// DefaultStore is the folder of searches in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "lines")) }

// begin reserves a folder and returns its name, the time in UTC.
func (s *Store) begin(at time.Time) (id string, err error) {
	if err := dirs.Private(s.dir); err != nil {
		return "", s.problem(err)
	}
	first := at.UTC().Format("20060102-150405")
	id = first
	for n := 2; n < 1000; n++ {
		if err = os.Mkdir(filepath.Join(s.dir, id), 0o700); !errors.Is(err, fs.ErrExist) {
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
	return problem.New(problem.Environment, fmt.Errorf("store the load line: %w", err),
		"PLIMSOLL_STATE names another state directory")
}

// save writes the page and the JSON, each whole or not at all.
func (s *Store) save(l *Line) error { return s.write(l.ID, lineFile, l.HTML, l.WriteJSON) }

func (s *Store) saveComparison(c *Comparison) error {
	return s.write(c.ID, comparisonFile, c.HTML, c.WriteJSON)
}

func (s *Store) write(id, file string, page, tree func(io.Writer) error) error {
	err := store.WriteWhole(s.ReportPath(id), page)
	if err == nil {
		err = store.WriteWhole(filepath.Join(s.dir, id, file), tree)
	}
	return s.problem(err)
}

// ReportPath is the path of a search's page.
func (s *Store) ReportPath(id string) string { return filepath.Join(s.dir, id, reportFile) }

// unfinished is the newest incomplete search of a plan.
func (s *Store) unfinished(fingerprint string) (*Line, error) {
	return newest(s, lineFile, Schema, func(l *Line) (string, bool, string) {
		return l.Schema, l.Complete, l.Plan.Fingerprint()
	}, fingerprint)
}

// unfinishedComparison is the newest incomplete session of these plans.
func (s *Store) unfinishedComparison(fingerprint string) (*Comparison, error) {
	return newest(s, comparisonFile, ComparisonSchema, func(c *Comparison) (string, bool, string) {
		return c.Schema, c.Complete, c.fingerprint()
	}, fingerprint)
}

// newest stopped search or session among the files of a name and a schema.
func newest[T any](s *Store, file, schema string, of func(*T) (schema string, complete bool, fingerprint string),
	fingerprint string) (*T, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.problem(err)
	}
	slices.Reverse(entries)
	var others int
	for _, e := range entries {
		kept := new(T)
		text, err := os.ReadFile(filepath.Join(s.dir, e.Name(), file))
		if err != nil || json.Unmarshal(text, kept) != nil {
			continue // of another kind, or under way elsewhere
		}
		switch version, complete, plan := of(kept); {
		case version != schema || complete: // written by another version, or complete
		case plan == fingerprint:
			return kept, nil
		default:
			others++
		}
	}
	hint := "start one: the same command without --resume"
	if others > 0 {
		hint = "stopped searches have other settings: repeat the exact command of the one to continue"
	}
	return nil, problem.New(problem.Usage, errors.New("no search with these settings was stopped"), hint)
}
