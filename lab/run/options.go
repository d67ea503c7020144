// Package run owns one measured run: users log in, ramp up, hold the steady
// state, drain; then the books are audited and everything known is put into one
// result.
package run

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"plimsoll/lab/live"
	"plimsoll/lab/own"
	"plimsoll/lab/runs"
	"plimsoll/lab/scenario"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Defaults of Options, the same in every command that starts a run.
const (
	DurationDefault = 30 * time.Second
	RampDefault     = 10 * time.Second
	DrainDefault    = 30 * time.Second
	TimeoutDefault  = 60 * time.Second
	SeedDefault     = 1
	WorkersDefault  = 1
)

// None stands for a zero that is meant, where zero itself means the default.
const None = time.Duration(-1)

// Options say what to run against what. Zero values take the defaults.
type Options struct {
	// DSN of the ERP database: for the audit, the conditions and, when it is on
	// this machine, the server's CPU.
	DSN string

	// URLs of application servers that run already. When empty, Serve is started.
	URLs []string
	// Serve is the command of one application-server process that prints
	// {"listening":"http://127.0.0.1:PORT"} as its first line and leaves on
	// SIGTERM: {"/usr/bin/plimsoll", "serve", "--listen", "127.0.0.1:0"}.
	Serve []string
	// ServeEnv is added to its environment; a DSN with a password belongs here
	// and not on the command line, which everybody on the machine can read.
	ServeEnv []string
	// Workers is how many processes of Serve to start.
	Workers int

	Users    int           // Defaults to the scenario's.
	Duration time.Duration // of the steady state
	Ramp     time.Duration // None: no ramp
	Drain    time.Duration // longest wait for operations under way at the end; None: no wait
	Timeout  time.Duration // of one operation
	LagLimit time.Duration // the run is not valid when 1 of 100 operations was sent later than this
	Seed     uint64
	// Scenario is what the users do. Defaults to scenario.Default().
	Scenario *scenario.Scenario
	// Think, when its Mean is not zero, goes before what the scenario says of all
	// roles; a Mean of None is no thinking.
	Think users.Think
	// Arrivals make the model open: Users are then the sessions that take the operations.
	Arrivals *users.Arrivals

	// Title, Scale and Profile are carried into the result.
	Title   string
	Scale   string // of the base, in words: "80 items, 2,000 documents"
	Profile string // of the cluster: tuned, stock
	// Software is the version of Plimsoll that runs.
	Software string

	// Store keeps the result; nil keeps it nowhere.
	Store *runs.Store
	// Progress is called about once a second from one goroutine, never twice at
	// the same time; a slow one misses calls and delays nothing.
	Progress func(Progress)
	// Live, if not nil, is the picture that the run keeps up to date.
	Live *live.Picture
	// Hand, if not nil, may change the load while users are at work.
	Hand *Hand
	// UsersMost is how many there may be by hand. Defaults to Users.
	UsersMost int
	// Ended hears every operation that has ended, also outside the steady state,
	// before it is counted: what a recount starts from. It is called by the loop
	// that drives the users and must not wait for anything.
	Ended func(operation string, s tally.Sample)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Scenario, scenario.Default())
	setDefault(&o.Users, o.Scenario.Users())
	setDefault(&o.Workers, WorkersDefault)
	setDefault(&o.Seed, SeedDefault)
	setDefault(&o.Duration, DurationDefault)
	setDefault(&o.Timeout, TimeoutDefault)
	setDefault(&o.LagLimit, LagLimitDefault)
	setDefault(&o.Ramp, RampDefault)
	setDefault(&o.Drain, DrainDefault)
	for _, d := range []*time.Duration{&o.Ramp, &o.Drain} {
		if *d == None {
			*d = 0
		}
	}
	return o
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (o Options) check() error {
	err := o.crowd().Check()
	switch {
	case o.DSN == "" && o.Scenario.NeedsDatabase():
		err = errors.New("no database")
	case o.Scenario.Application == scenario.NoERP:
		err = cmp.Or(err, o.checkOwn())
	case len(o.URLs) == 0 && len(o.Serve) == 0:
		err = errors.New("no application server: neither URLs nor a command")
	case o.Workers < 1:
		err = fmt.Errorf("%d workers: must be at least 1", o.Workers)
	}
	return problem.New(problem.Usage, err, "")
}

func (o Options) checkOwn() error {
	s := o.Scenario
	if own.NeedsBase(s.Own, s.Actions()) && s.Own.Base == "" && len(o.URLs) == 0 {
		return errors.New("the requests have no address: neither base in [http] nor URLs")
	}
	return nil
}

func (o Options) crowd() users.Crowd {
	c := o.Scenario.Crowd(o.Users, o.thinkGiven())
	c.Arrivals = o.Arrivals
	c.Seed, c.Ramp, c.Steady, c.Drain, c.Timeout = o.Seed, o.Ramp, o.Duration, o.Drain, o.Timeout
	c.UsersMost = o.usersMost()
	return c
}

// usersMost is how many users there may be at once.
func (o Options) usersMost() int {
	if o.Hand == nil || o.Arrivals != nil {
		return o.Users
	}
	return max(o.Users, o.UsersMost)
}

// thinkGiven is what goes before the scenario's think times; nil: nothing.
func (o Options) thinkGiven() *users.Think {
	if o.Think.Mean == 0 {
		return nil
	}
	think := o.Think
	think.Mean = max(0, think.Mean) // None
	think = think.WithDefaults()
	return &think
}
