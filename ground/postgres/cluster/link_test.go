package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plimsoll/ground/host/dirs"
	"plimsoll/test/files"
)

// The server's user owns the data folder, and may put a link or a pipe in the place of any file there.
func TestDataFiles_AreNotFollowedElsewhere(t *testing.T) {
	const secret = "root's own\n"
	swaps := map[string]func(victim, name string) error{
		"SymbolicLink":  os.Symlink,
		"HardLink":      os.Link,
		"DanglingLink":  func(victim, name string) error { return os.Symlink(victim+".new", name) },
		"Pipe":          func(_, name string) error { return syscall.Mkfifo(name, 0o600) },
		"LinkToNowhere": func(_, name string) error { return os.Symlink(filepath.Base(name), name) },
		"Folder":        func(_, name string) error { return os.Mkdir(name, 0o700) },
		"LinkToADevice": func(_, name string) error { return os.Symlink("/dev/null", name) },
	}
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			victim := files.Write(t, dir, "victim", secret)
			c := &Cluster{store: Open(dir), dir: filepath.Join(dir, "cluster")}
			if err := os.MkdirAll(c.DataDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"postgresql.conf", "postmaster.pid", "PG_VERSION"} {
				if err := swap(victim, filepath.Join(c.DataDir(), file)); err != nil {
					t.Fatal(err)
				}
			}
			if err := includeSettings(c.DataDir()); err == nil {
				t.Error("wrote settings")
			}
			if _, err := c.readPidFile(); err == nil {
				t.Error("read a pid file")
			}
			if _, err := c.findServer(t.Context()); err == nil || errors.Is(err, os.ErrNotExist) {
				t.Errorf("read the version: %v", err)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != secret {
				t.Errorf("the file behind it is now %q, %v", text, err)
			}
			if _, err := os.Lstat(victim + ".new"); !errors.Is(err, os.ErrNotExist) {
				t.Error("made a file behind a link")
			}
		})
	}
}

// Folders on the way are the server's user's as well.
func TestDataFiles_AreNotReadBehindALinkOfAFolder(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	c := &Cluster{store: Open(dir), dir: filepath.Join(dir, "cluster")}
	for _, folder := range []string{victim, filepath.Join(c.DataDir(), "global")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		control := make([]byte, 512)
		control[controlStateAt] = controlStopped + 1
		if err := os.WriteFile(filepath.Join(folder, "pg_control"), control, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if in, err := c.stoppedInOrder(); in || err != nil {
		t.Errorf("%t, %v", in, err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(c.DataDir(), "global")),
		os.Symlink(victim, filepath.Join(c.DataDir(), "global"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.stoppedInOrder(); !errors.Is(err, dirs.ErrForeign) {
		t.Errorf("the state of the data behind a link was read: %v", err)
	}
}

func TestDataFiles_PlainOnesAreReadAndWritten(t *testing.T) {
	data := t.TempDir()
	files.Write(t, data, "postgresql.conf", "a = 1\n")
	if err := includeSettings(data); err != nil {
		t.Fatal(err)
	}
	if text, err := dirs.ReadIn(data, "postgresql.conf", 1000); err != nil || string(text) != "a = 1\n"+includes {
		t.Errorf("%q, %v", text, err)
	}
}
