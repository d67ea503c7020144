// Package site holds what experiments share: the form of an experiment, the bench that asks for it, and the site where
// it is played: servers of one or both flavours, a slow disk, workers, closed loops.
package site

import (
	"context"
	"errors"
	"time"

	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Experiment tests one claim.
type Experiment struct {
	Claim string
	On    Place
	// Declare may use the site only when sides are opened: a plan is made without one.
	Declare func(Bench, *Site) trial.Trial
	// Refuse rejects sizes that cannot give an answer; nil accepts any.
	Refuse func(Bench) error
}

// Plan of an experiment.
type Plan struct {
	Text  string // one line
	Takes time.Duration
	Rules string // what would confirm the claim, and what would refute it
}

// Plan says in advance what will be done, how long that takes, and how it will be judged.
func (e Experiment) Plan(b Bench) Plan {
	t := e.Declare(b, &Site{})
	return Plan{t.Plan(), t.Takes(), t.RulesText()}
}

// Engine is the one that the experiment would measure now.
func (e Experiment) Engine(ctx context.Context, b Bench) (installation.Server, error) {
	return e.On.engine(ctx, b)
}

// Run runs the experiment. If ctx is cancelled after something was measured, the finding is Partial and the error nil.
func (e Experiment) Run(ctx context.Context, b Bench) (f claims.Finding, err error) {
	if e.Refuse != nil {
		if err := e.Refuse(b); err != nil {
			return f, err
		}
	}
	s := &Site{}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := e.On.open(ctx, b, s); err != nil {
		return f, err
	}
	return e.Declare(b, s).Play(ctx, trial.Options{Conditions: s.conditions, Say: b.say, Step: b.step,
		Watch: trial.Machine(b.DisturbedLimit, s.postmasters...)})
}
