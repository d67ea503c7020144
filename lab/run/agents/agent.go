package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"plimsoll/ground/host/machine"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run"
	"plimsoll/platform/data/id"
)

// JoinOptions say which coordinator an agent works for.
type JoinOptions struct {
	URL    string
	Access Access
	// DSN is how this agent reaches the database, for scenarios with SQL.
	DSN string
	// Workers says how to reach the workers.
	Workers  run.Access
	Software string        // version of this program
	Wait     time.Duration // how long to wait for a coordinator that has not started; 0: no limit
	Stay     bool          // serve run after run until ctx is done
	Say      func(format string, args ...any)
	// Keep returns the file for the operations of the plan's users; nil: they are not recorded.
	Keep func(run.Plan) (Keeper, error)
}

// Keeper writes every operation of an agent to a file.
type Keeper interface {
	Add(operation string, s tally.Sample)
	End(run string, from, to time.Duration) error
}

const knockAgain = 500 * time.Millisecond

// errLost ends an agent that has lost its coordinator.
var errLost = fmt.Errorf("the coordinator was lost: no message from it for %v; the users have stopped",
	Silence)

// Join serves one run (with Stay, all runs) and returns when it is over.
func Join(ctx context.Context, o JoinOptions) error {
	for {
		err := o.serveOne(ctx)
		switch {
		case ctx.Err() != nil && o.Stay:
			return nil
		case ctx.Err() != nil:
			return problem.New(problem.Interrupted, errors.New("the agent was stopped"), "")
		case !o.Stay || problem.ClassOf(err) == problem.Usage:
			return err
		case err != nil:
			o.Say("%v", err)
		}
	}
}

// serveOne tries until a coordinator accepts the agent, and then follows its orders.
func (o JoinOptions) serveOne(ctx context.Context) error {
	knocking, cancel := ctx, context.CancelFunc(func() {})
	if o.Wait > 0 && !o.Stay {
		knocking, cancel = context.WithTimeout(ctx, o.Wait)
	}
	defer cancel()
	for first := true; ; first = false {
		again, err := o.tryJoin(ctx)
		if !again {
			return err
		}
		if first {
			o.Say("waiting for the coordinator at %s", o.URL)
		}
		select {
		case <-time.After(knockAgain):
		case <-knocking.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return problem.WithHint(err, "start the coordinator (plimsoll run --agents N), or raise --wait")
		}
	}
}

// tryJoin tries once; again reports whether trying later may help.
func (o JoinOptions) tryJoin(ctx context.Context) (again bool, err error) {
	me := whoami(o.Software)
	conn, err := dial(o.URL, me.ID, o.Access)
	if err != nil {
		return problem.ClassOf(err) == problem.Environment, err
	}
	defer conn.Close()
	a := &agent{conn: conn, hello: me, dsn: o.DSN, workers: o.Workers, keep: o.Keep}
	orders := make(chan *nats.Msg, 64)
	if _, err := conn.ChanSubscribe(ordersOf(me.ID), orders); err != nil {
		return false, err
	}
	if err := conn.Flush(); err != nil {
		return true, err
	}
	reply, err := conn.Request(helloOf(me.ID), encode(me), connectWithin)
	if err != nil {
		return true, problem.New(problem.Environment, fmt.Errorf("no coordinator at %s: %w", o.URL, err), "")
	}
	w, err := decode[welcome](reply.Data)
	switch {
	case err != nil:
		return false, err
	case w.Refused != "" && w.Later:
		return true, problem.New(problem.Environment, fmt.Errorf("the coordinator refuses this agent: %s", w.Refused),
			w.Hint)
	case w.Refused != "":
		return false, problem.New(problem.Usage, fmt.Errorf("the coordinator refuses this agent: %s", w.Refused),
			w.Hint)
	}
	o.Say("joined %s", o.URL)
	return false, a.serve(ctx, w.Coordinator, orders)
}

func whoami(software string) hello {
	host, _ := os.Hostname()
	return hello{Protocol, software, id.New().String(), host, machine.Boot(), os.Getpid(), runtime.NumCPU()}
}

// agent that a coordinator has accepted.
type agent struct {
	conn        *nats.Conn
	hello       hello
	dsn         string
	workers     run.Access
	coordinator string
	local       run.Local
	plan        run.Plan
	control     users.Control
	loggedIn    atomic.Int64
	cancel      context.CancelFunc // of the users
	busy        sync.WaitGroup
	keep        func(run.Plan) (Keeper, error)
	keeper      Keeper
	ending      Ending // from the coordinator; otherwise what this agent knows
}

// serve follows the coordinator's orders until it is ordered to leave or the coordinator is silent.
func (a *agent) serve(ctx context.Context, coordinator string, orders <-chan *nats.Msg) (err error) {
	a.coordinator = coordinator
	working, cancel := context.WithCancel(ctx)
	a.cancel = cancel
	defer func() {
		cancel()
		a.busy.Wait()
		a.local.Close()
		err = errors.Join(err, a.endKeeping())
	}()
	beats := make(chan *nats.Msg, 64)
	if _, err := a.conn.ChanSubscribe(beatsOf(coordinator), beats); err != nil {
		return err
	}
	mine := time.NewTicker(Beat)
	defer mine.Stop()
	for silent := 0; silent < SilenceMax; {
		select {
		case <-ctx.Done():
			a.report(report{Error: "it was stopped"})
			return ctx.Err()
		case <-mine.C:
			silent++
			a.report(report{LoggedIn: a.loggedIn.Load()})
		case <-beats:
			silent = 0
		case m := <-orders:
			silent = 0
			if over := a.startOrder(working, m); over {
				return a.conn.Flush()
			}
		}
	}
	return problem.New(problem.Environment, errLost, "")
}

// startOrder acknowledges an order and starts it.
func (a *agent) startOrder(ctx context.Context, m *nats.Msg) (over bool) {
	o, err := decode[order](m.Data)
	reply := answer{Now: time.Now()}
	switch {
	case err != nil:
		reply.Error = err.Error()
	case o.Do == logIn && o.Plan != nil:
		a.plan = *o.Plan
		a.plan.Access = a.workers
		if a.plan.DSN, err = a.reach(o.Database); err != nil {
			reply.Error = err.Error()
			break
		}
		a.begin(func() { a.logIn(ctx) })
	case o.Do == start:
		at := time.Now().Add(time.Until(o.At)) // from here on by the monotonic clock
		a.begin(func() { a.work(ctx, at) })
	case o.Do == steer:
		a.control.Set(o.Load)
	case o.Do == enter:
		a.begin(func() { a.enter(ctx, m, o) })
		return false
	case o.Do == stop:
		a.cancel()
	case o.Do == leave && o.Ending != nil:
		a.busy.Wait()
		a.ending = *o.Ending
	}
	_ = m.Respond(encode(reply)) // a coordinator that misses this asks again
	return o.Do == leave
}

// reach returns the agent's own connection string with the database that the order names; empty if it names none.
func (a *agent) reach(database string) (dsn string, err error) {
	switch {
	case database == "":
		return "", nil
	case a.dsn == "":
		return "", errNoDSN
	}
	return postgres.WithDatabase(a.dsn, database), nil
}

func (a *agent) begin(do func()) {
	a.busy.Add(1)
	go func() { defer a.busy.Done(); do() }()
}

func (a *agent) report(r report) {
	r.Agent = a.hello.ID
	// a page that is too large, or a closed connection, shows as silence
	_ = a.conn.Publish(reportsTo(a.coordinator, a.hello.ID), encode(r))
}

func (a *agent) fail(err error) { a.report(report{Error: err.Error(), Hint: problem.HintOf(err)}) }

func (a *agent) logIn(ctx context.Context) {
	if err := a.plan.Scenario.Prepare(); err != nil {
		a.fail(err)
		return
	}
	if err := a.fetchRows(ctx); err != nil {
		a.fail(err)
		return
	}
	if a.keep != nil {
		var err error
		if a.keeper, err = a.keep(a.plan); err != nil {
			a.fail(err)
			return
		}
		a.ending.From, a.ending.To = a.plan.Ramp, a.plan.Ramp
		a.local.Ended = a.keeper.Add
	}
	if err := a.local.LogIn(ctx, a.plan, &a.loggedIn); err != nil {
		a.fail(err)
		return
	}
	a.report(report{LoggedIn: a.loggedIn.Load(), Ready: true, Written: a.local.WrittenNews()})
}

func (a *agent) endKeeping() error {
	if a.keeper == nil {
		return nil
	}
	return a.keeper.End(a.ending.Run, a.ending.From, a.ending.To)
}

// enter answers when the users that were added during the run are logged in.
func (a *agent) enter(ctx context.Context, m *nats.Msg, o order) {
	reply := answer{Now: time.Now()}
	if err := a.local.Enter(ctx, o.From, o.To); err != nil {
		reply.Error = err.Error()
	}
	_ = m.Respond(encode(reply)) // a coordinator that misses this asks again
}

func (a *agent) work(ctx context.Context, at time.Time) {
	share := &share{from: a.plan.Ramp, to: a.plan.End(), cores: a.hello.Cores}
	done, err := a.local.WorkFrom(ctx, at, run.Watch{Control: &a.control, EachSecond: func(l users.Second) {
		share.read(l.At)
		a.report(report{Page: &l.Page, LoggedIn: a.loggedIn.Load(), Written: a.local.WrittenNews(),
			Workers: a.local.WorkersSeen()})
	}})
	if err != nil {
		a.fail(err)
		return
	}
	a.ending.To = done.Tally.To
	a.report(report{Written: a.local.WrittenNews(), Result: &agentResult{To: done.Tally.To, CPUShare: share.value(),
		Live: done.Live, Frozen: done.Frozen, Late: done.Late, Wrong: done.Wrong}})
}
