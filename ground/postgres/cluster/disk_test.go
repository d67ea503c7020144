package cluster_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/ground/problem/problemtest"
	"plimsoll/test/smalldisk"
)

func cacheHere() string { return dirs.Cache() }

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	check(t, err)
	defer in.Close()
	makeProgram(t, in, to)
}

// makeProgram writes one that can be run at once: no child is started meanwhile, which would have the file open, too,
// for a moment ("text file busy").
func makeProgram(t *testing.T, from io.Reader, to string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	check(t, err)
	_, err = io.Copy(out, from)
	check(t, errors.Join(err, out.Close()))
}

// smallDisk mounts a disk of that size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := filepath.Join(clustertest.State(t), "disk")
	check(t, os.Mkdir(dir, 0o755))
	smalldisk.Mount(t, dir, size)
	return dir
}

func TestFullDisk_AtCreate(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	disk := smallDisk(t, "12m") // initdb wants about 40
	_, err := benchIn(t, disk).Create(t.Context(), "a", spec())
	problemtest.Want(t, err, problem.Environment, "No space left on device", "free disk space")
	wantNothingIn(t, filepath.Join(disk, "clusters"))
}

func TestFullDisk_AtStart(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	disk := smallDisk(t, "200m")
	b := benchIn(t, disk)
	c := b.create("a")
	ballast := filepath.Join(disk, "ballast")
	smalldisk.Fill(t, ballast)
	_, err := c.Start(t.Context(), cluster.StartOptions{})
	problemtest.Want(t, err, problem.Environment, "free disk space")
	_, err = b.Up(t.Context(), "a", cluster.Spec{})
	problemtest.Want(t, err, problem.Environment, "free disk space")
	if st := b.status("a"); st.State != cluster.Stopped {
		t.Errorf("status %+v", st)
	}
	check(t, os.Remove(ballast))
	p := start(t, c)
	smalldisk.Fill(t, ballast)
	check(t, p.Stop(t.Context(), cluster.Immediate))
	check(t, b.Destroy(t.Context(), "a")) // which frees it
	wantNothingIn(t, filepath.Join(disk, "clusters"))
}

func TestReadOnlyDisk(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
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
			problemtest.Want(t, act(), problem.Environment, "read-only file system", "PLIMSOLL_STATE")
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
	problemtest.Want(t, err, problem.Environment, "permission denied", "PLIMSOLL_STATE")
}
