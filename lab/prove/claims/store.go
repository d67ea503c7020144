package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/lab/host/dirs"
	"plimsoll/platform/problem"
)

// Store is a folder with one file per claim: its last finding.
type Store struct{ dir string }

// OpenStore opens the folder; empty means verdicts in the state directory.
func OpenStore(dir string) *Store {
	if dir == "" {
		dir = filepath.Join(dirs.State(), "verdicts")
	}
	return &Store{dir}
}

func (s *Store) path(claim string) string { return filepath.Join(s.dir, claim+".json") }

// Keep replaces the claim's finding atomically.
func (s *Store) Keep(k Kept) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err == nil {
		err = s.write(s.path(k.Claim), append(text, '\n'))
	}
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("keep the verdict on %s: %w", k.Claim, err),
			"is the state directory writable? 'plimsoll config' names it")
	}
	return nil
}

func (s *Store) write(path string, text []byte) error {
	if err := dirs.Private(s.dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, ".verdict-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Load returns the claim's finding, or false if there is none.
func (s *Store) Load(claim string) (Kept, bool, error) {
	text, err := os.ReadFile(s.path(claim))
	if errors.Is(err, fs.ErrNotExist) {
		return Kept{}, false, nil
	}
	var k Kept
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return Kept{}, false, problem.New(problem.Environment, fmt.Errorf("read the verdict on %s: %w", claim, err),
			"remove "+s.path(claim)+" and prove the claim again")
	}
	return k, true, nil
}
