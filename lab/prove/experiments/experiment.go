// Package experiments holds the experiments behind the claims: what is compared, on which servers, and what would
// confirm or refute each claim. Package trial plays and judges them.
//
// A new experiment is one file that declares it and one line in All.
package experiments

import (
	"context"
	"errors"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Experiment tests one claim.
type Experiment struct {
	claim string
	on    place
	// declare may use the site only when sides are opened: a plan is made without one.
	declare func(Bench, *site) trial.Trial
	// refuse rejects sizes that cannot give an answer; nil accepts any.
	refuse func(Bench) error
}

// All lists the experiments; a new one is registered here.
func All() []Experiment {
	return []Experiment{
		{claim: "C01", on: filledCluster, declare: thirtyThousandUsers},
		{claim: "C02", on: oneCluster, declare: largeBase, refuse: refuseSmallBase},
		{claim: "C03", on: filledCluster, declare: loadFromAgents},
		{claim: "C04", on: oneCluster, declare: sessionData, refuse: refuseFewSessions},
		{claim: "C06", on: bothFlavours(c06Settings...), declare: unsentInvalidations},
		{claim: "C07", on: bothFlavours(), declare: skippedLocks},
		{claim: "C08", on: bothFlavours(), declare: messageStorm},
		{claim: "C09", on: bothFlavours(), declare: analyzedColumns},
		{claim: "C11", on: bothFlavours(), declare: unflushedCommits},
		{claim: "C12", on: bothFlavours(), declare: memoryCatalogRows},
		{claim: "C13", on: oneCluster, declare: tempTablePool},
		{claim: "C14", on: oneCluster, declare: connectionLifetime},
		{claim: "C15", on: bothFlavours(), declare: skippedTruncates},
		{claim: "C16", on: oneCluster, declare: chains},
		{claim: "C20", on: onSlowDisk, declare: asynchronousRewriting},
		{claim: "C21", on: onSlowDisk, declare: moreJobs},
		{claim: "C24", on: oneCluster, declare: largerStatements},
		{claim: "C27", on: onSlowDisk, declare: logBuffer},
		{claim: "C31", on: bothFlavours(), declare: restoringSequence},
		{claim: "C32", on: oneCluster, declare: autovacuum},
		{claim: "C33", on: bothFlavours(), declare: rewrittenQueries},
		{claim: "C34", on: bothFlavours(), declare: recalculatedTotals},
		{claim: "C36", on: oneCluster, declare: statisticsTarget},
		{claim: "C37", on: bothFlavours(), declare: restoringThreads},
		{claim: "C40", on: bothFlavours(), declare: systemPages},
		{claim: "C41", on: bothFlavours(c41Settings...), declare: endingSession},
		{claim: "C42", on: bothFlavours(), declare: drilledWaits},
		{claim: "C43", on: bothFlavours(), declare: settingOffAndOn},
		{claim: "C44", on: bothFlavours(c41Settings...), declare: endingControl},
		{claim: "C45", on: bothFlavours(), declare: waitsBegin},
		{claim: "C55", on: onSlowDisk, declare: untilItBreaks},
	}
}

// For returns the experiment behind a claim, or false.
func For(claim string) (Experiment, bool) {
	for _, e := range All() {
		if e.claim == claim {
			return e, true
		}
	}
	return Experiment{}, false
}

// Plan of an experiment.
type Plan struct {
	Text  string // one line
	Takes time.Duration
	Rules string // what would confirm the claim, and what would refute it
}

// Claim is the id of the tested claim.
func (e Experiment) Claim() string { return e.claim }

// Plan says in advance what will be done, how long that takes, and how it will be judged.
func (e Experiment) Plan(b Bench) Plan {
	t := e.declare(b, &site{})
	return Plan{t.Plan(), t.Takes(), t.Rules.Text()}
}

// Run runs the experiment. If ctx is cancelled after something was measured, the finding is Partial and the error nil.
func (e Experiment) Run(ctx context.Context, b Bench) (f claims.Finding, err error) {
	if e.refuse != nil {
		if err := e.refuse(b); err != nil {
			return f, err
		}
	}
	s := &site{}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := e.on(ctx, b, s); err != nil {
		return f, err
	}
	return e.declare(b, s).Play(ctx, trial.Options{Conditions: s.conditions, Say: b.say, Step: b.step})
}
