package kept

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/problem"
)

// File of what a long work has seen, so that the same command goes on where another one ended: a line of JSON for the
// conditions, then one for each result. Nil keeps nothing.
type File struct {
	file *os.File
	lock *lock.Lock
}

// Open locks the file and returns its results. A file recorded with other settings is refused; an incomplete line, as a
// killed process leaves it, is cut off.
func Open(ctx context.Context, path, owner string, conditions any) (*File, [][]byte, error) {
	l, err := lock.Acquire(ctx, path+".lock", owner, 0)
	if err != nil {
		return nil, nil, problem.New(problem.Environment, fmt.Errorf("store results in %s: %w", path, err),
			"wait for that run, or name another file")
	}
	k := &File{lock: l}
	results, err := k.open(path, conditions)
	if err != nil {
		return nil, nil, errors.Join(err, k.Close())
	}
	return k, results, nil
}

func failed(err error) error {
	return problem.New(problem.Environment, fmt.Errorf("store results: %w", err), "")
}

func (k *File) open(path string, conditions any) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	first, err := json.Marshal(conditions)
	if err != nil {
		return nil, failed(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(text) > 0 && !bytes.Equal(lines[0], first) {
		return nil, problem.New(problem.Usage, fmt.Errorf("%s: it was recorded with other settings", path),
			"name another file, or repeat the command that recorded it")
	}
	if k.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, failed(err)
	}
	if err := k.file.Truncate(int64(len(text))); err != nil {
		return nil, failed(err)
	}
	if _, err := k.file.Seek(0, 2); err != nil {
		return nil, failed(err)
	}
	if len(text) == 0 {
		return nil, k.write(first)
	}
	return lines[1:], nil
}

// Add a result.
func (k *File) Add(result any) error {
	if k == nil {
		return nil
	}
	text, err := json.Marshal(result)
	if err != nil {
		return failed(err)
	}
	return k.write(text)
}

func (k *File) write(text []byte) error {
	if _, err := k.file.Write(append(text, '\n')); err != nil {
		return failed(err)
	}
	return nil
}

// Close unlocks the file.
func (k *File) Close() (err error) {
	if k == nil {
		return nil
	}
	if k.file != nil {
		err = k.file.Close()
	}
	return errors.Join(err, k.lock.Remove())
}

// Unreadable is the problem of a line that is not a result of this command; lines are counted from 1, that of the
// settings included.
func Unreadable(path string, result int, err error) error {
	return problem.New(problem.Usage, fmt.Errorf("%s: line %d: %w", path, result+2, err), "name another file")
}
