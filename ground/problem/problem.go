// Package problem owns what a user is told when something goes wrong: the class of an error, which decides the exit
// code, and the hint that says what to do next. Packages attach either at the edge, where they know it; the error text
// itself stays short and lower case.
package problem

import (
	"context"
	"errors"
)

// Class says what kind of error it is, and so who can fix it.
type Class int

const (
	Failure     Class = iota // a fault of ours or of the database
	Usage                    // the command line, a configuration or scenario file is wrong
	Threshold                // the run completed, and the result is negative: Apdex too low, books wrong, claim refuted
	Environment              // the machine lacks something: engine, port, disk, rights
	Interrupted              // stopped by the user
)

type classified struct {
	error
	class Class
	hint  string
}

func (e *classified) Unwrap() error { return e.error }

// New gives err a class and a hint; a nil err stays nil, an empty hint adds none.
func New(class Class, err error, hint string) error {
	if err == nil {
		return nil
	}
	return &classified{err, class, hint}
}

// WithHint adds a hint and keeps the class that err already has.
func WithHint(err error, hint string) error { return New(ClassOf(err), err, hint) }

// ClassOf is the outermost class given to err; a cancelled context counts as Interrupted.
func ClassOf(err error) Class {
	var c *classified
	switch {
	case errors.As(err, &c):
		return c.class
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Failure
}

// Classified reports whether err was given a class.
func Classified(err error) bool {
	var c *classified
	return errors.As(err, &c)
}

// HintOf is the outermost hint that is not empty.
func HintOf(err error) string {
	for err != nil {
		var c *classified
		if !errors.As(err, &c) {
			return ""
		}
		if c.hint != "" {
			return c.hint
		}
		err = c.error
	}
	return ""
}
