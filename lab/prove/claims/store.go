package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
)

// Store is a folder with one file per claim, its last finding, and a folder with the last one of each machine, engine,
// version and command, so that what was found survives the next version.
type Store struct{ dir string }

// history is the folder of those.
const history = "history"

// OpenStore opens the folder; empty means verdicts in the state directory.
func OpenStore(dir string) *Store {
	if dir == "" {
		dir = filepath.Join(dirs.State(), "verdicts")
	}
	return &Store{dir}
}

func (s *Store) path(claim string) string { return filepath.Join(s.dir, claim+".json") }

// Keep replaces the claim's finding of this origin, and makes it the last one.
func (s *Store) Keep(k Record) error {
	text, err := json.MarshalIndent(k, "", "  ")
	if err == nil {
		err = s.keep(k, append(text, '\n'))
	}
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("store the verdict on %s: %w", k.Claim, err),
			"make the state directory writable; 'plimsoll config' shows its path")
	}
	return nil
}

func (s *Store) keep(k Record, text []byte) error {
	before, err := os.ReadFile(s.path(k.Claim))
	var last Record
	if err == nil && json.Unmarshal(before, &last) == nil && last.origin() != k.origin() {
		if err := s.write(s.pathOf(last), before); err != nil { // a version before this one kept no history
			return err
		}
	}
	if err := s.write(s.pathOf(k), text); err != nil {
		return err
	}
	return s.write(s.path(k.Claim), text)
}

// pathOf a finding in the history.
func (s *Store) pathOf(k Record) string {
	return filepath.Join(s.dir, history, k.Claim+"-"+k.origin()+".json")
}

// origin is equal for findings of which the later replaces the earlier.
func (k Record) origin() string {
	return kept.Fingerprint([]any{k.Machine.CPU, k.Machine.Cores, k.Machine.MemoryBytes / memorySlack,
		k.Machine.Kernel, k.Engine, k.Software, k.Command, k.Partial})
}

// All findings on a claim, the newest first.
func (s *Store) All(claim string) (all []Record, err error) {
	last, is, err := s.Load(claim)
	if err != nil || !is {
		return nil, err
	}
	all = append(all, last)
	files, err := filepath.Glob(filepath.Join(s.dir, history, claim+"-*.json"))
	for _, path := range files {
		k, is, err := read(path, claim)
		if err != nil {
			return nil, err
		}
		if is && k.origin() != last.origin() {
			all = append(all, k)
		}
	}
	slices.SortStableFunc(all, func(a, b Record) int { return b.At.Compare(a.At) })
	return all, err
}

func (s *Store) write(path string, text []byte) error {
	if err := dirs.Private(filepath.Dir(path)); err != nil {
		return err
	}
	return kept.WriteText(path, text, 0o600)
}

// Load returns the claim's last finding, or false if there is none.
func (s *Store) Load(claim string) (Record, bool, error) { return read(s.path(claim), claim) }

func read(path, claim string) (k Record, is bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return Record{}, false, problem.New(problem.Environment, fmt.Errorf("read the verdict on %s: %w", claim, err),
			"remove "+path+" and prove the claim again")
	}
	return k, true, nil
}
