package line

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// Options of a search.
type Options struct {
	// Run configures each trial; the search sets Users, Seed and Title.
	Run run.Options
	// NewGenerator, unless nil, starts the generator of one trial and returns how to stop it. Without it this process
	// generates the load.
	NewGenerator func(context.Context) (g run.Generator, dismiss func(), err error)
	// Configuration is the name of the system if several are searched (FindAll).
	Configuration string
	// Control searches the first of several systems again, as an A/A control.
	Control bool
	Target  float64
	Bounds
	Reset  Reset
	Budget time.Duration // start no trial that would end later; 0: no limit
	Resume bool          // continue the newest search of the same plan
	Store  *Store        // nil: nothing is stored
	// Progress is called when a trial begins and when it ends.
	Progress func(Progress)
}

// Progress of a search.
type Progress struct {
	Configuration string // "" for a single system
	Trial         int
	Purpose       Purpose
	Users         int
	Ended         *Trial // the trial that just ended; nil while one is under way
	Left          time.Duration
	Share         float64 // 0..1 of the whole search, estimated
	Run           run.Progress
}

// Reasons for which a search stops early.
const (
	ByUser   = "by hand" // the value in stored searches
	ByBudget = "budget"
)

// dropWithin bounds the removal of the database copy at the end, also after Ctrl-C.
const dropWithin = time.Minute

// search is a search under way.
type search struct {
	Options
	*Line
	dsn   string
	began time.Time
	// audited is the audit before the first trial, where all begin with a copy of the same books.
	audited *result.Audit
	server  *identity.Identity // nil: no database is known
}

// Find searches for the load line. The Line also holds what was found before an error or a cancellation of ctx; it is
// nil only if the search could not begin.
func Find(ctx context.Context, o Options) (*Line, error) {
	s, err := newSearch(ctx, o, time.Now())
	if err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	err = s.all(ctx)
	if dropped := s.drop(ctx); err == nil {
		err = dropped
	}
	if err != nil && s.Stopped == "" {
		s.Stopped = err.Error()
	}
	return s.Line, errors.Join(err, s.keep())
}

func newSearch(ctx context.Context, o Options, began time.Time) (s *search, err error) {
	s = &search{Options: o, dsn: o.Run.DSN, began: began}
	if s.Reset, err = o.Reset.Choose(ctx, o.Run.Scenario, s.dsn, len(o.Run.URLs) > 0); err != nil || s.dsn == "" {
		return s, err
	}
	server, err := identity.Of(ctx, s.dsn)
	s.server = &server
	return s, err
}

func (s *search) plan() Plan {
	r := s.Run
	return Plan{
		Target: s.Target, Bounds: s.Bounds, DurationS: r.Duration.Seconds(), RampS: r.Ramp.Seconds(),
		TimeoutS: r.Timeout.Seconds(), ThinkS: r.ThinkS(), Seed: r.Seed, Scenario: r.Scenario.Name,
		Digest: r.Scenario.Digest(), Reset: s.Reset,
		Workers: r.Workers, Profile: r.Profile, Configuration: s.Configuration,
		Serve: strings.Join(r.Serve[min(1, len(r.Serve)):], " "), URLs: withoutSecrets(r.URLs), Server: s.server,
		Program: r.Software,
	}
}

// withoutSecrets are the URLs as they may be stored.
func withoutSecrets(urls []string) (all []string) {
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil {
			u.User, u.RawQuery = nil, ""
			text = u.String()
		}
		all = append(all, text)
	}
	return all
}

// begin starts a new search or resumes the old one.
func (s *search) begin() (err error) {
	if s.Resume && s.Store != nil {
		if s.Line, err = s.Store.unfinished(s.plan()); err != nil {
			return err
		}
		s.Stopped = ""
		return nil
	}
	s.Line = s.newLine()
	if s.Store != nil {
		s.ID, err = s.Store.begin(s.began)
	}
	return err
}

func (s *search) newLine() *Line {
	return &Line{Schema: Schema, ID: "unkept", Title: s.Run.Title, Started: s.began.UTC().Truncate(time.Millisecond),
		Plan: s.plan(), Trials: []Trial{}}
}

func (s *search) all(ctx context.Context) error {
	for {
		if more, err := s.step(ctx); err != nil || !more {
			return err
		}
	}
}

// step runs the next trial; false: none is left, or no time for it.
func (s *search) step(ctx context.Context) (more bool, err error) {
	purpose, users, longer := s.Bounds.Next(s.Trials)
	if users == 0 {
		return false, nil
	}
	if s.Budget > 0 && time.Since(s.began)+s.takes(users, longer) > s.Budget {
		s.Stopped = ByBudget
		return false, nil
	}
	t, err := s.try(ctx, purpose, users, longer)
	if ctx.Err() != nil {
		s.Stopped = ByUser
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.Trials = append(s.Trials, *t)
	if err := s.keep(); err != nil {
		return false, err
	}
	s.report(Progress{Trial: len(s.Trials), Purpose: purpose, Users: users, Ended: t})
	return true, nil
}

// try runs one trial.
func (s *search) try(ctx context.Context, purpose Purpose, users, longer int) (*Trial, error) {
	began := time.Now()
	dsn, err := s.Reset.Before(ctx, s.dsn, s.Run.Scenario)
	if err != nil {
		return nil, err
	}
	o := s.runOptions(dsn, purpose, users, longer)
	if s.NewGenerator != nil {
		g, dismiss, err := s.NewGenerator(ctx)
		if err != nil {
			return nil, err
		}
		defer dismiss()
		o.Generator = g
	}
	sessions := waits.Watch(ctx, dsn)
	o.Progress = func(p run.Progress) {
		sessions.During(p.Phase == run.Steady)
		s.report(Progress{Trial: len(s.Trials) + 1, Purpose: purpose, Users: users, Run: p})
	}
	r, err := run.Run(ctx, o)
	sampled := mostFrequent(sessions.End())
	switch {
	case err != nil:
		return nil, err
	case r.Interrupted:
		return nil, context.Canceled
	case r.Audit.Done && !r.Audit.Clean:
		return nil, problem.New(problem.Threshold, fmt.Errorf("the books are wrong after run %s with %d users: %d "+
			"violations", r.ID, users, r.Audit.Violations), "plimsoll report "+r.ID)
	}
	if lost := lostAgent(r); lost != "" {
		return nil, problem.New(problem.Environment,
			fmt.Errorf("%s was lost in trial %d, so this trial does not count", lost, len(s.Trials)+1),
			"start it again, then the same command with --resume continues")
	}
	s.keepAudit(r)
	t := trialOf(r, s.Target)
	t.Purpose, t.Longer, t.Again, t.Seed, t.Waits, t.TookS = purpose, longer, voidRepeats(s.Trials), o.Seed, sampled,
		time.Since(began).Seconds()
	t.decide()
	s.Conditions = &r.Conditions
	return &t, nil
}

// keepAudit keeps the audit of the base for later trials.
func (s *search) keepAudit(r *result.Result) {
	if s.Reset == ResetFilled || s.Reset == ResetCopy {
		s.audited = r.AuditBefore
	}
}

// lostAgent is the first agent that was lost before the end of a run.
func lostAgent(r *result.Result) string {
	for _, a := range r.Generator.Agents {
		if a.LostAtS != nil {
			return "agent " + a.Name
		}
	}
	return ""
}

// runOptions of a trial. Each has its own random seed: three confirmations with one seed would be the same trial three
// times.
func (s *search) runOptions(dsn string, purpose Purpose, users, longer int) run.Options {
	o := s.Run
	o.AuditedBefore = s.audited
	o.DSN, o.Users, o.Seed = dsn, users, s.Run.Seed+uint64(len(s.Trials))
	o.Duration = s.length(users, longer)
	o.Title = fmt.Sprintf("load line %s, trial %d: %s", strings.TrimSpace(s.ID+" "+s.Configuration), len(s.Trials)+1,
		purpose)
	if dsn != "" {
		o.ServeEnv = append(o.ServeEnv[:len(o.ServeEnv):len(o.ServeEnv)], "PLIMSOLL_DSN="+dsn)
	}
	return o
}

func (s *search) keep() error {
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude(s.pool())
	if s.Store == nil {
		return nil
	}
	return s.Store.save(s.Line)
}

// pool is the size of the connection pool if known; else 0.
func (s *search) pool() int {
	if sc := s.Run.Scenario; custom.NeedsDatabase(sc.Own, sc.Actions()) {
		return sc.Own.Connections
	}
	return 0
}

func (s *search) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer cancel()
	return s.Reset.Drop(ctx, s.dsn)
}
