package compare

import (
	"encoding/json"
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
	"plimsoll/lab/run/store"
)

// Names in the folder of a comparison.
const (
	comparisonFile = "compare.json"
	reportFile     = "report.html"
)

// Latest stands for the id of the newest comparison.
const Latest = "latest"

// Store is a folder of comparisons.
type Store struct{ dir string }

// OpenStore opens the folder; the first comparison creates it.
func OpenStore(dir string) *Store { return &Store{dir} }

// DefaultStore is the folder of comparisons in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "comparisons")) }

func (s *Store) begin(at time.Time) (id string, err error) {
	id, err = store.Reserve(s.dir, at.UTC().Format(store.IDFormat))
	return id, s.problem(err)
}

// remove deletes a comparison in which nothing was measured.
func (s *Store) remove(id string) error {
	if s == nil || id == "" {
		return nil
	}
	return s.problem(os.RemoveAll(filepath.Join(s.dir, id)))
}

func (s *Store) problem(err error) error {
	if err == nil {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("store the comparison: %w", err),
		"PLIMSOLL_STATE names another state directory")
}

// save writes the page and the JSON, each atomically.
func (s *Store) save(c *Comparison) error {
	err := store.WriteWhole(s.ReportPath(c.ID), c.HTML)
	if err == nil {
		err = store.WriteWhole(filepath.Join(s.dir, c.ID, comparisonFile), c.WriteJSON)
	}
	return s.problem(err)
}

// ReportPath is the path of a comparison's page.
func (s *Store) ReportPath(id string) string { return filepath.Join(s.dir, id, reportFile) }

// ids lists all comparisons, newest first.
func (s *Store) ids() (all []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, s.problem(err)
	}
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(s.dir, e.Name(), comparisonFile)); err == nil {
			all = append(all, e.Name())
		}
	}
	slices.Reverse(all)
	return all, nil
}

// Load reads a comparison by its id, an unambiguous prefix of it, or Latest.
func (s *Store) Load(id string) (*Comparison, error) {
	all, err := s.ids()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, one := range all {
		if one == id || id == Latest && one == all[0] {
			found = []string{one}
			break
		}
		if id != "" && strings.HasPrefix(one, id) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return nil, problem.New(problem.Usage, fmt.Errorf("no comparison %q", id), "there are: "+listed(all))
	case 1:
		return Read(filepath.Join(s.dir, found[0], comparisonFile))
	}
	return nil, problem.New(problem.Usage, fmt.Errorf("comparison %q is ambiguous", id), "it could be "+listed(found))
}

func listed(ids []string) string {
	if len(ids) == 0 {
		return "none yet; 'plimsoll compare A B' makes one"
	}
	return strings.Join(ids[:min(5, len(ids))], ", ")
}

// Read reads a comparison's JSON from any file.
func Read(name string) (*Comparison, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read comparison: %w", err), "")
	}
	c := new(Comparison)
	if err := json.Unmarshal(text, c); err != nil || c.Schema != Schema {
		return nil, problem.New(problem.Usage, fmt.Errorf("read comparison %s: schema %q, want %q", name, c.Schema,
			Schema),
			"use a file written by 'plimsoll compare --json'")
	}
	if len(c.Plan.Sides) < 2 || len(c.Plan.Looks) == 0 {
		return nil, problem.New(problem.Usage, fmt.Errorf("read comparison %s: it has no plan", name),
			"the file was changed after it was written")
	}
	c.conclude()
	return c, nil
}

// unfinished is the newest comparison of a plan that has not ended, or that did not decide and can have more pairs.
// Unless empty, only is the id of the only one that may go on.
func (s *Store) unfinished(plan Plan, only string) (*Comparison, error) {
	all, err := s.ids()
	if err != nil {
		return nil, err
	}
	others := false
	var otherwise error // why the newest of the same question cannot go on
	for _, id := range all {
		c, err := Read(filepath.Join(s.dir, id, comparisonFile))
		switch {
		case only != "" && id != only:
		case err != nil || c.Complete && (c.Plan.Pairs >= plan.Pairs || !c.open()):
		case c.Plan.fingerprint() != plan.fingerprint():
			others = true
		default:
			if err = plan.sameAs(c.Plan, "comparison "+id); err == nil {
				return c, nil
			}
			if otherwise == nil {
				otherwise = err
			}
		}
	}
	if otherwise != nil {
		return nil, otherwise
	}
	hint := "start one: the same command without --resume"
	if others {
		hint = "stopped comparisons have other settings: repeat the exact command of the one to continue"
	}
	return nil, problem.New(problem.Usage, errNothingStopped, hint)
}

// selfTest reads a self-test that was stopped.
func (s *Store) selfTest(file string) (*SelfTested, error) {
	if s == nil {
		return nil, problem.New(problem.Usage, errors.New("there is nothing to continue"), "")
	}
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	t := &SelfTested{}
	if err == nil {
		err = json.Unmarshal(text, t)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(problem.Usage, errors.New("there is no stopped self-test with these settings"),
			"start one: the same command without --resume")
	}
	return t, s.problem(err)
}

// keepSelfTest for --resume.
func (s *Store) keepSelfTest(t *SelfTested) error {
	if s == nil {
		return nil
	}
	if err := dirs.Private(s.dir); err != nil {
		return s.problem(err)
	}
	return s.problem(store.WriteWhole(filepath.Join(s.dir, t.file()), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(t)
	}))
}
