package line

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// A trial with a recorded time plays it once, on a new copy of the base. N users are its sessions with pauses that are
// shorter in the same proportion: of S sessions that think for Z, N/S times as fast,
//
//	X = S / (R + Z·S/N)  ≈  N / (R·N/S + Z)
//
// which is what N users do while answers are short against pauses. Nothing is played twice in a trial: the second time
// an INSERT meets its own row.

// Replayed is the recorded time whose sessions are the users of a plan.
type Replayed struct {
	*replay.Recording
	Sessions float64 `json:"sessions"` // open at once, on average
	LengthS  float64 `json:"length_s"`
}

// readLog reads what is to be played again. The search sets the pace, and begins with as many users as the log has.
func (q *Request) readLog(ctx context.Context) (err error) {
	for _, one := range system.IdleWithReplay(len(q.Log.Paths) > 0, "agents", "lag-limit", "seed", "configurations",
		"control", "url") {
		if err := one.Refuse(q.System.Flags); err != nil {
			return err
		}
	}
	if len(q.Log.Paths) == 0 {
		return nil // a caller may have read the log
	}
	if !slices.Contains(q.System.Flags, "from") {
		q.First = 0
	}
	q.Log.Speed = "1"
	q.Replay, err = q.Log.Load(ctx)
	return err
}

// replayed reads how long the log is, and how many sessions it has.
func (q *Request) replayed(ctx context.Context) (y system.System, err error) {
	e, err := replay.ExtentOf(ctx, *q.Replay)
	if err != nil {
		return y, err
	}
	q.extent = e
	if q.First == 0 {
		q.First = min(q.Most, int(math.Ceil(e.Sessions)))
	}
	y = system.System{Target: q.System.Target, Run: q.System.Run}
	y.Run.Scenario = &scenario.Scenario{Name: "replay", Application: scenario.NoERP}
	y.Run.Think, y.Run.Ramp, y.Run.Duration = &users.Think{}, 0, e.Length
	if y.Target == (system.Target{}) {
		err = problem.New(problem.Usage, errors.New("a replay needs a copy of the base"),
			"name it by --cluster or --dsn; 'plimsoll clone' makes one")
	}
	return y, err
}

// toDatabase of the log, on a cluster.
func (q *Request) toDatabase() {
	if q.Replay != nil && q.System.DSN == "" {
		q.Run.DSN = postgres.WithDatabase(q.Run.DSN, q.Replay.Database)
	}
}

// pace of a trial, times that of the log.
func (s *search) pace(users int) float64 { return float64(users) / s.extent.Sessions }

func (s *search) replayedPlan() *Replayed {
	if s.Replay == nil {
		return nil
	}
	return &Replayed{s.Replay.Recording(), s.extent.Sessions, s.extent.Length.Seconds()}
}

// replay is a trial that plays the log.
func (s *search) replay(ctx context.Context, a attempt, dsn string) (t Trial, err error) {
	began := time.Now()
	o := *s.Replay
	o.DSN, o.Speed = dsn, s.pace(a.users)
	sessions := waits.Watch(ctx, dsn)
	o.Progress = func(what string, share float64, left time.Duration) {
		sessions.During(what == "replay")
		s.report(Progress{Trial: len(s.Trials) + 1, Purpose: a.purpose, Users: a.users,
			Run: run.Progress{Phase: run.Phase(what), Share: share, Left: left}})
	}
	r, err := replay.Run(ctx, o)
	profile := sessions.End()
	switch {
	case err != nil && !errors.Is(err, replay.ErrStandstill):
		return t, err
	case r.Stopped != "":
		return t, context.Canceled
	}
	t = s.trialOfReplay(r, a)
	if err != nil {
		t.Outcome, t.Why = Fails, err.Error()
	}
	t.Started, t.Waits, t.TookS = began.UTC().Truncate(time.Millisecond), mostFrequent(profile),
		time.Since(began).Seconds()
	return t, nil
}

// behindMost is how much longer than planned a replay may take, besides behindLeast: beyond that its sessions did not
// keep the pace, so that it was a load of fewer users.
const (
	behindMost  = 1.25
	behindLeast = 2 * time.Second
)

// trialOfReplay judges a replay. Its length is that of the log, so it is never repeated longer.
func (s *search) trialOfReplay(r *replay.Result, a attempt) Trial {
	t := Trial{Users: a.users, Purpose: a.purpose, Longer: lengthenMost, Again: voidRepeats(s.Trials),
		DurationS: r.LastedS, Valid: r.Fidelity.Faithful(), Drift: Drift{Growth: 1, P: 1}}
	due := s.extent.Length.Seconds() / s.pace(a.users)
	if score := r.Replayed; score != nil {
		t.Apdex, t.Interval = &score.Apdex, &score.Interval
		t.Operations = score.Calls
		t.OpsPerS = float64(score.Calls) / max(r.LastedS, 1e-9)
	}
	switch {
	case !r.Fidelity.Faithful():
		t.Outcome, t.Why = Void, "the replay is not faithful: "+r.Says()
	case t.Apdex == nil:
		t.Outcome, t.Why = Void, "no operation to score"
	case *t.Apdex < s.Target && t.Interval.High < s.Target:
		t.Outcome, t.Why = Fails, "Apdex below the target"
	case r.LastedS > due*behindMost+behindLeast.Seconds():
		t.Outcome, t.Why = Fails, fmt.Sprintf("its sessions did not keep the pace: %.0f s, not %.0f", r.LastedS, due)
	case *t.Apdex < s.Target:
		t.Outcome, t.Why = Undecided, fmt.Sprintf("Apdex below the target, but its interval reaches it, %s to %s",
			apdex.Text(t.Interval.Low), apdex.Text(t.Interval.High))
	default:
		t.Outcome = Passes
	}
	return t
}

// String says what it is, and what its users are.
func (r *Replayed) String() string {
	return fmt.Sprintf("a replay of %s: its %.3g sessions at once are as many users, N users are N/%.3g times its "+
		"pace, with pauses that much shorter", r.Log, r.Sessions, r.Sessions)
}
