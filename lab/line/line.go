package line

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/lab/own"
	"plimsoll/lab/result"
	"plimsoll/lab/run"
	"plimsoll/lab/scenario"
	"plimsoll/platform/problem"
)

// Options of a search.
type Options struct {
	// Run is what each trial does; Users, Seed and Title are the search's.
	Run run.Options
	// Muster, if not nil, brings the generator of one trial, and what sends it home again. Without, this process makes the load.
	Muster func(context.Context) (g run.Generator, dismiss func(), err error)
	// Configuration names the system that is searched where there are several (FindAll).
	Configuration string
	Target        float64
	Bounds
	Reset  Reset
	Budget time.Duration // no trial begins that would not end in it; 0: none
	Resume bool          // go on with the newest search of the same plan
	Store  *Store        // nil keeps it nowhere
	// Progress is told of the trial under way, and of each that has ended.
	Progress func(Progress)
}

// Progress of a search.
type Progress struct {
	Configuration string // "" where there is one alone
	Trial         int
	Purpose       Purpose
	Users         int
	Ended         *Trial // just now; nil while it is under way
	Left          time.Duration
	Share         float64 // 0..1 of the whole, by the estimate
	Run           run.Progress
}

// How a search can stop before its end.
const (
	ByHand   = "by hand"
	ByBudget = "budget"
)

// opsWanted in a trial at least, twice what makes a run valid: few users need longer.
const opsWanted = 2 * run.OpsMin

// dropWithin bounds the removal of the copy at the end, which also follows Ctrl-C.
const dropWithin = time.Minute

// search is one under way.
type search struct {
	Options
	*Line
	dsn   string
	began time.Time
}

// Find searches for the load line. The Line holds what was found also when there is an
// error or ctx was cancelled; it is nil only when nothing could begin.
func Find(ctx context.Context, o Options) (*Line, error) {
	s, err := newSearch(o, time.Now())
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

func newSearch(o Options, began time.Time) (s *search, err error) {
	if o.Run.Scenario == nil {
		o.Run.Scenario = scenario.Default()
	}
	o.Reset, err = o.Reset.choose(o.Run.Scenario, o.Run.DSN, len(o.Run.URLs) > 0)
	return &search{Options: o, dsn: o.Run.DSN, began: began}, err
}

func (s *search) plan() Plan {
	r := s.Run
	return Plan{
		Target: s.Target, Bounds: s.Bounds, DurationS: r.Duration.Seconds(), RampS: max(0, r.Ramp).Seconds(), TimeoutS: r.Timeout.Seconds(),
		ThinkS: s.meanThink(), Seed: r.Seed, Scenario: r.Scenario.Name, Digest: r.Scenario.Digest(), Reset: s.Reset,
		Workers: r.Workers, Profile: r.Profile, Configuration: s.Configuration, Serve: strings.Join(r.Serve[min(1, len(r.Serve)):], " "),
	}
}

// meanThink over all users.
func (s *search) meanThink() (mean float64) {
	if s.Run.Think.Mean != 0 {
		return max(0, s.Run.Think.Mean).Seconds()
	}
	all := 0
	for _, r := range s.Run.Scenario.Roles {
		mean += float64(r.Users) * r.Think.Mean.Seconds()
		all += r.Users
	}
	return mean / float64(all)
}

// begin makes a new search or takes up the old one.
func (s *search) begin() (err error) {
	if s.Resume && s.Store != nil {
		if s.Line, err = s.Store.unfinished(s.plan().Fingerprint()); err != nil {
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
	return &Line{Schema: Schema, ID: "unkept", Title: s.Run.Title, Started: s.began.UTC().Truncate(time.Millisecond), Plan: s.plan(), Trials: []Trial{}}
}

func (s *search) all(ctx context.Context) error {
	for {
		if more, err := s.step(ctx); err != nil || !more {
			return err
		}
	}
}

// step makes the next trial; false: there is none to make, or no longer time for it.
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
		s.Stopped = ByHand
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.Trials = append(s.Trials, *t)
	if err := s.keep(); err != nil {
		return false, err
	}
	s.tell(Progress{Trial: len(s.Trials), Purpose: purpose, Users: users, Ended: t})
	return true, nil
}

// try makes one trial.
func (s *search) try(ctx context.Context, purpose Purpose, users, longer int) (*Trial, error) {
	began := time.Now()
	dsn, err := s.Reset.before(ctx, s.dsn, s.Run.Scenario)
	if err != nil {
		return nil, err
	}
	o := s.runOptions(dsn, purpose, users, longer)
	if s.Muster != nil {
		g, dismiss, err := s.Muster(ctx)
		if err != nil {
			return nil, err
		}
		defer dismiss()
		o.Generator = g
	}
	sessions := watch(ctx, dsn)
	o.Progress = func(p run.Progress) {
		sessions.during(p.Phase == run.Steady)
		s.tell(Progress{Trial: len(s.Trials) + 1, Purpose: purpose, Users: users, Run: p})
	}
	r, err := run.Run(ctx, o)
	sampled := sessions.end()
	switch {
	case err != nil:
		return nil, err
	case r.Interrupted:
		return nil, context.Canceled
	case r.Audit.Done && !r.Audit.Clean:
		return nil, problem.New(problem.Threshold, fmt.Errorf("the books are wrong after run %s with %d users: %d violations", r.ID, users, r.Audit.Violations), "plimsoll report "+r.ID)
	}
	if lost := lostAgent(r); lost != "" {
		return nil, problem.New(problem.Environment, fmt.Errorf("%s was lost in trial %d: it says nothing about the system", lost, len(s.Trials)+1), "start it again, then the same command with --resume goes on")
	}
	t := trialOf(r, s.Target)
	t.Purpose, t.Longer, t.Again, t.Seed, t.Waits, t.TookS = purpose, longer, again(s.Trials), o.Seed, sampled, time.Since(began).Seconds()
	t.decide()
	s.Conditions = &r.Conditions
	return &t, nil
}

// lostAgent is the first that did not live to the end of a run.
func lostAgent(r *result.Result) string {
	for _, a := range r.Generator.Agents {
		if a.LostAtS != nil {
			return "agent " + a.Name
		}
	}
	return ""
}

// runOptions of a trial: each has a seed of its own, so that three confirmations are not
// one seen three times.
func (s *search) runOptions(dsn string, purpose Purpose, users, longer int) run.Options {
	o := s.Run
	o.DSN, o.Users, o.Seed = dsn, users, s.Run.Seed+uint64(len(s.Trials))
	o.Duration = s.length(users, longer)
	o.Title = fmt.Sprintf("load line %s, trial %d: %s", strings.TrimSpace(s.ID+" "+s.Configuration), len(s.Trials)+1, purpose)
	if dsn != "" {
		o.ServeEnv = append(o.ServeEnv[:len(o.ServeEnv):len(o.ServeEnv)], "PLIMSOLL_DSN="+dsn)
	}
	return o
}

// length of the steady state: few users need more time for as many operations.
func (s *search) length(users, longer int) time.Duration {
	d := s.Run.Duration << longer
	need := time.Duration(opsWanted * s.Plan.ThinkS / float64(users) * float64(time.Second))
	return max(d, min(need, 10*d))
}

// overheadGuess of a trial beside ramp and steady state, until one was made.
const overheadGuess = 10 * time.Second

// takes is about how long a trial will take.
func (s *search) takes(users, longer int) time.Duration {
	over := overheadGuess
	if n := len(s.Trials); n > 0 {
		last := s.Trials[n-1]
		over = time.Duration((last.TookS - last.DurationS - s.Plan.RampS) * float64(time.Second))
	}
	return max(0, s.Run.Ramp) + s.length(users, longer) + max(0, over)
}

// Estimate is about how long the whole search takes.
func (o Options) Estimate() time.Duration {
	s := &search{Options: o, Line: &Line{}}
	if s.Run.Scenario == nil {
		s.Run.Scenario = scenario.Default()
	}
	s.Plan = s.plan()
	return time.Duration(o.Left(nil)) * s.takes(o.First, 0)
}

func (s *search) tell(p Progress) {
	if s.Progress == nil {
		return
	}
	p.Configuration, p.Left = s.Configuration, s.left(p.Ended == nil)
	if p.Ended == nil {
		p.Left += p.Run.Left
	}
	p.Share = shareOf(s.began, p.Left)
	s.Progress(p)
}

// left is about how long the trials to come take, without the one that is under way.
func (s *search) left(underWay bool) time.Duration {
	rest := s.Bounds.Left(s.Trials)
	_, users, longer := s.Bounds.Next(s.Trials)
	if underWay {
		rest = max(0, rest-1)
	}
	if users == 0 {
		return 0
	}
	return time.Duration(rest) * s.takes(users, longer)
}

// shareOf the whole that is done, by the time it still takes.
func shareOf(began time.Time, left time.Duration) float64 {
	gone := time.Since(began)
	return gone.Seconds() / max(1e-3, (gone+left).Seconds())
}

func (s *search) keep() error {
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude(s.pool())
	if s.Store == nil {
		return nil
	}
	return s.Store.save(s.Line)
}

// pool of connections that the search knows of; 0: none.
func (s *search) pool() int {
	if sc := s.Run.Scenario; own.NeedsDatabase(sc.Own, sc.Actions()) {
		return sc.Own.Connections
	}
	return 0
}

func (s *search) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer cancel()
	return s.Reset.drop(ctx, s.dsn)
}

// conditions of the last trial, or nothing.
func (l *Line) conditions() result.Conditions {
	if l.Conditions == nil {
		return result.Conditions{}
	}
	return *l.Conditions
}
