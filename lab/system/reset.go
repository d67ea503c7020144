package system

import (
	"context"
	"errors"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/scenario"
)

// Reset is how each trial gets the database into the same state.
type Reset string

const (
	// ResetAuto takes the scenario's SQL if it has some, else the copy that a fill kept, else a copy of the database.
	ResetAuto   Reset = "auto"
	ResetFilled Reset = "filled"   // a copy of the base as it was filled, made for each trial
	ResetCopy   Reset = "template" // a copy of the database, made for each trial
	ResetSQL    Reset = "sql"      // the scenario's reset script
	ResetNone   Reset = "none"     // no reset: a trial sees what earlier ones wrote
)

// Resets are all.
var Resets = []Reset{ResetAuto, ResetFilled, ResetCopy, ResetSQL, ResetNone}

// trialCopy is the database that trials use; the original is not touched.
var trialCopy = postgres.Copy{
	Suffix: "_line", Mark: "made by plimsoll line, which drops it again", Otherwise: "choose --reset none",
}

// StartsFrom names the database that each trial starts from.
func (r Reset) StartsFrom(ctx context.Context, s *scenario.Scenario, dsn string, foreignWorkers bool) (string, error) {
	chosen, err := r.Choose(ctx, s, dsn, foreignWorkers)
	if chosen == ResetFilled {
		return postgres.Filled.Of(dsn), err
	}
	return dsn, err
}

// Choose decides what auto means here.
func (r Reset) Choose(ctx context.Context, s *scenario.Scenario, dsn string, foreignWorkers bool) (Reset, error) {
	has := s.Own.Reset != ""
	switch {
	case r == ResetSQL && !has:
		return r, problem.New(problem.Usage, errors.New("the scenario has no reset"),
			"give it one in [sql], or choose another --reset")
	case (r == ResetCopy || r == ResetFilled) && (dsn == "" || foreignWorkers):
		return r, problem.New(problem.Usage, errors.New(
			"workers that run already stay on their database: it cannot be copied under them"), "choose --reset none")
	case r != ResetAuto && r != ResetFilled:
		return r, nil
	case r == ResetAuto && has:
		return ResetSQL, nil
	case dsn == "" || foreignWorkers:
		return ResetNone, nil
	case r == ResetAuto && s.Application == scenario.NoERP:
		return ResetCopy, nil
	}
	return r.filledOr(ctx, dsn)
}

// filledOr copies the database itself if no fill has kept a copy.
func (r Reset) filledOr(ctx context.Context, dsn string) (Reset, error) {
	_, there, err := postgres.Filled.Find(ctx, dsn)
	switch {
	case err != nil:
		return r, err
	case there:
		return ResetFilled, nil
	case r == ResetFilled:
		return r, problem.New(problem.Environment, postgres.ErrNothingKept,
			"'plimsoll fill' keeps one; --reset template starts from the base as it is")
	}
	return ResetCopy, nil
}

// Before resets the database and names the one to use.
func (r Reset) Before(ctx context.Context, dsn string, s *scenario.Scenario) (string, error) {
	switch r {
	case ResetSQL:
		return dsn, custom.Reset(ctx, dsn, s.Own.Reset)
	case ResetCopy:
		return trialCopy.Make(ctx, dsn)
	case ResetFilled:
		return trialCopy.MakeFrom(ctx, dsn, postgres.Filled.Of(dsn))
	}
	return dsn, nil
}

// Drop removes the copy at the end.
func (r Reset) Drop(ctx context.Context, dsn string) error {
	if r != ResetCopy && r != ResetFilled {
		return nil
	}
	return trialCopy.Drop(ctx, dsn)
}
