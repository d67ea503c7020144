package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// durable, then renamed.
func WriteWhole(name string, content func(io.Writer) error) (err error) {
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

func syncDir(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Read reads the JSON of a run from any file.
func Read(name string) (*result.Result, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read run: %w", err), "")
	}
	var r result.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read run %s: %w", name, err)
	}
	if r.Schema != result.Schema {
		hint := "it is not the result of a run"
		if strings.HasPrefix(r.Schema, "plimsoll.run/") {
			hint = "another version of Plimsoll made it"
		}
		return nil, problem.New(problem.Usage, fmt.Errorf("read run %s: schema %q, want %q", name, r.Schema, result.Schema), hint)
	}
	return &r, nil
}
