// Package smalldisk owns private disks that are full when a test wants it. They are mounted where no other process sees
// them: in a mount namespace of a second run of the test binary.
package smalldisk

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// ownMounts says that this process has private mounts.
const ownMounts = "PLIMSOLL_TEST_OWN_MOUNTS"

// asProgram makes a test binary the program that it tests (package workertest). Here it is to be the test.
const asProgram = "PLIMSOLL_TEST_AS_PROGRAM="

// OwnMounts runs the test in a second process that has mounts of its own, and says whether this is that process.
func OwnMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownMounts) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can mount")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, asProgram)
	}), ownMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("NOT TESTED: this root may not mount")
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// Fill fills the disk of a file with that file.
func Fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// Mount mounts a disk of that size on a folder, until the test ends.
func Mount(t *testing.T, dir, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}
