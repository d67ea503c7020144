package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
			victim := filepath.Join(dir, "victim")
			if err := os.WriteFile(victim, []byte(secret), 0o600); err != nil {
				t.Fatal(err)
			}
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

func TestDataFiles_PlainOnesAreReadAndWritten(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "postgresql.conf")
	if err := os.WriteFile(path, []byte("a = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := includeSettings(data); err != nil {
		t.Fatal(err)
	}
	if text, err := readInData(path); err != nil || string(text) != "a = 1\n"+includes {
		t.Errorf("%q, %v", text, err)
	}
}
