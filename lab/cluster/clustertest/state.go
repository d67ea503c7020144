package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"plimsoll/lab/process"
)

// State gives a test a state directory of its own, which the server's user can
// enter: t.TempDir belongs to root alone when root runs the tests.
func State(t testing.TB) string {
	t.Helper()
	dir, err := newState()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("clustertest: %v", err)
		}
	})
	return dir
}

// A state directory carries its process in its name, so that what a killed test
// binary left can be told from what another one uses.
var stateName = regexp.MustCompile(`^plimsoll-test-([0-9]+)-([0-9]+)-[0-9]+$`)

func newState() (string, error) {
	sweep()
	me := process.Self()
	dir, err := os.MkdirTemp("", fmt.Sprintf("plimsoll-test-%d-%d-*", me.PID, me.Start))
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// sweep removes what killed test binaries left. What can't be removed is
// somebody else's, or will be next time.
func sweep() {
	entries, _ := os.ReadDir(os.TempDir())
	for _, e := range entries {
		found := stateName.FindStringSubmatch(e.Name())
		if found == nil {
			continue
		}
		pid, _ := strconv.Atoi(found[1])
		start, _ := strconv.ParseUint(found[2], 10, 64)
		if !(process.ID{PID: pid, Start: start}).Alive() {
			_ = os.RemoveAll(filepath.Join(os.TempDir(), e.Name()))
		}
	}
}
