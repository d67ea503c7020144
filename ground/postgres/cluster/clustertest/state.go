package clustertest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster"
)

// State is a state directory for one test that the server's user can enter: when root runs the tests, t.TempDir belongs
// to root alone.
func State(t testing.TB) string {
	t.Helper()
	dir, err := newState()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(dir); err != nil {
			t.Errorf("clustertest: %v", err)
		}
	})
	return dir
}

// remove a state directory, and the shared memory of servers that were killed in it.
func remove(dir string) error {
	all, _ := filepath.Glob(filepath.Join(dir, "clusters", "*", "data"))
	for _, data := range all {
		cluster.ReleaseMemory(data)
	}
	return os.RemoveAll(dir)
}

// The name of a state directory contains its process, so that leftovers of a killed test binary can be told from
// directories in use.
var stateName = regexp.MustCompile(`^plimsoll-test-([0-9]+)-([0-9]+)-[0-9]+$`)

func newState() (string, error) {
	sweep()
	me := process.Self()
	dir, err := os.MkdirTemp(root(), fmt.Sprintf("plimsoll-test-%d-%d-*", me.PID, me.Start))
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// memoryDir is a file system in memory. A test's database is a thousand small files that live for a second; on a disk,
// making and removing them costs ten times the processor time.
const memoryDir = "/dev/shm"

// With less than this the test servers of parallel packages could fill the memory.
const (
	machineMemoryMin = 8 << 30
	memoryDirFreeMin = 4 << 30
)

// root is where state directories are made: in memory if there is plenty and TMPDIR is unset.
func root() string {
	const noExec = 0x8 // ST_NOEXEC: some tests run what they put there
	var fs syscall.Statfs_t
	facts, err := machine.Read("/")
	if os.Getenv("TMPDIR") != "" || err != nil || facts.MemoryBytes < machineMemoryMin ||
		syscall.Statfs(memoryDir, &fs) != nil || fs.Flags&noExec != 0 || int64(fs.Bavail)*fs.Bsize < memoryDirFreeMin {
		return os.TempDir()
	}
	return memoryDir
}

// sweep removes leftovers of killed test binaries. What cannot be removed belongs to somebody else, or will be removed
// next time.
func sweep() {
	for _, dir := range []string{os.TempDir(), memoryDir} {
		sweepIn(dir)
	}
}

func sweepIn(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		found := stateName.FindStringSubmatch(e.Name())
		if found == nil {
			continue
		}
		pid, _ := strconv.Atoi(found[1])
		start, _ := strconv.ParseUint(found[2], 10, 64)
		if !(process.ID{PID: pid, Start: start}).Alive() {
			_ = remove(filepath.Join(dir, e.Name()))
		}
	}
}
