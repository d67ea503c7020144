package run

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

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
	audit                 result.Audit
	verdict               verdict
}

func (r *running) run(ctx context.Context) (*result.Result, error) {
	if err := r.reserve(); err != nil {
		return nil, err
	}
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
	r.board.begin(Starting, r.Ramp+r.Duration+logInGuess(r.Users)+auditGuess)
	if r.DSN != "" {
		if r.before, err = postgres.Look(ctx, r.DSN); err != nil {
			return problem.New(problem.Environment, err, "is it running? `plimsoll up` starts one; `plimsoll status` lists them")
		}
	}
	if r.crew, err = r.hire(ctx); err == nil {
		r.toldBefore = ask(ctx, r.crew.urls())
	}
	return err
}

// load logs the users in and lets them work.
func (r *running) load(ctx context.Context) (err error) {
	defer r.generator.Close()
	r.board.begin(Login, r.Ramp+r.Duration+logInGuess(r.Users)+auditGuess)
	if err := r.generator.LogIn(ctx, r.plan(r.crew.urls()), &r.board.loggedIn); err != nil {
		return problem.New(problem.Environment, err, cmp.Or(problem.HintOf(err), r.crew.lastWords()))
	}
	r.meter = &meter{workers: r.crew.pids(), postmaster: r.postmaster(), cores: runtime.NumCPU()}
	working, stop := context.WithCancel(ctx)
	defer stop()
	r.crew.watch(stop)
	r.made, err = r.generator.Work(working, r.beginRamp, r.look())
	r.stoppedByHand = ctx.Err() != nil
	r.tally = r.made.Tally
	if r.meter.stopped != nil {
		r.meter.stop()
	}
	return err
}

func (r *running) beginRamp() {
	r.rampBegan = time.Now()
	r.meter.start()
	r.board.begin(phaseAt(0, r.Options), leftAt(0, r.Options))
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
