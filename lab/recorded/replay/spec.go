package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/mask"
	"plimsoll/lab/recorded/pglog"
	"plimsoll/lab/recorded/score"
)

// Spec is a replay as a person describes it: plain values, of which nothing is checked or read yet.
type Spec struct {
	score.Spec
	Speed    string // a number, or max
	Mask     string // file of rules
	MaskBase bool
}

// Flags of a log that is played again.
var Flags = slices.Concat([]string{"speed", "mask", "mask-base"}, score.Flags)

// paceMost times the log's: beyond it, max is meant.
const paceMost = 1000

func (s Spec) pace() (float64, error) {
	if s.Speed == "max" {
		return 0, nil
	}
	pace, err := strconv.ParseFloat(s.Speed, 64)
	if err != nil || !(pace > 0 && pace <= paceMost) {
		return 0, problem.New(problem.Usage, fmt.Errorf("--speed %q is no pace", s.Speed),
			fmt.Sprintf("a number up to %d, or max", paceMost))
	}
	return pace, nil
}

// Options of the replay.
func (s Spec) Options(ctx context.Context) (o Options, err error) {
	scored, err := s.Spec.Options(ctx)
	if err != nil {
		return o, problem.New(problem.Usage, err, "plimsoll replay --help")
	}
	o = Options{Paths: s.Paths, Zone: scored.Zone, Prefix: scored.Prefix, Database: s.Database, State: dirs.State(),
		Gap: scored.Gap, Target: scored.Target, Targets: scored.Targets, MaskBase: s.MaskBase}
	if o.Speed, err = s.pace(); err != nil {
		return o, err
	}
	if s.Mask == "" {
		if s.MaskBase {
			err = problem.New(problem.Usage, errors.New("--mask-base has no effect without --mask"), "add --mask FILE")
		}
		return o, err
	}
	rules, err := mask.Read(s.Mask)
	if err == nil {
		o.Mask = mask.New(rules)
	}
	return o, err
}

// Load is a replay by which something is measured: at a pace, on the database of its name. Nil: no log is named.
func (s Spec) Load(ctx context.Context) (*Options, error) {
	if len(s.Paths) == 0 {
		return nil, nil
	}
	o, err := s.Options(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.Speed == 0:
		return nil, problem.New(problem.Usage, errors.New("--speed max has no score to compare"),
			"a pace, such as --speed 4")
	case o.Database == "":
		if o.Database, err = DatabaseOf(ctx, o); err != nil {
			return nil, Problem(err)
		}
	}
	return &o, nil
}

// Problem of a replay, with what to do about it.
func Problem(err error) error {
	switch {
	case errors.Is(err, ErrNothing):
		return problem.New(problem.Usage, err, "let the server log all statements: log_min_duration_statement = 0")
	case errors.Is(err, ErrStandstill):
		return problem.New(problem.Failure, err,
			"the base is not as it was when the log began, or the log lacks statements")
	case errors.Is(err, pglog.ErrPrefix), errors.Is(err, score.ErrNoLog), errors.Is(err, score.ErrNoStatements):
		return score.Problem(err)
	}
	return err
}
