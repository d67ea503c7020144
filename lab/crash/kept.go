package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"plimsoll/lab/host/lock"
	"plimsoll/platform/problem"
)

// kept is a file of lines of JSON: the conditions, then loads and cuts as they come. A killed run leaves at most
// half a line. Nil keeps nothing.
type kept struct {
	file *os.File
	lock *lock.Lock
}

// line has one of three things.
type line struct {
	Conditions *Conditions `json:"conditions,omitempty"`
	Load       *loadLine   `json:"load,omitempty"`
	Cut        *Cut        `json:"cut,omitempty"`
}

type loadLine struct {
	Operations int            `json:"operations"`
	Records    uint64         `json:"records,omitempty"`
	Failed     map[string]int `json:"failed,omitempty"`
	// The longest flush of the log, and the longest time for which nobody looked at the log.
	LongestFlushMS float64 `json:"longest_flush_ms,omitempty"`
	LongestGapMS   float64 `json:"longest_gap_ms,omitempty"`
}

// openKept reads what was kept into the report, and locks the file.
func openKept(ctx context.Context, path string, report *Report) (*kept, error) {
	l, err := lock.Acquire(ctx, path+".lock", "crash", 0)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("keep what is seen in %s: %w", path, err),
			"wait for that run, or give another file")
	}
	k := &kept{lock: l}
	if err := k.open(path, report); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

func (k *kept) open(path string, report *Report) error {
	environment := func(err error) error {
		return problem.New(problem.Environment, fmt.Errorf("keep what is seen: %w", err), "")
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environment(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if err := report.read(text); err != nil {
		return problem.New(problem.Usage, fmt.Errorf("%s: %w", path, err), "give another file")
	}
	if k.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return environment(err)
	}
	if err := k.file.Truncate(int64(len(text))); err != nil {
		return environment(err)
	}
	if _, err := k.file.Seek(0, 2); err != nil {
		return environment(err)
	}
	if len(text) == 0 {
		return k.add(line{Conditions: &report.Conditions})
	}
	return nil
}

// read adds the lines of a file to the report.
func (r *Report) read(text []byte) error {
	for n, each := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if len(each) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(each, &l); err != nil {
			return fmt.Errorf("line %d is not of a crash test: %w", n+1, err)
		}
		switch {
		case n == 0 && (l.Conditions == nil || !reflect.DeepEqual(*l.Conditions, r.Conditions)):
			return errors.New("it was made under other conditions")
		case l.Load != nil:
			r.count(*l.Load)
		case l.Cut != nil:
			r.Cuts = append(r.Cuts, *l.Cut)
		}
	}
	return nil
}

func (k *kept) add(l line) error {
	if k == nil {
		return nil
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = k.file.Write(append(text, '\n'))
	}
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("keep what is seen: %w", err), "")
	}
	return nil
}

func (k *kept) close() (err error) {
	if k.file != nil {
		err = k.file.Close()
	}
	return errors.Join(err, k.lock.Remove())
}
