// Package run owns one measured run: users log in, ramp up, hold the steady
// state, drain; then the books are audited and everything known is put into one
// result.
package run

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/live"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
)

// WorkersDefault is how many application servers a run starts.
const WorkersDefault = 1

// SamplingOff runs without a diagnosis, to see what it costs.
const SamplingOff = -1

// Options say which load to put on which system.
type Options struct {
	load.Load

	// DSN of the ERP database: for the audit, the conditions and, when it is on
	// this machine, the server's CPU.
	DSN string

	// URLs of running application servers. If empty, Serve is started.
	URLs []string
	// Access to them.
	Access Access
	// Serve is the command of one application-server process that prints {"listening":"http://127.0.0.1:PORT"} as its
	// first line and exits on SIGTERM: {"/usr/bin/plimsoll", "serve", "--listen", "127.0.0.1:0"}.
	Serve []string
	// ServeEnv is added to its environment; a DSN with a password belongs here and not on the command line, which
	// everybody on the machine can read.
	ServeEnv []string
	// Workers is how many processes of Serve to start. Defaults to WorkersDefault.
	Workers int
	// AuditedBefore is an audit of the same books as they are now, such as that of the base this one was copied from.
	// nil: they are audited before the load.
	AuditedBefore *result.Audit
	// LagLimit makes the run invalid if more than 1 % of the operations were sent later than this. Defaults to
	// LagLimitDefault.
	LagLimit time.Duration

	// DisturbedLimit makes the run invalid if others took more than this share of the processors or of the time, or
	// worked on the same database. 0 and 1: no check.
	DisturbedLimit float64

	// Gates are conditions under which the run fails, besides those of its scenario.
	Gates []gate.Gate

	// Title, Scale and Profile are copied into the result.
	Title   string
	Scale   string // of the base, in words: "80 items, 2,000 documents"
	Profile string // of the cluster: tuned, stock
	// Software is the version of this program.
	Software string

	// DSNOrigin says in words which database DSN is, if the user did not name one: "the default cluster".
	DSNOrigin string

	// Store keeps the result; nil: it is not stored.
	Store *store.Store
	// Progress is called about once a second from one goroutine, never concurrently; a slow one misses calls and delays
	// nothing.
	Progress func(Progress)
	// Snapshot is called for every second of the load, in order, and for the rest of one at the end. The loop that
	// drives the users calls it, so it must not wait.
	Snapshot func(Snapshot)
	// Published is called once, after the last Snapshot: it ends a publication of figures and gives what went wrong
	// with it, for the result. May be nil.
	Published func() []result.Event
	// Generator generates the load. Defaults to this process.
	Generator Generator
	// Sampling is how many samples of the database's sessions the diagnosis takes in a second. 0:
	// diagnose.RateDefault; SamplingOff: there is no diagnosis.
	Sampling int
	// Live, if set, is the picture that the run keeps up to date.
	Live *live.Picture
	// Control, if set, may change the load while users are active.
	Control *LoadControl
	// UsersMost is the most users that Control may set. Defaults to Users.
	UsersMost int
	// Ended is called for every operation of this process that has ended, also outside the steady state, before it is
	// counted: recounts start from it. The loop that drives the users calls it, so it must not wait.
	Ended func(operation string, s tally.Sample)
	// Journal hears what a 1C load does; nil: nobody does.
	Journal onec.Journal
}

func (o Options) withDefaults() Options {
	o.Load = o.Load.Resolve()
	o.Workers = cmp.Or(o.Workers, WorkersDefault)
	o.LagLimit = cmp.Or(o.LagLimit, LagLimitDefault)
	return o
}

func (o Options) check() error {
	err := o.Load.Check()
	switch {
	case err != nil:
	case o.DSN == "" && o.Scenario.NeedsDatabase():
		err = errors.New("no database")
	case o.Scenario.Application != scenario.ERP && o.checkOwn() != nil:
		err = o.checkOwn()
	case o.Scenario.Application != scenario.ERP: // it needs no servers, and no secret of theirs
	case len(o.URLs) == 0 && len(o.Serve) == 0:
		err = errors.New("no application server: neither --url nor a command to start one")
	case o.Ended != nil && o.Generator != nil:
		err = errors.New("--samples cannot record operations of agents that run elsewhere")
	case o.Workers < 1:
		err = fmt.Errorf("%d workers: must be at least 1", o.Workers)
	default:
		return o.Access.Check(o.URLs)
	}
	return problem.New(problem.Usage, err, "")
}

func (o Options) checkOwn() error {
	s := o.Scenario
	if custom.NeedsBase(s.Own, s.Actions()) && s.Own.Base == "" && len(o.URLs) == 0 {
		return errors.New("the requests have no address: set base in [http] or --url")
	}
	return nil
}

// plan of the load on the application servers given.
func (o Options) plan(urls []string) Plan {
	p := Plan{Load: o.Load, UsersMost: o.usersMost(), URLs: urls, Access: o.Access, Journal: o.Journal}
	if o.Scenario.SpeaksSQL() {
		p.DSN = o.DSN
	}
	if o.Scenario.Application != scenario.ERP {
		p.URLs = o.URLs
	}
	return p
}

func (o Options) generator() Generator {
	if o.Generator != nil {
		return o.Generator
	}
	return &Local{Ended: o.Ended}
}

// usersMost is how many users there may be at once.
func (o Options) usersMost() int {
	if o.Control == nil || o.Arrivals != nil || o.Scenario.Staged() {
		return o.Users
	}
	return max(o.Users, o.UsersMost)
}
