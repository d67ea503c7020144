// Package experiments owns the experiments behind the claims: each brings up what
// it needs, loads it, measures, and says what that makes of the claim.
//
// A new experiment is one file with one type and one line in All.
package experiments

import (
	"context"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/cluster"
	"plimsoll/lab/rig"
	"plimsoll/lab/run"
	"plimsoll/lab/runs"
)

// Experiment answers one claim.
type Experiment interface {
	// Claim is the id of the claim that is answered.
	Claim() string
	// Plan says beforehand what will be done and how long that takes.
	Plan(Bench) Plan
	// Run does it. When ctx is cancelled after something was measured, the finding
	// is Partial and the error nil; the finding says nothing that was not measured.
	Run(context.Context, Bench) (claims.Finding, error)
}

// Plan of an experiment.
type Plan struct {
	Text  string // one line
	Takes time.Duration
}

// All are the experiments there are; this is where a new one is registered.
func All() []Experiment {
	return []Experiment{
		ThirtyThousandUsers{},
		LargeBase{},
		LoadFromAgents{},
		SessionData{},
		LocalInvalidation{},
		SkippedLocks{},
		UnflushedCommits{},
		MemoryCatalog{},
		TempTablePool{},
		ConnectionLifetime{},
		SkippedTruncates{},
		Chains{},
		AsynchronousRewriting{},
		MoreJobs{},
		LargerStatements{},
		Restoring{},
		Autovacuum{},
		RewrittenQueries{},
		RecalculatedTotals{},
		RestoringThreads{},
		SystemPages{},
		EndingSession{},
	}
}

// For gives the experiment behind a claim, or false.
func For(claim string) (Experiment, bool) {
	for _, e := range All() {
		if e.Claim() == claim {
			return e, true
		}
	}
	return nil, false
}

// Bench is what an experiment works with. Zero values of what shortens it mean
// the experiment's own choice.
type Bench struct {
	Clusters *cluster.Store
	Cluster  string   // that experiments on one cluster use; made when missing
	Engine   string   // for clusters that are made
	Serve    []string // command of one application-server worker (lab/run)
	Agent    []string // command of one agent that makes a part of a load (lab/agents)
	Store    *runs.Store
	Software string

	Duration    time.Duration // of one repetition
	Repetitions int
	Users       int
	Documents   int  // in the base of experiments that make one of their own
	Threads     int  // that restore at once
	Full        bool // sizes as the report had them

	// Say hears a line that stays, Step how far the experiment is (0..1). Both may be nil.
	Say  func(format string, args ...any)
	Step func(share float64, left time.Duration, note string)
}

func (b Bench) say(format string, args ...any) {
	if b.Say != nil {
		b.Say(format, args...)
	}
}

func (b Bench) step(share float64, left time.Duration, note string) {
	if b.Step != nil {
		b.Step(share, left, note)
	}
}

// rig brings up the bench's cluster with a filled base.
func (b Bench) rig(ctx context.Context) (*rig.Rig, error) {
	return rig.Up(ctx, rig.Options{
		Clusters: b.Clusters, Name: b.Cluster, Spec: cluster.Spec{Engine: b.Engine}, Say: b.say,
	})
}

// load fills in what every run of an experiment shares.
func (b Bench) load(ctx context.Context, r *rig.Rig, title string) (run.Options, error) {
	dsn := r.DSN().Secret()
	scale, err := rig.Scale(ctx, dsn)
	return run.Options{
		DSN: dsn, Serve: b.Serve, ServeEnv: []string{"PLIMSOLL_DSN=" + dsn},
		Title: title, Software: b.Software, Store: b.Store, Scale: scale, Profile: r.Profile(),
	}, err
}

// repetitions spreads the progress of one run over that of all.
func (b Bench) repetitions(k, n int, left time.Duration) func(run.Progress) {
	return func(p run.Progress) {
		note := string(p.Phase)
		if p.Scored {
			note += ", Apdex " + three(p.Apdex)
		}
		rest := p.Left + time.Duration(n-k-1)*left
		b.step((float64(k)+p.Share)/float64(n), rest, nth(k, n)+note)
	}
}
