package run

import (
	"cmp"
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
	r := &running{Options: o, crowd: crowd, operations: crowd.Operations, generator: o.generator(), board: newBoard(o.Progress), began: time.Now()}
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
	journal    *journal
	rested     bool // a journal that was read goes to the end of the load
	began      time.Time
	id         string

	before, after *postgres.Server
	// what the workers tell of themselves
	toldBefore, toldAfter told
	crew                  *crew
	generator             Generator
	meter                 *meter
	made                  Made
	tally                 *tally.Tally // of made
	rampBegan             time.Time
	stoppedByHand         bool
	changes               []users.Change
	audit                 result.Audit
	verdict               verdict
}

func (r *running) run(ctx context.Context) (all *result.Result, err error) {
	if err := r.reserve(); err != nil {
		return nil, err
	}
	if r.journal, err = r.mark(ctx); err != nil {
		return nil, err
	}
	// Where the result could not be kept, the journal is what is left of the run.
	defer func() { r.journal.close(all != nil && err != nil) }()
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
		err = r.checkDatabase()
	}
	if err != nil && r.crew != nil {
		r.crew.stop()
	}
	return err
}

// checkDatabase refuses workers whose database is another than the one that is audited and described: the
// verdict would be about books that nobody wrote in.
func (r *running) checkDatabase() error {
	if r.before == nil {
		return nil
	}
	if urls := r.toldBefore.elsewhere(r.before.Database); len(urls) > 0 {
		return problem.New(problem.Usage, fmt.Errorf("the application server %s works on another database than the one that would be audited", urls[0]),
			"name its database: --cluster NAME or --dsn")
	}
	return nil
}

// load logs the users in and lets them work.
func (r *running) load(ctx context.Context) (err error) {
	defer r.generator.Close()
	if err := r.logIn(ctx); err != nil {
		return problem.New(problem.Environment, err, cmp.Or(problem.HintOf(err), r.crew.lastWords()))
	}
	defer r.feed.watch(ctx, r.DSN, r.crew.urls())()
	r.meter = &meter{told: r.tellShares, workers: r.crew.pids(), postmaster: r.postmaster(), cores: runtime.NumCPU(), clocks: clocks{read: readClocks, tell: r.feed.say}}
	working, stop := context.WithCancel(ctx)
	defer stop()
	r.crew.watch(stop)
	r.journal.open(r.opening(), r.feed.say)
	r.made, err = r.generator.Work(working, r.watched(working, stop))
	r.stoppedByHand = r.letGo() || ctx.Err() != nil
	r.tally = r.made.Tally
	if r.meter.stopped != nil {
		r.meter.stop()
	}
	return err
}

// logIn opens the sessions of all users.
func (r *running) logIn(ctx context.Context) error {
	r.begin(Login, r.Ramp+r.Duration+logInGuess(r.Users)+auditGuess)
	defer r.feed.logIns(&r.board.loggedIn)()
	return r.generator.LogIn(ctx, r.plan(r.crew.urls()), &r.board.loggedIn)
}

// watched is how the run guides the generator and hears of it.
func (r *running) watched(working context.Context, end context.CancelFunc) Watch {
	w := Watch{Look: r.look(), Alarm: func(text string) { r.feed.say(live.Alarm, text) }}
	grip := r.grip(working, end, &w)
	w.Began = func() {
		r.rampBegan = time.Now()
		r.feed.rampBegins()
		r.meter.start()
		r.begin(phaseAt(0, r.Ramp, r.Ramp+r.Duration), leftAt(0, r.Options))
		if grip != nil {
			r.Hand.take(grip)
		}
	}
	return w
}

// begin a phase, for all who look on.
func (r *running) begin(phase Phase, left time.Duration) {
	r.board.begin(phase, left)
	r.feed.begin(phase, left)
}

// postmaster of the database, if it is on this machine.
func (r *running) postmaster() int {
	if r.before == nil {
		return 0
	}
	return r.before.Postmaster
}

// keep puts the result together and stores it.
func (r *running) keep() (*result.Result, error) {
	all := r.result()
	if r.Store == nil {
		return all, nil
	}
	return all, r.Store.Save(all)
}
