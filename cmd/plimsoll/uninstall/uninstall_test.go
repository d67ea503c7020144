package uninstall

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

// machine is one whose state, cache and home lie in a folder of the test: the real ones must not be touched.
func machine(t *testing.T, stateName string) (state, cache, home string) {
	t.Helper()
	dir := t.TempDir()
	state, cache, home = filepath.Join(dir, stateName), filepath.Join(dir, "plimsoll-cache"), filepath.Join(dir, "home")
	t.Setenv("PLIMSOLL_STATE", state)
	t.Setenv("PLIMSOLL_CACHE", cache)
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_DATA_DIRS", filepath.Join(dir, "share"))
	return state, cache, home
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func survey(t *testing.T, state string) *Survey {
	t.Helper()
	s, err := Look(t.Context(), Options{Clusters: cluster.Open(state)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func paths(all []Thing) (found []string) {
	for _, thing := range all {
		found = append(found, thing.Path)
	}
	return found
}

func TestRemove_TakesWhatIsOursAndLeavesTheRest(t *testing.T) {
	state, cache, home := machine(t, "plimsoll-state")
	ours := []string{
		write(t, filepath.Join(state, "runs/20260131-120000-5u/result.json"), "{}"),
		write(t, filepath.Join(state, "lines/20260131-120000/line.json"), "{}"),
		write(t, filepath.Join(state, "verdicts/C01.json"), "{}"),
		write(t, filepath.Join(state, "clusters/.plimsoll.lock"), ""),
		write(t, filepath.Join(cache, "engine/current/plimsoll"), "x"),
		write(t, filepath.Join(home, ".config/fish/completions/plimsoll.fish"), "# fish completion for plimsoll\n"),
		write(t, filepath.Join(home, ".local/share/man/man1/plimsoll-run.1"), ".TH PLIMSOLL\\-RUN 1\n"),
	}
	others := []string{
		write(t, filepath.Join(state, "notes.txt"), "mine"),
		write(t, filepath.Join(home, ".local/share/bash-completion/completions/plimsoll"), "# my own\n"),
		write(t, filepath.Join(state, "advise/a.json"), `{"address":"db1:5432","steps":[{"state":"done"}]}`),
		write(t, filepath.Join(home, ".config/plimsoll/plimsoll.toml"), ""),
	}
	s := survey(t, state)
	for _, path := range ours {
		if !slices.ContainsFunc(paths(s.Removes), func(p string) bool { return strings.HasPrefix(path, p) }) {
			t.Errorf("%s is not listed", path)
		}
	}
	if stays := paths(s.Stays); !slices.Contains(stays, others[0]) || !slices.Contains(stays, filepath.Dir(others[2])) {
		t.Errorf("stays: %q", stays)
	}
	if err := s.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, path := range ours {
		if exists(path) {
			t.Errorf("%s is left", path)
		}
	}
	for _, path := range others {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if exists(cache) || exists(filepath.Join(state, "runs")) || !exists(state) {
		t.Error("empty folders are left, or one that is not empty is gone")
	}
}

func TestRemove_RefusesWhileSomethingHinders(t *testing.T) {
	for name, c := range map[string]struct {
		state string
		make  func(t *testing.T, state string)
		says  string
	}{
		"RunUnderWay": {"plimsoll", func(t *testing.T, state string) {
			path := write(t, filepath.Join(state, "runs/20260131-120000-5u/under-way"), "")
			l, err := lock.Acquire(t.Context(), path, "run", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Release() })
		}, "a process works on runs/20260131-120000-5u"},
		"AHomeDirectory": {"me", func(t *testing.T, state string) {
			write(t, filepath.Join(state, "backups/photos.tar"), "x")
			write(t, filepath.Join(state, "letters/a.txt"), "x")
		}, "also holds letters"},
	} {
		t.Run(name, func(t *testing.T) {
			state, _, _ := machine(t, c.state)
			c.make(t, state)
			before := size(t, state)
			err := survey(t, state).Remove(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.says) || problem.ClassOf(err) != problem.Environment ||
				problem.HintOf(err) == "" {
				t.Errorf("want an environment error with a hint and %q, got %v", c.says, err)
			}
			if size(t, state) != before {
				t.Error("something is removed all the same")
			}
		})
	}
}

func size(t *testing.T, dir string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(string, os.DirEntry, error) error { files++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLook_OfAMachineWithoutPlimsollFindsNothing(t *testing.T) {
	state, _, _ := machine(t, "plimsoll")
	if s := survey(t, state); len(s.Removes)+len(s.Hinders) != 0 || s.Remove(t.Context()) != nil {
		t.Errorf("%+v", s)
	}
}

// Every folder that the program makes in its state or cache directory must be known here, or it would be left behind,
// and stand in the README.
func TestParts_AreAllThatTheProgramMakes(t *testing.T) {
	const top = "../../.."
	readme, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`(?:filepath\.Join|os\.MkdirTemp)\((dirs\.State\(\)|s\.state|dirs\.Cache\(\)), ` +
		`"([a-z-]+)"`)
	seen := map[string]bool{}
	for _, folder := range []string{"ground", "platform", "erp", "lab", "cmd"} {
		err := filepath.WalkDir(filepath.Join(top, folder), func(path string, e os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range made.FindAllStringSubmatch(string(text), -1) {
				parts := State
				if strings.Contains(found[1], "Cache") {
					parts = Cache
				}
				seen[found[2]] = true
				if !slices.ContainsFunc(parts, func(p Part) bool { return p.is(found[2]) }) {
					t.Errorf("%s makes %s, which no Part has", path, found[2])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d folders found", len(seen))
	}
	for _, p := range slices.Concat(State, Cache) {
		if !strings.HasSuffix(p.Name, "*") && !strings.Contains(string(readme), "`"+p.Name+"`") {
			t.Errorf("README.md does not say that %s is left: %s", p.Name, p.What)
		}
	}
}
