package compare

import (
	"context"
	"errors"
	"slices"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// readLog reads what is to be played again. Its metric is the Apdex, unless another one is asked for.
func (q *Request) readLog(ctx context.Context) (err error) {
	for _, one := range system.IdleWithReplay(len(q.Log.Paths) > 0) {
		if err := one.Refuse(q.System.Flags); err != nil {
			return err
		}
	}
	if len(q.Log.Paths) == 0 {
		return nil // a caller may have read the log
	}
	if !slices.Contains(q.System.Flags, "metric") {
		q.Metric = "apdex"
	}
	q.Replay, err = q.Log.Load(ctx)
	return err
}

// replaySystem is a side on which a log is replayed: a database, and no load.
func (q *Request) replaySystem(f SideSpec) (y system.System, err error) {
	if f.Scenario != "" || f.URL != "" || len(f.Tweaks) > 0 {
		return y, problem.New(problem.Usage, errors.New("a replay has no scenario, URL or shape"), "leave it out")
	}
	y.Run.Scenario = &scenario.Scenario{Name: "replay", Application: scenario.NoERP}
	y.Run.Think, y.DSN = &users.Think{}, f.DSN
	if f.System != "" {
		if y, err = y.On(f.System); err != nil {
			return y, err
		}
	}
	if y.Reset = f.Reset; y.Reset == "" {
		y.Reset = q.Reset
	}
	if y.Reset == system.ResetAuto && (f.Restore != "" || f.DSN != "") {
		y.Reset = system.ResetNone // its owner restores it, or nobody may reset it
	}
	return y, nil
}

// toDatabase makes clusters' connections those of the log's database.
func (o *Options) toDatabase() {
	for i := range o.Sides {
		if side := &o.Sides[i]; o.Replay != nil && side.Cluster != "" {
			side.Run.DSN = postgres.WithDatabase(side.Run.DSN, o.Replay.Database)
		}
	}
}

// replay makes one run that plays the log again. An unfaithful one ends the comparison: its figures would say something
// about another load.
func (s *comparing) replay(ctx context.Context, r *Replica, dsn string) error {
	o := *s.Replay
	o.DSN = dsn
	o.Progress = func(what string, share float64, left time.Duration) {
		s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round,
			Run: run.Progress{Phase: run.Phase(what), Share: share, Left: left}})
	}
	made, err := replay.Run(ctx, o)
	switch {
	case err != nil:
		return err
	case made.Stopped != "":
		return context.Canceled
	case !made.Fidelity.Faithful():
		return problem.New(problem.Threshold, errors.New(made.Says()),
			"the base must be as it was when the log began: 'plimsoll replay' shows what differs")
	}
	f := figuresOfReplay(made)
	r.Figures, r.HigherBetter = f, []string{asInTheLog}
	return f.decide(s.Metric, "a replay has")
}

// asInTheLog is the share of statements that did what they had done.
const asInTheLog = "statements_as_in_the_log"

// figuresOfReplay are those of a run, as far as a replay has them.
func figuresOfReplay(r *replay.Result) figures {
	f := figures{}
	same := r.Fidelity.AsInTheLog()
	f.set("", asInTheLog, &same)
	if r.Replayed == nil {
		return f
	}
	f.set("", "apdex", &r.Replayed.Apdex)
	for _, op := range r.Replayed.Operations {
		n, p50, p95 := float64(op.N), 1000*op.P50S, 1000*op.P95S
		f.set(op.Name, weight, &n)
		f.set(op.Name, "apdex", &op.Apdex)
		f.set(op.Name, "latency_ms_p50", &p50)
		f.set(op.Name, "latency_ms_p95", &p95)
	}
	return f
}
