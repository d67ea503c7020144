package run

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"plimsoll/lab/live"
	"plimsoll/lab/postgres"
	"plimsoll/lab/result"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Run makes one run.
//
// The error is for runs that could not be made at all (bad options, no database,
// worker that never came up: result nil) or whose result could not be kept
// (result not nil). What goes wrong once users are at work is in the result:
// valid false, with reasons. When ctx is cancelled in mid-run, the result holds
// what was measured until then and the error is nil.
func Run(ctx context.Context, o Options) (*result.Result, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("plan run: %w", err)
	}
	crowd := o.crowd()
	r := &running{Options: o, crowd: crowd, operations: crowd.Operations, board: newBoard(o.Progress), began: time.Now()}
	defer r.board.close()
	return r.run(ctx)
}

// running is one run under way.
type running struct {
	Options
	crowd      users.Crowd
	operations []users.Operation
	board      *board
	feed       feed
	began      time.Time
	id         string

	before, after *postgres.Server
	// what the workers tell of themselves
	toldBefore, toldAfter told
	crew                  *crew
	cast                  *cast
	meter                 *meter
	tally                 *tally.Tally
	rampBegan             time.Time
	bytesPerUser          float64
	stoppedByHand         bool
	changes               []users.Change
	audit                 result.Audit
	verdict               verdict
}

func (r *running) run(ctx context.Context) (*result.Result, error) {
	if err := r.reserve(); err != nil {
		return nil, err
	}
	r.feed = r.newFeed()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	defer r.crew.stop()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	r.inspect(ctx)
	return r.keep()
}

// reserve takes the run's place in the store, where its workers' logs go as well.
func (r *running) reserve() (err error) {
	if r.Store == nil {
		r.id = "unkept"
		return nil
	}
	r.id, err = r.Store.Begin(r.began, r.Users)
	return err
}

// open looks at the server and gets the workers up.
func (r *running) open(ctx context.Context) (err error) {
	r.begin(Starting, r.Ramp+r.Duration+logInGuess(r.Users)+auditGuess)
	if r.DSN != "" {
		if r.before, err = postgres.Look(ctx, r.DSN); err != nil {
			return problem.New(problem.Environment, err, "is it running? `plimsoll up` starts one; `plimsoll status` lists them")
		}
	}
	if r.crew, err = r.hire(ctx); err == nil {
		r.crew.tell = func(text string) { r.feed.say(live.Alarm, text) }
		r.toldBefore = ask(ctx, r.crew.urls())
	}
	return err
}

// load logs the users in and lets them work.
func (r *running) load(ctx context.Context) error {
	empty := liveBytes()
	if err := r.logIn(ctx); err != nil {
		return problem.New(problem.Environment, err, r.crew.lastWords())
	}
	defer r.cast.close()
	r.meter = &meter{told: r.feed.shares, workers: r.crew.pids(), postmaster: r.postmaster(), cores: runtime.NumCPU()}
	working, stop := context.WithCancel(ctx)
	defer stop()
	r.crew.watch(stop)
	r.rampBegan = time.Now()
	r.feed.rampBegins()
	r.meter.start()
	defer r.meter.stop()

	defer r.feed.watch(ctx, r.DSN, r.crew.urls())()
	r.begin(phaseAt(0, r.Ramp, r.Ramp+r.Duration), leftAt(0, r.Options))
	var err error
	r.tally, err = r.hear(r.handed(working, stop)).Run(working, r.cast)
	r.stoppedByHand = r.letGo() || ctx.Err() != nil
	r.bytesPerUser = max(0, (liveBytes()-empty)/float64(r.Users))
	return err
}

// begin a phase, for all who look on.
func (r *running) begin(phase Phase, left time.Duration) {
	r.board.begin(phase, left)
	r.feed.begin(phase, left)
}

// hear lets those who look on hear of the crowd.
func (r *running) hear(crowd users.Crowd) users.Crowd {
	board := r.board.watch(r.Options)
	crowd.Look = func(l users.Look) {
		board(l)
		r.feed.second(l) // it belongs to the phase that was, not to the one that begins
		r.feed.begin(phaseAt(l.At, l.Tally.From, l.Tally.To), leftAt(l.At, r.Options))
	}
	crowd.Ended = func(s tally.Sample) {
		r.feed.count(s)
		if r.Ended != nil {
			r.Ended(r.operations[s.Operation].ID, s)
		}
	}
	return crowd
}

func (r *running) logIn(ctx context.Context) (err error) {
	r.begin(Login, r.Ramp+r.Duration+logInGuess(r.Users)+auditGuess)
	if r.cast, err = r.newCast(ctx); err != nil {
		return err
	}
	defer r.feed.logIns(&r.board.loggedIn)()
	if err = users.LogIn(ctx, 0, r.Users, r.cast, &r.board.loggedIn); err != nil {
		r.cast.close()
	}
	return err
}

// postmaster of the database, if it is on this machine.
func (r *running) postmaster() int {
	if r.before == nil {
		return 0
	}
	return r.before.Postmaster
}

// liveBytes is memory in use after a collection: heap and stacks.
func liveBytes() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// keep puts the result together and stores it.
func (r *running) keep() (*result.Result, error) {
	all := r.result()
	if r.Store == nil {
		return all, nil
	}
	return all, r.Store.Save(all)
}
