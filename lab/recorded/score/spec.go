package score

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/timings"
)

// Spec is a log and its score as a person describes them: plain values, of which nothing is checked or read yet.
type Spec struct {
	Paths    []string
	Targets  string // file of them, by operation
	Target   string // of other operations
	Prefix   string // log_line_prefix
	Database string
	Gap      time.Duration
}

// Flags of all that reads a log.
var Flags = []string{"targets", "gap", "prefix", "database"}

// Options of the score.
func (s Spec) Options(ctx context.Context) (o Options, err error) {
	o = Options{Paths: s.Paths, Zone: time.Local, Gap: s.Gap, Database: s.Database}
	if s.Gap <= 0 {
		return o, fmt.Errorf("--gap: %s is not above 0", s.Gap)
	}
	if s.Prefix != "" {
		if o.Prefix, err = pglog.ParsePrefix(s.Prefix); err != nil {
			return o, fmt.Errorf("--prefix: %w", err)
		}
	}
	if s.Target != "" {
		if o.Target, err = ParseTarget(s.Target); err != nil {
			return o, fmt.Errorf("--target: %w", err)
		}
	}
	if s.Targets != "" {
		if o.Targets, err = TargetsOf(ctx, s.Targets); err != nil {
			err = fmt.Errorf("--targets %s: %w", s.Targets, err)
		}
	}
	return o, err
}

// Problem of reading a log, with what to do about it.
func Problem(err error) error {
	switch {
	case errors.Is(err, ErrNoCalls):
		return problem.New(problem.Usage, err, "let the server log CALL events with all properties (logcfg.xml)")
	case errors.Is(err, ErrResumeCalls):
		return problem.New(problem.Usage, err, "leave out --resume, or let the server log CALL events")
	case errors.Is(err, ErrNoStatements):
		return problem.New(problem.Usage, err, "let the server log all statements: log_min_duration_statement = 0")
	case errors.Is(err, ErrNoMeasurements):
		return problem.New(problem.Usage, err, "export a time in which the application measured: Administration, "+
			"Performance monitor")
	case errors.Is(err, timings.ErrMixed):
		return problem.New(problem.Usage, err, "score logs of different kinds one by one")
	case errors.Is(err, pglog.ErrPrefix):
		return problem.New(problem.Usage, err, "give the server's log_line_prefix: --prefix '%m [%p] %u@%d '")
	case errors.Is(err, os.ErrNotExist), errors.Is(err, ErrNoLog):
		return problem.New(problem.Usage, err,
			"name the folder of 'location' in logcfg.xml, or PostgreSQL's log_directory")
	}
	return err
}
