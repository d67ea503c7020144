// Package run owns one measured run: users log in, ramp up, hold the steady
// state, drain; then the books are audited and everything known is put into one
// result.
package run

import (
	"errors"
	"fmt"
	"time"

	"plimsoll/lab/runs"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Defaults of Options, the same in every command that starts a run.
const (
	UsersDefault     = 1000
	DurationDefault  = 30 * time.Second
	RampDefault      = 10 * time.Second
	DrainDefault     = 30 * time.Second
	TimeoutDefault   = 60 * time.Second
	ThinkMeanDefault = 10 * time.Second
	SeedDefault      = 1
	WorkersDefault   = 1
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

	Users    int
	Duration time.Duration // of the steady state
	Ramp     time.Duration // None: no ramp
	Drain    time.Duration // longest wait for operations under way at the end; None: no wait
	Timeout  time.Duration // of one operation
	LagLimit time.Duration // the run is not valid when 1 of 100 operations was sent later than this
	Think    users.Think   // its Mean defaults to ThinkMeanDefault; None: no thinking
	Seed     uint64
	// Mix overrides the weights of key operations, by id. An operation that is
	// not named keeps its own; 0 takes it out.
	Mix map[string]float64

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
	// Ended hears every operation that has ended, also outside the steady state,
	// before it is counted: what a recount starts from. It is called by the loop
	// that drives the users and must not wait for anything.
	Ended func(operation string, s tally.Sample)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Users, UsersDefault)
	setDefault(&o.Workers, WorkersDefault)
	setDefault(&o.Seed, SeedDefault)
	setDefault(&o.Duration, DurationDefault)
	setDefault(&o.Timeout, TimeoutDefault)
	setDefault(&o.LagLimit, LagLimitDefault)
	setDefault(&o.Ramp, RampDefault)
	setDefault(&o.Drain, DrainDefault)
	setDefault(&o.Think.Mean, ThinkMeanDefault)
	for _, d := range []*time.Duration{&o.Ramp, &o.Drain, &o.Think.Mean} {
		if *d == None {
			*d = 0
		}
	}
	o.Think = o.Think.WithDefaults()
	return o
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

func (o Options) check(operations []users.Operation) error {
	err := o.crowd(operations).Check()
	switch {
	case o.DSN == "":
		err = errors.New("no database")
	case len(o.URLs) == 0 && len(o.Serve) == 0:
		err = errors.New("no application server: neither URLs nor a command")
	case o.Workers < 1:
		err = fmt.Errorf("%d workers: must be at least 1", o.Workers)
	}
	return problem.New(problem.Usage, err, "")
}

func (o Options) crowd(operations []users.Operation) users.Crowd {
	return users.Crowd{
		Users: o.Users, Operations: operations, Think: o.Think, Seed: o.Seed,
		Ramp: o.Ramp, Steady: o.Duration, Drain: o.Drain, Timeout: o.Timeout,
	}
}
