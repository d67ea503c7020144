package cluster_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/lab/cluster"
	"plimsoll/lab/cluster/clustertest"
	"plimsoll/lab/dirs"
	"plimsoll/platform/problem"
)

func cacheHere() string { return dirs.Cache() }

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	check(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	check(t, err)
	_, err = io.Copy(out, in)
	check(t, errors.Join(err, out.Close()))
}

// Disks that are small or read-only are mounted where nobody else sees them: in
// a mount namespace of a second run of this binary.
const ownMounts = "PLIMSOLL_TEST_OWN_MOUNTS"

// needsMounts runs the test in a second process that has mounts of its own, and
// says whether this is that process.
func needsMounts(t *testing.T) bool {
	t.Helper()
	if os.Getenv(ownMounts) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can mount")
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), ownMounts+"=1")
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

// smallDisk mounts a disk of that size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := filepath.Join(clustertest.State(t), "disk")
	check(t, os.Mkdir(dir, 0o755))
	check(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size="+size))
	t.Cleanup(func() { check(t, syscall.Unmount(dir, 0)) })
	return dir
}

func TestFullDisk_AtCreate(t *testing.T) {
	if !needsMounts(t) {
		return
	}
	disk := smallDisk(t, "12m") // initdb wants about 40
	_, err := benchIn(t, disk).Create(t.Context(), "a", spec())
	wantProblem(t, err, problem.Environment, "No space left on device", "free disk space")
	wantNothingIn(t, filepath.Join(disk, "clusters"))
}

func TestFullDisk_AtStart(t *testing.T) {
	if !needsMounts(t) {
		return
	}
	disk := smallDisk(t, "200m")
	b := benchIn(t, disk)
	c := b.create("a")
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	_, err := c.Start(t.Context(), cluster.StartOptions{})
	wantProblem(t, err, problem.Environment, "free disk space")
	_, err = b.Up(t.Context(), "a", cluster.Spec{})
	wantProblem(t, err, problem.Environment, "free disk space")
	if st := b.status("a"); st.State != cluster.Stopped {
		t.Errorf("status %+v", st)
	}
	check(t, os.Remove(ballast))
	p := start(t, c)
	fill(t, ballast)
	check(t, p.Stop(t.Context(), cluster.Immediate))
	check(t, b.Destroy(t.Context(), "a")) // which frees it
	wantNothingIn(t, filepath.Join(disk, "clusters"))
}

// fill takes all the space that there is.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	check(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	if !needsMounts(t) {
		return
	}
	disk := smallDisk(t, "200m")
	b := benchIn(t, disk)
	c := b.create("a")
	check(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for name, act := range map[string]func() error{
		"Create":  func() error { _, err := b.Create(t.Context(), "b", spec()); return err },
		"Up":      func() error { _, err := b.Up(t.Context(), "a", cluster.Spec{}); return err },
		"Start":   func() error { _, err := c.Start(t.Context(), cluster.StartOptions{}); return err },
		"Destroy": func() error { return b.Destroy(t.Context(), "a") },
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, act(), problem.Environment, "read-only file system", "PLIMSOLL_STATE")
		})
	}
	if st := b.status("a"); st.State != cluster.Stopped || st.DataBytes == nil {
		t.Errorf("status %+v", st)
	}
	check(t, b.Down(t.Context(), "a", cluster.Fast))
}

func TestReadOnlyState(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("as an ordinary user: TestAsAnOrdinaryUser runs it")
	}
	state := filepath.Join(clustertest.State(t), "state")
	check(t, os.Mkdir(state, 0o555))
	_, err := benchIn(t, state).Create(t.Context(), "a", spec())
	wantProblem(t, err, problem.Environment, "permission denied", "PLIMSOLL_STATE")
}
