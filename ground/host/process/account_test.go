package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/problem"
)

func TestServerAccount(t *testing.T) {
	t.Run("IsNeverRoot", func(t *testing.T) {
		a, err := ServerAccount()
		if err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() != 0 {
			if a != nil {
				t.Errorf("got %+v, want ourselves", a)
			}
			return
		}
		cmd := exec.Command("id", "-u")
		a.Run(cmd)
		if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) == "0" {
			t.Errorf("runs as %s, %v", out, err)
		}
	})
	t.Run("MissingIsTheEnvironmentsFaultAndHasAHint", func(t *testing.T) {
		_, err := firstAccount([]string{"no-such-user-1", "no-such-user-2"})
		if problem.ClassOf(err) != problem.Environment || problem.HintOf(err) == "" {
			t.Errorf("got %v (class %v, hint %q)", err, problem.ClassOf(err), problem.HintOf(err))
		}
	})
	t.Run("TheFirstThatIsThereServes", func(t *testing.T) {
		a, err := firstAccount([]string{"no-such-user-1", "nobody"})
		if err != nil || a.Name != "nobody" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

func TestMayEnter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Geteuid(), os.Getegid()
	for _, c := range []struct {
		name string
		mode os.FileMode
		a    Account
		want bool
	}{
		{"OwnerByOwnersBit", 0o700, Account{UID: uid, GID: 4711}, true},
		{"OwnerNotByOthersBit", 0o077, Account{UID: uid, GID: 4711}, false},
		{"GroupByGroupsBit", 0o750, Account{UID: 4711, GID: gid, all: []uint32{uint32(gid)}}, true},
		{"GroupNotByOthersBit", 0o705, Account{UID: 4711, GID: gid, all: []uint32{uint32(gid)}}, false},
		{"OthersByOthersBit", 0o701, Account{UID: 4711, GID: 4711}, true},
		{"OthersNot", 0o770, Account{UID: 4711, GID: 4711}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.Chmod(dir, c.mode); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.a.MayEnter(info); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
