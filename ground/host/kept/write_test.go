package kept

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// withUmask calls do under another umask, which belongs to the whole process.
func withUmask(mask int, do func()) {
	before := syscall.Umask(mask)
	defer syscall.Umask(before)
	do()
}

func TestOnlyNamedFilesFollowTheUmask(t *testing.T) {
	nothing := func(io.Writer) error { return nil }
	for mask, named := range map[int]os.FileMode{0: 0o666, 0o022: 0o644, 0o077: 0o600} {
		withUmask(mask, func() {
			dir := t.TempDir()
			if err := errors.Join(WriteNamed(filepath.Join(dir, "named"), nothing),
				Write(filepath.Join(dir, "own"), nothing),
				WriteText(filepath.Join(dir, "text"), nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]os.FileMode{"named": named, "own": 0o600, "text": 0o644} {
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("umask %03o: %s has %v, %v", mask, name, info.Mode(), err)
				}
			}
		})
	}
}

// What another user put in the place of our file is replaced, not written to.
func TestWriteTextFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "name")
	if err := errors.Join(os.WriteFile(victim, []byte("old"), 0o644), os.Symlink(victim, name)); err != nil {
		t.Fatal(err)
	}
	if err := WriteText(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{victim: "old", name: "new"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}

func TestWriteLeavesNothingHalfDone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "result.json")
	full := errors.New("no space left on device")
	err := Write(name, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return full
	})
	entries, _ := os.ReadDir(filepath.Dir(name))
	if !errors.Is(err, full) || len(entries) != 0 {
		t.Errorf("%v, left %v", err, entries)
	}
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = Write(name, func(io.Writer) error { return full })
	if text, _ := os.ReadFile(name); string(text) != "old" {
		t.Errorf("the old file is now %q", text)
	}
}

// A path that is not a file stays what it is: a rename over /dev/null would break the whole machine.
func TestWriteGoesIntoWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	err := WriteNamed(pipe, func(w io.Writer) error { _, err := w.Write([]byte("page")); return err })
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%v, error %v: want the pipe as it was", info, err)
	}
	if text := <-read; text != "page" {
		t.Errorf("read %q", text)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]bool{"new.html": true, "no/such/x.html": false, ".": false} {
		if err := Writable(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
