package line

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/test/patience"
)

// simulated is a generator with no server behind it. It needs no time, and no machine is too slow for it: up to a
// number of users all are satisfied, beyond it nobody is.
type simulated struct {
	carries func(run.Plan) int
	during  func(context.Context, run.Plan) // while users act; nil: nothing happens
	wrong   []string
	plan    run.Plan
}

// simulatedOps of a trial are more than a verdict needs.
const simulatedOps = run.OpsMin + 20

func (s *simulated) LogIn(_ context.Context, plan run.Plan, done *atomic.Int64) error {
	s.plan = plan
	done.Store(int64(plan.Users))
	return nil
}

func (s *simulated) Enter(context.Context, int, int) error { return nil }

func (s *simulated) Close() {}

func (s *simulated) Work(ctx context.Context, w run.Watch) (made run.LoadResult, err error) {
	w.Began()
	if s.during != nil {
		s.during(ctx, s.plan)
	}
	made.Wrong = s.wrong
	made.Tally, err = s.count()
	return made, err
}

// count what users do who are due evenly over the steady state.
func (s *simulated) count() (*tally.Tally, error) {
	crowd := s.plan.Crowd()
	t := users.NewTally(crowd.Operations, crowd.Ramp, crowd.Ramp+crowd.Steady)
	latency := crowd.Operations[0].Target / 2
	if crowd.Users > s.carries(s.plan) {
		latency = 5 * crowd.Operations[0].Target
	}
	counted := 0
	for second := time.Second; counted < simulatedOps || second <= t.To; second += time.Second {
		for ; counted < simulatedOps; counted++ {
			due := t.From + crowd.Steady*time.Duration(counted)/simulatedOps
			if due+latency >= second {
				break
			}
			t.Count(tally.Sample{User: counted % crowd.Users, Due: due, Sent: due, Done: due + latency})
		}
		if _, err := t.Tick(crowd.Users, 1, 0); err != nil {
			return nil, err
		}
	}
	_, err := t.Close(crowd.Users, 1, 0)
	return t, err
}

// simulate the trials of a search: every user up to a number is satisfied.
func (o *Options) simulate(carries int) {
	o.NewGenerator = func(context.Context, string) (run.Generator, func(), error) {
		return &simulated{carries: func(run.Plan) int { return carries }}, func() {}, nil
	}
}

// mishaps befall the simulated trials of the numbers given, counted from 1, whatever they show.
func (o *Options) mishaps(trials ...int) {
	o.inTrials(func(s *simulated, trial int) {
		if slices.Contains(trials, trial) {
			s.wrong = append(s.wrong, "something fell over")
		}
	})
}

// inTrials does something to the simulated trials, counted from 1.
func (o *Options) inTrials(do func(s *simulated, trial int)) {
	generators, before := 0, o.NewGenerator
	o.NewGenerator = func(ctx context.Context, dsn string) (run.Generator, func(), error) {
		g, dismiss, err := before(ctx, dsn)
		generators++
		do(g.(*simulated), generators)
		return g, dismiss, err
	}
}

// sleepWatched keeps a session of the database asleep until the search has looked at it.
func sleepWatched(ctx context.Context, t *testing.T, dsn string) {
	t.Helper()
	sleeper, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer sleeper.Close(context.WithoutCancel(ctx))
	pid, woken := sleeper.PgConn().PID(), make(chan struct{})
	go func() {
		defer close(woken)
		_, _ = sleeper.Exec(ctx, "SELECT pg_sleep(3600)")
	}()
	// Of what began after the session fell asleep, the first look is over when the second begins. The first one of all
	// begins twice: its statement is prepared, then executed.
	const looksSQL = `SELECT coalesce(max(extract(epoch FROM look.query_start)), 0)::float8
		FROM pg_stat_activity look, pg_stat_activity sleeper
		WHERE look.datname = current_database() AND look.application_name = 'plimsoll waits'
			AND look.query LIKE '-- Active sessions, by what they wait for%'
			AND sleeper.pid = $1 AND sleeper.wait_event = 'PgSleep' AND look.query_start > sleeper.query_start`
	looks := map[float64]bool{}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if !patience.Holds(func() bool {
		var began float64
		if err := conn.QueryRow(ctx, looksSQL, pid).Scan(&began); err != nil {
			t.Error(err)
			return true
		}
		if began > 0 {
			looks[began] = true
		}
		return len(looks) >= 3
	}) {
		t.Error("nobody looked at the session that sleeps")
	}
	if _, err := conn.Exec(ctx, "SELECT pg_cancel_backend($1)", pid); err != nil {
		t.Error(err)
	}
	<-woken
}
