package run

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
)

// Run makes one run. It returns an error if the run could not start (bad options, no database, a worker that did not
// start: result nil) or if its result could not be stored (result not nil). What goes wrong once users are active is
// in the result: valid false, with reasons. If ctx is cancelled during the run, the result holds what was measured
// until then and the error is nil.
func Run(ctx context.Context, o Options) (all *result.Result, err error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("plan run: %w", err)
	}
	s := newSetup(o)
	defer s.board.close()
	if err := s.reserve(ctx); err != nil {
		return nil, err
	}
	// If the result could not be stored, the journal is what is left of the run.
	defer func() { s.journal.close(all != nil && err != nil && !s.Store.IsComplete(s.id)) }()
	defer func() { s.log.close() }()
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.crew.stop()
	if err := s.execute(ctx); err != nil {
		return nil, err
	}
	s.inspect(ctx)
	all = s.record.result(time.Now())
	if s.Store == nil {
		return all, nil
	}
	return all, s.keep(all)
}

// keep stores the result. If that fails, it notes in the journal that the run has ended all the same.
func (s *setup) keep(all *result.Result) error {
	err := s.Store.Save(all)
	switch {
	case err == nil:
		if text, err := s.Scenario.Masked(); err == nil {
			_ = s.Store.SaveScenario(s.id, text) // without it the result is whole
		}
		return nil
	case s.Store.IsComplete(s.id):
		return problem.New(problem.Environment, err, "the result is kept, its report is not: free disk space, then "+
			"'plimsoll report "+s.id+"' creates it")
	}
	s.Store.NotKept(s.id, cause(err).Error())
	known := "'plimsoll runs' recovers it from its journal"
	if s.journalStop != nil {
		known = fmt.Sprintf("'plimsoll runs' recovers it up to second %d", s.journalStop.second)
	}
	hint := "the printed figures are complete, and --json > FILE on another disk keeps them; " + known
	if diskError(err) != 0 {
		hint = "free disk space, or set PLIMSOLL_STATE to a folder on another disk; " + hint
	}
	return problem.New(problem.Environment, err, hint)
}
