package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/lab/report"
	"plimsoll/lab/result"
	"plimsoll/platform/problem"
)

// Save writes report.html, then result.json, of a run that has begun: where the
// result is, the run is complete.
func (s *Store) Save(r *result.Result) error {
	err := WriteWhole(s.ReportPath(r.ID), func(w io.Writer) error { return report.HTML(w, r) })
	if err == nil {
		err = WriteWhole(s.ResultPath(r.ID), r.WriteJSON)
	}
	return s.problem("keep the run", err)
}

// WriteWhole makes a file that is whole or not there: written under another name, made
// durable, then renamed. What is there and no file, such as /dev/stdout, is written to and not replaced.
func WriteWhole(name string, content func(io.Writer) error) (err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeTo(name, content)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = content(f)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
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

// Writable says beforehand whether WriteWhole could make a file: whoever has waited an hour for it wants to have it.
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

// isARun is what to do about a file that is none.
const isARun = "a file that 'plimsoll run --json' wrote is wanted"

// Read reads the JSON of a run from any file.
func Read(name string) (*result.Result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run: %w", err), isARun)
	}
	var r result.Result
	// Its schema first: what another version wrote need not fit.
	if err := json.Unmarshal(text, &struct {
		Schema *string `json:"schema"`
	}{&r.Schema}); err == nil && r.Schema != result.Schema {
		hint := isARun
		if strings.HasPrefix(r.Schema, "plimsoll.run/") {
			hint = "another version of Plimsoll made it, which can show it"
		}
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: schema %q, want %q", name, r.Schema, result.Schema), hint)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err), isARun)
	}
	if err := r.Check(); err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: %w", name, err), "it has been changed since it was written")
	}
	return &r, nil
}
