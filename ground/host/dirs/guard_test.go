package dirs

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/ground/problem"
)

// Somebody else, who needs no account for that.
const stranger = 4711

func TestGuard_RefusesRootWhatOthersMaySwap(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: nobody else may give folders away")
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want bool // it is refused
	}{
		"RootsOwn":      {func(*testing.T, string) {}, false},
		"NotThereYet":   {func(t *testing.T, dir string) { check(t, os.Remove(dir)) }, false},
		"AnotherUsers":  {func(t *testing.T, dir string) { check(t, os.Chown(dir, stranger, 0)) }, true},
		"AnotherGroups": {func(t *testing.T, dir string) { give(t, dir, 0, stranger, 0o775) }, true},
		"RootsGroups":   {func(t *testing.T, dir string) { give(t, dir, 0, 0, 0o775) }, false},
		"Everybodys":    {func(t *testing.T, dir string) { give(t, dir, 0, 0, 0o777) }, true},
		"BelowAnothers": {func(t *testing.T, dir string) { give(t, filepath.Dir(dir), stranger, 0, 0o755) }, true},
		"BelowStickyBit": {func(t *testing.T, dir string) {
			give(t, filepath.Dir(dir), 0, 0, 0o777|os.ModeSticky)
		}, false},
		"RootsLink":      {func(t *testing.T, dir string) { link(t, dir, 0, 0) }, false},
		"AnothersLink":   {func(t *testing.T, dir string) { link(t, dir, stranger, 0) }, true},
		"LinkToAnothers": {func(t *testing.T, dir string) { link(t, dir, 0, stranger) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			parent := filepath.Join(t.TempDir(), "parent")
			dir := filepath.Join(parent, "state")
			check(t, os.MkdirAll(dir, 0o755))
			c.make(t, dir)
			err := Guard(filepath.Join(dir, "clusters"))
			if (err != nil) != c.want {
				t.Errorf("error %v, want one: %t", err, c.want)
			}
			if err != nil && (problem.ClassOf(err) != problem.Environment || problem.HintOf(err) == "") {
				t.Errorf("%v: class %v, hint %q", err, problem.ClassOf(err), problem.HintOf(err))
			}
		})
	}
}

// give changes owner and mode.
func give(t *testing.T, dir string, uid, gid int, mode os.FileMode) {
	t.Helper()
	check(t, os.Chown(dir, uid, gid))
	check(t, os.Chmod(dir, mode))
}

// link puts a link of a user in the place of the folder, which leads to one of a user.
func link(t *testing.T, dir string, linksOwner, owner int) {
	t.Helper()
	real := filepath.Join(t.TempDir(), "real")
	check(t, os.Remove(dir))
	check(t, os.Mkdir(real, 0o755))
	check(t, os.Chown(real, owner, 0))
	check(t, os.Symlink(real, dir))
	check(t, os.Lchown(dir, linksOwner, 0))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
