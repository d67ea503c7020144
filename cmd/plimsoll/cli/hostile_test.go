package cli

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/process"
	"plimsoll/test/files"
)

// TestResetFollowsNoLink that the server's user puts in root's way: what reset looks at below the data is not opened
// through it. What other commands look at is tested in the package of the clusters.
func TestResetFollowsNoLink(t *testing.T) {
	account, err := process.ServerAccount()
	if err != nil {
		t.Fatal(err)
	}
	if account == nil {
		t.Skip("NOT TESTED: needs root, in whose way links are put")
	}
	state := freshState(t)
	plimsoll(t, "up", "hostile", "--socket-only", "--memory", "512MB").want(t, ExitOK)
	defer func() { plimsoll(t, "down", "hostile").want(t, ExitOK) }()

	victim := t.TempDir()
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	places := []string{"postmaster.pid", "PG_VERSION", "postgresql.conf"}
	for _, name := range places {
		files.Write(t, victim, name, "root's own\n")
	}
	if _, err := unix.InotifyAddWatch(watch, victim, unix.IN_ALL_EVENTS); err != nil {
		t.Fatal(err)
	}
	untouched := func(step string) {
		t.Helper()
		if n, err := unix.Read(watch, make([]byte, 1<<16)); n > 0 || !errors.Is(err, unix.EAGAIN) {
			t.Errorf("%s: root followed a link: %d bytes of events, %v", step, n, err)
		}
	}
	for _, name := range places {
		path := filepath.Join(state, "clusters", "hostile", "data", name)
		var errs [2]error
		account.WithPermissions(func() {
			errs[0], errs[1] = os.Rename(path, path+".aside"), os.Symlink(filepath.Join(victim, name), path)
		})
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		if o := plimsoll(t, "reset", "--cluster", "hostile", "--yes"); o.code == ExitOK {
			t.Errorf("reset of a base that there is not, with a link at %s: %s%s", name, o.stdout, o.stderr)
		}
		untouched("reset with a link at " + name)
		account.WithPermissions(func() { errs[0], errs[1] = os.Remove(path), os.Rename(path+".aside", path) })
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.ReadFile(filepath.Join(victim, places[0])); err != nil {
		t.Fatal(err)
	}
	if n, _ := unix.Read(watch, make([]byte, 1<<16)); n <= 0 {
		t.Error("the watch sees nothing")
	}
}
