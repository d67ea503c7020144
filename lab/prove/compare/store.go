package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/session"
)

// Store is a folder of comparisons.
type Store struct{ kept.Folder }

// OpenStore opens the folder; the first comparison creates it.
func OpenStore(dir string) *Store {
	return &Store{kept.Folder{Root: dir, File: "compare.json", Kind: "comparison"}}
}

// DefaultStore is the folder of comparisons in the state directory.
func DefaultStore() *Store { return OpenStore(filepath.Join(dirs.State(), "comparisons")) }

// Load reads a comparison by its id, an unambiguous prefix of it, or kept.Latest.
func (s *Store) Load(id string) (*Comparison, error) {
	all, err := s.IDs()
	if err != nil {
		return nil, err
	}
	switch found := kept.Meant(id, all); len(found) {
	case 0:
		return nil, problem.New(problem.Usage, fmt.Errorf("no comparison %q", id), "there are: "+listed(all))
	case 1:
		return Read(s.ResultPath(found[0]))
	default:
		return nil, problem.New(problem.Usage, fmt.Errorf("comparison %q is ambiguous", id),
			"it could be "+listed(found))
	}
}

// Named reads a comparison by what Load takes, or from a file.
func (s *Store) Named(which string) (*Comparison, error) {
	if strings.ContainsRune(which, os.PathSeparator) || strings.HasSuffix(which, ".json") {
		return Read(which)
	}
	return s.Load(which)
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
func (s *Store) unfinished(ctx context.Context, plan Plan, only string) (*Comparison, func(), error) {
	return session.Resume(ctx, s.Folder, s.Kind, Read, func(id string, c *Comparison) session.Match {
		switch {
		case only != "" && id != only, c.Complete && (c.Plan.Pairs >= plan.Pairs || !c.open()):
			return session.Match{}
		case c.Plan.fingerprint() != plan.fingerprint():
			return session.Match{
				Hint: "stopped comparisons have other settings: repeat the exact command of the one to continue"}
		}
		return session.Match{Same: true, Foreign: plan.foreign(c.Plan, "comparison "+id)}
	})
}

// selfTest reads a self-test that was stopped.
func (s *Store) selfTest(file string) (*SelfTested, error) {
	if s == nil {
		return nil, problem.New(problem.Usage, errors.New("there is nothing to continue"), "")
	}
	text, err := os.ReadFile(filepath.Join(s.Root, file))
	t := &SelfTested{}
	if err == nil {
		err = json.Unmarshal(text, t)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.NothingStopped("self-test", "")
	}
	return t, s.Failed(err)
}

// holdSelfTest for this process until release is called.
func (s *Store) holdSelfTest(ctx context.Context, file string) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	if err := dirs.Private(s.Root); err != nil {
		return nil, s.Failed(err)
	}
	return kept.Hold(ctx, filepath.Join(s.Root, file), "self-test")
}

// keepSelfTest for --resume.
func (s *Store) keepSelfTest(t *SelfTested) error {
	if s == nil {
		return nil
	}
	return s.Failed(kept.Write(filepath.Join(s.Root, t.file()), func(w io.Writer) error {
		return json.NewEncoder(w).Encode(t)
	}))
}
