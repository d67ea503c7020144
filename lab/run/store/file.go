package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
)

// Save writes report.html, if the store has a page for it, then result.json. A run with a result is complete. If there
// is no room for both, the result is stored without the report.
func (s *Store) Save(r *result.Result) (err error) {
	s.free(r.ID)
	if s.page != nil {
		err = WriteWhole(s.ReportPath(r.ID), func(w io.Writer) error { return s.page(w, r) })
	}
	if err == nil || errors.Is(err, syscall.ENOSPC) {
		if result := WriteWhole(s.ResultPath(r.ID), r.WriteJSON); result != nil {
			err = result
		}
	}
	return s.problem("store the run", err)
}

// WriteWhole writes a file that only its owner may read, atomically: under another name, synced, then renamed. An
// existing path that is not a regular file, such as /dev/stdout, is written to and not replaced.
func WriteWhole(name string, content func(io.Writer) error) error {
	return writeWhole(name, 0o600, content)
}

// WriteNamed is WriteWhole for a file that the user named: the umask decides who may read it.
func WriteNamed(name string, content func(io.Writer) error) error {
	return writeWhole(name, 0o666, content)
}

func writeWhole(name string, mode fs.FileMode, content func(io.Writer) error) (err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeTo(name, content)
	}
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"-"+rand.Text())
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = content(f)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

func writeTo(name string, content func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// Writable checks in advance whether WriteWhole can create a file, so that a run of an hour does not fail at its end.
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

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// isARun is the hint for a file that is not a result.
const isARun = "give a file that 'plimsoll run --json' wrote"

// Read reads a run's JSON from any file.
func Read(name string) (*result.Result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run: %w", err), isARun)
	}
	var r result.Result
	// Check the schema first: another version's file need not parse.
	if err := json.Unmarshal(text, &struct {
		Schema *string `json:"schema"`
	}{&r.Schema}); err == nil && r.Schema != result.Schema {
		hint := isARun
		if strings.HasPrefix(r.Schema, "plimsoll.run/") {
			hint = "another version of Plimsoll wrote it; show it with that version"
		}
		return nil, problem.New(problem.Usage,
			fmt.Errorf("read run %s: schema %q, want %q", name, r.Schema, result.Schema), hint)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err), isARun)
	}
	if err := r.Check(); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err),
			"the file was changed after it was written")
	}
	return &r, nil
}
