package kept

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces a file atomically: under another name, synced, then renamed. A reader sees the old or the new content,
// even after a power cut. Only its owner may read it.
func Write(name string, content func(io.Writer) error) error {
	return replace(name, 0o600, func(f *os.File) error { return content(f) })
}

// WriteText is Write for a text and exactly this mode, whatever the umask.
func WriteText(name string, text []byte, mode fs.FileMode) error {
	return replace(name, mode, func(f *os.File) error {
		_, err := f.Write(text)
		return errors.Join(err, f.Chmod(mode))
	})
}

// WriteNamed is Write for a file that the user named: the umask decides who may read it. An existing path that is not a
// regular file, such as /dev/stdout, is written to and not replaced.
func WriteNamed(name string, content func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(content(f), f.Close())
	}
	return replace(name, 0o666, func(f *os.File) error { return content(f) })
}

// JSON writes a value indented, with a final newline.
func JSON(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

func replace(name string, mode fs.FileMode, content func(*os.File) error) (err error) {
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"-"+rand.Text())
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temporary)
		}
	}()
	err = content(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(temporary, name); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(name))
}

// Writable checks in advance whether WriteNamed can create a file, so that a run of an hour does not fail at its end.
func Writable(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return &fs.PathError{Op: "write", Path: name, Err: errors.New("is a directory")}
		}
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// SyncFolder makes a rename in the folder survive a power cut. Some file systems cannot.
func SyncFolder(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}
