package line

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plimsoll/ground/postgres/identity"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/session"
	"plimsoll/lab/system"
)

// Options of a search.
type Options struct {
	// Run configures each trial; the search sets Users, Seed and Title.
	Run run.Options
	// NewGenerator, unless nil, starts the generator of one trial on a database and returns how to stop it. Without it
	// this process generates the load.
	NewGenerator func(ctx context.Context, dsn string) (g run.Generator, dismiss func(), err error)
	// Configuration is the name of the system if several are searched (FindAll).
	Configuration string
	// Control searches the first of several systems again, as an A/A control.
	Control bool
	Target  float64
	Bounds
	Reset  system.Reset
	Budget time.Duration // start no trial that would end later; 0: no limit
	Resume bool          // continue the newest search of the same plan
	Store  *Store        // nil: nothing is stored
	// Replay is what each trial plays again, instead of a load; nil: there is a load.
	Replay *replay.Options
	extent replay.Extent // of it
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
	ByUser   = session.ByUser
	ByBudget = session.ByBudget
)

// search is a search under way.
type search struct {
	Options
	*Line
	dsn     string
	began   time.Time
	release func() // of the folder that keeps it
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
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	_, err = s.course().All(ctx)
	return s.Line, err
}

// attempt is a trial to be made.
type attempt struct {
	purpose       Purpose
	users, longer int
}

// course of the search.
func (s *search) course() session.Session[attempt] {
	return session.Session[attempt]{Next: s.next, Make: s.try, CleanUp: s.drop, Keep: s.keep, Ended: s.ended,
		Began: s.began, Budget: s.Budget,
		Takes: func(a attempt) time.Duration { return s.takes(a.users, a.longer) }}
}

func (s *search) next() (a attempt, more bool) {
	a.purpose, a.users, a.longer = s.Bounds.Next(s.Trials)
	return a, a.users > 0
}

func (s *search) ended(a attempt) {
	s.report(Progress{Trial: len(s.Trials), Purpose: a.purpose, Users: a.users, Ended: &s.Trials[len(s.Trials)-1]})
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
		Program: r.Software, Replay: s.replayedPlan(),
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
func (s *search) begin(ctx context.Context) (err error) {
	s.Line, s.release = s.newLine(), func() {}
	switch {
	case s.Store == nil:
	case s.Resume:
		if s.Line, s.release, err = s.Store.unfinished(ctx, s.plan()); err != nil {
			return err
		}
		s.Stopped = ""
	default:
		s.ID, s.release, err = s.Store.Start(ctx, s.began)
	}
	return err
}

func (s *search) newLine() *Line {
	return &Line{Schema: Schema, ID: "unkept", Title: s.Run.Title, Started: s.began.UTC().Truncate(time.Millisecond),
		Plan: s.plan(), Trials: []Trial{}}
}

// try runs one trial.
func (s *search) try(ctx context.Context, a attempt) error {
	began := time.Now()
	dsn, err := s.Reset.Before(ctx, s.dsn, s.Run.Scenario)
	if err != nil {
		return err
	}
	if s.Replay != nil {
		t, err := s.replay(ctx, a, dsn)
		if err == nil {
			s.Trials = append(s.Trials, t)
		}
		return err
	}
	o := s.runOptions(dsn, a)
	o.Progress = func(p run.Progress) {
		s.report(Progress{Trial: len(s.Trials) + 1, Purpose: a.purpose, Users: a.users, Run: p})
	}
	r, sampled, err := run.Turn(ctx, o, s.NewGenerator, dsn)
	switch {
	case err != nil:
		return err
	case r.Audit.Done && !r.Audit.Clean:
		return problem.New(problem.Threshold, fmt.Errorf("the books are wrong after run %s with %d users: %d "+
			"violations", r.ID, a.users, r.Audit.Violations), "plimsoll report "+r.ID)
	}
	if lost := lostAgent(r); lost != "" {
		return problem.New(problem.Environment,
			fmt.Errorf("%s was lost in trial %d, so this trial does not count", lost, len(s.Trials)+1),
			"start it again, then the same command with --resume continues")
	}
	s.keepAudit(r)
	t := trialOf(r, s.Target)
	t.Purpose, t.Longer, t.Again, t.Seed = a.purpose, a.longer, voidRepeats(s.Trials), o.Seed
	t.Waits, t.TookS = mostFrequent(sampled), time.Since(began).Seconds()
	t.decide()
	s.Conditions = &r.Conditions
	s.Trials = append(s.Trials, t)
	return nil
}

// keepAudit keeps the audit of the base for later trials.
func (s *search) keepAudit(r *result.Result) {
	if s.Reset == system.ResetFilled || s.Reset == system.ResetCopy {
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
func (s *search) runOptions(dsn string, a attempt) run.Options {
	o := s.Run
	o.AuditedBefore = s.audited
	o.DSN, o.Users, o.Seed = dsn, a.users, s.Run.Seed+uint64(len(s.Trials))
	o.Duration = s.length(a.users, a.longer)
	o.Title = fmt.Sprintf("load line %s, trial %d: %s", strings.TrimSpace(s.ID+" "+s.Configuration), len(s.Trials)+1,
		a.purpose)
	return o
}

func (s *search) keep(stopped string) error {
	s.Stopped = stopped
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude(s.pool())
	if s.Store == nil {
		return nil
	}
	return s.Store.Save(s.ID, s.HTML, s.WriteJSON)
}

// pool is the size of the connection pool if known; else 0.
func (s *search) pool() int {
	if sc := s.Run.Scenario; sc.SpeaksSQL() {
		return sc.Own.Connections
	}
	return 0
}

func (s *search) drop(ctx context.Context, _ attempt) error { return s.Reset.Drop(ctx, s.dsn) }
