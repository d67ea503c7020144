package kept

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"plimsoll/ground/problem"
)

// Page is the path of a report that the user asked for; empty: none.
type Page string

// Check finds out beforehand whether Write would fail, so that an hour's work does not end so.
func (p Page) Check() error {
	if p == "" {
		return nil
	}
	return p.failed(Writable(string(p)))
}

// Write the report whole or not at all.
func (p Page) Write(content func(io.Writer) error) error {
	if p == "" {
		return nil
	}
	return p.failed(WriteNamed(string(p), content))
}

func (p Page) failed(err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err // its path is that of a temporary file
	}
	return problem.New(problem.Environment, fmt.Errorf("write report %s: %w", p, err),
		"name a file in a folder that exists and that you may write to")
}
