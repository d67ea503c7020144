package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/session"
	"plimsoll/lab/stats"
	"plimsoll/lab/system"
)

// Defaults of a comparison.
const (
	// PairsDefault finds a slowdown of 10 % in nine of ten comparisons if runs vary by 8 %, and stops long before if
	// they vary less.
	PairsDefault  = 32
	PairsMax      = 200
	MarginDefault = 0.05
	// SidesMax is the number of letters that name sides.
	SidesMax = 8
	// voidMost is the number of void runs allowed for each planned run.
	voidMost = 1.0
	// overheadGuess is the time of a run besides ramp and steady state, used until one run was made.
	overheadGuess = 10 * time.Second
)

// Reasons for which a comparison stops early.
const (
	ByUser   = session.ByUser
	ByBudget = session.ByBudget
	ByVoid   = "too many void runs"
)

// Options of a comparison.
type Options struct {
	Sides   []Side // all are compared with the first
	Metric  string // the deciding metric; defaults to MetricDefault
	Pairs   int    // at most; defaults to PairsDefault
	Margin  float64
	Control bool // also compare with one user without think time
	Seed    uint64
	Budget  time.Duration // start no run that would end later; 0: no limit
	Resume  bool          // continue the newest comparison of the same plan
	// ResumeID is the only one to continue; empty: any.
	ResumeID string
	// Replay is what each run plays again, instead of a load; nil: there is a load.
	Replay  *replay.Options
	Store   *Store // nil: nothing is stored
	Title   string
	Version string // of Plimsoll
	// NewGenerator, unless nil, starts the generator of one run on a database and returns how to stop it.
	NewGenerator func(ctx context.Context, dsn string) (g run.Generator, dismiss func(), err error)
	// Progress is called while runs are made and when one has ended.
	Progress func(Progress)
}

// Progress of a comparison.
type Progress struct {
	Side  string
	Phase Phase
	Round int
	Trial int      // of a self-test, from 1; else 0
	Ended *Replica // the run that just ended; nil while one is under way
	Left  time.Duration
	Share float64
	Run   run.Progress
	// Finding of the first further side so far, set when a run has ended.
	Finding *verdict.Row
}

// comparing is a comparison under way.
type comparing struct {
	Options
	*Comparison
	began   time.Time
	audited []*result.Audit // of each side's base
	release func()          // of the folder that keeps it
}

// Compare makes the comparison. It also returns what was found if there is an error or ctx was cancelled; it returns
// nil only if nothing could start.
func Compare(ctx context.Context, o Options) (*Comparison, error) {
	s, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	defer s.release()
	if _, err = s.course().All(ctx); err != nil && len(s.Runs) == 0 { // nothing was measured
		if s.Store != nil {
			err = errors.Join(err, s.Store.Remove(s.ID))
		}
		return nil, err
	}
	return s.Comparison, err
}

func begin(ctx context.Context, o Options) (s *comparing, err error) {
	if len(o.Sides) < 2 {
		return nil, problem.New(problem.Usage, errors.New("a comparison needs at least two systems"), "")
	}
	if o.Pairs == 0 {
		o.Pairs = PairsDefault
	}
	if o.Metric == "" {
		o.Metric = MetricDefault
	}
	if err := Refuse(o.Metric, o.Control, o.Sides); err != nil {
		return nil, err
	}
	s = &comparing{Options: o, began: time.Now(), audited: make([]*result.Audit, len(o.Sides)),
		release: func() {}}
	s.Comparison = &Comparison{Schema: Schema, ID: "unkept", Title: o.Title, Software: o.Version, Runs: []Replica{},
		Started: s.began.UTC().Truncate(time.Millisecond)}
	restarted := false
	for i := range s.Sides {
		if err := s.Sides[i].check(ctx); err != nil {
			return nil, problem.WithHint(fmt.Errorf("%s (%s): %w", Letter(i), s.Sides[i].Name, err),
				problem.HintOf(err))
		}
	}
	for _, side := range s.Sides {
		restarted = restarted || len(side.server) > 0
	}
	for i := range s.Sides { // the other side of the same server must not go on with the settings of this one
		s.Sides[i].restarted = restarted && s.Sides[i].Restart != nil
	}
	s.Plan = s.plan()
	s.Plan.Restarted = restarted
	s.Warnings = s.warnings()
	switch {
	case o.Store == nil:
	case o.Resume:
		if s.Comparison, s.release, err = o.Store.unfinished(ctx, s.Plan, o.ResumeID); err != nil {
			return nil, err
		}
		s.Stopped = ""
		if err = s.extend(); err != nil {
			s.release()
		}
	default:
		s.ID, s.release, err = o.Store.Start(ctx, s.began)
	}
	return s, err
}

// extend a comparison that goes on to another number of pairs.
func (s *comparing) extend() error {
	made := s.dataOf(Load, 0).rounds()
	if s.Pairs == s.Plan.Pairs {
		return nil
	}
	if s.Pairs < made {
		return problem.New(problem.Usage, fmt.Errorf("%d pairs are already measured", made),
			"use at least that many --pairs")
	}
	s.Plan.Looks, s.Plan.Pairs = verdict.Extended(s.Plan.Looks, made, s.Pairs), s.Pairs
	return nil
}

func (s *comparing) plan() Plan {
	p := Plan{Metric: s.Metric, Margin: s.Margin, Pairs: s.Pairs, Looks: verdict.Looks(s.Pairs),
		Control: s.Options.Control, Seed: s.Seed, Software: s.Version, Replay: s.Replay.Recording()}
	for i := range s.Sides {
		side := s.Sides[i].describe()
		p.Cold = p.Cold || side.Cold
		p.Sides = append(p.Sides, side)
	}
	for _, side := range s.Sides {
		if len(side.Command) == 0 {
			p.DurationS, p.RampS, p.ThinkS = side.Run.Duration.Seconds(), side.Run.Ramp.Seconds(), side.Run.ThinkS()
			p.TimeoutS = side.Run.Resolve().Timeout.Seconds()
			break
		}
	}
	return p
}

// warnings are the risks that the plan cannot exclude.
func (s *comparing) warnings() (all []string) {
	for i, side := range s.Sides {
		if len(side.Command) == 0 && side.Reset == system.ResetNone && !side.Restore.Given() {
			all = append(all, fmt.Sprintf("%s is not restored between runs: each run sees what earlier ones wrote; "+
				"only the order of the runs balances that", Letter(i)))
		}
	}
	return all
}

// turn is one run to make.
type turn struct {
	phase       Phase
	round, side int
}

// next returns the next turn; false: none is left.
func (c *Comparison) next() (t turn, more bool) {
	made := func(t turn) bool {
		return slices.ContainsFunc(c.Runs, func(r Replica) bool {
			return r.Phase == t.phase && r.Round == t.round && r.Side == Letter(t.side) && r.Void == ""
		})
	}
	sides := len(c.Plan.Sides)
	if c.decided() == 0 {
		for i, side := range stats.Rotation(sides, c.Plan.Pairs, c.Plan.Seed) {
			if t := (turn{Load, i/sides + 1, side}); !made(t) {
				return t, true
			}
		}
	}
	if c.Plan.Control {
		for i, side := range stats.Rotation(sides, controlRounds, c.Plan.Seed+1) {
			if t := (turn{Control, i/sides + 1, side}); !made(t) {
				return t, true
			}
		}
	}
	return turn{}, false
}

// course of the comparison.
func (s *comparing) course() session.Session[turn] {
	return session.Session[turn]{Next: s.next, Hopeless: s.hopeless, Make: s.make, CleanUp: s.drop, Keep: s.keep,
		Ended: s.ended, Began: s.began, Budget: s.Budget, Takes: func(turn) time.Duration { return s.takes() }}
}

func (s *comparing) hopeless() string {
	if s.voids() > int(voidMost*float64(s.wanted()))+2 {
		return ByVoid
	}
	return ""
}

func (s *comparing) make(ctx context.Context, t turn) error {
	r, err := s.run(ctx, t)
	if err != nil {
		return fmt.Errorf("%s (%s): %w", Letter(t.side), s.Sides[t.side].Name, err)
	}
	s.Runs = append(s.Runs, *r)
	return nil
}

func (s *comparing) ended(turn) {
	r := &s.Runs[len(s.Runs)-1]
	s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round, Ended: r, Finding: &s.Findings[0].Headline})
}

// wanted is the number of runs in all, at most.
func (s *comparing) wanted() int {
	rounds := s.Pairs
	if s.Options.Control {
		rounds += controlRounds
	}
	return rounds * len(s.Sides)
}

func (s *comparing) voids() (n int) {
	for _, r := range s.Runs {
		if r.Void != "" {
			n++
		}
	}
	return n
}

// run makes one run.
func (s *comparing) run(ctx context.Context, t turn) (*Replica, error) {
	side := &s.Sides[t.side]
	r := &Replica{Phase: t.phase, Round: t.round, Side: Letter(t.side), side: t.side, Seed: s.Seed + uint64(t.round),
		Started: time.Now().UTC().Truncate(time.Millisecond)}
	began := time.Now()
	var err error
	if len(side.Command) > 0 {
		if err = side.restore(ctx, r); err == nil {
			err = s.command(ctx, side, r)
		}
	} else {
		err = s.load(ctx, side, r)
	}
	r.TookS = time.Since(began).Seconds()
	return r, err
}

func (s *comparing) load(ctx context.Context, side *Side, r *Replica) error {
	if side.restarted {
		if err := side.Restart(ctx, side.server); err != nil {
			return err
		}
	}
	if err := side.restore(ctx, r); err != nil {
		return err
	}
	dsn, err := side.Reset.Before(ctx, side.Run.DSN, side.Run.Scenario)
	if err == nil && side.SQL != "" {
		if err = postgres.Execute(ctx, dsn, side.SQL); err != nil {
			err = problem.New(problem.Usage, fmt.Errorf("execute its SQL: %w", err), "")
		}
	}
	if err == nil && side.Cold != nil {
		r.Missing, err = side.Cold(ctx, side.server) // after the reset, which reads the whole base
	}
	if err != nil {
		return err
	}
	if s.Replay != nil {
		return s.replay(ctx, r, side.connection(dsn))
	}
	o := s.runOptions(side, r, side.connection(dsn))
	steady := false
	o.Progress = func(p run.Progress) {
		if begins := p.Phase == run.Steady && !steady; begins && side.outage != nil {
			side.outages()
		}
		steady = p.Phase == run.Steady
		s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round, Run: p})
	}
	made, sampled, err := run.Turn(ctx, o, s.NewGenerator, dsn)
	if err != nil {
		return err
	}
	if side.Reset == system.ResetFilled || side.Reset == system.ResetCopy {
		s.audited[r.side] = made.AuditBefore
	}
	r.Run, r.Waits = made.ID, &sampled
	if r.Void, err = void(made, r.Phase); err != nil || r.Void != "" {
		return err
	}
	f := figuresOf(made)
	if sampled.Samples > 0 {
		waiting := sampled.Active
		for _, e := range sampled.Events {
			if e.Type == "" {
				waiting -= e.Sessions
			}
		}
		waiting = math.Max(0, waiting)
		f.set("", "waits", &waiting)
	}
	r.Figures = f
	return f.decide(s.Metric, "its run "+r.Run+" has")
}

// runOptions returns the options of a run. Both sides of a round share a random seed, so that their users do the same.
func (s *comparing) runOptions(side *Side, r *Replica, dsn string) run.Options {
	o := side.Run
	o.AuditedBefore = s.audited[r.side]
	o.DSN, o.Seed = dsn, r.Seed
	o.Title = fmt.Sprintf("comparison %s, %s of round %d: %s", s.ID, r.Side, r.Round, side.Name)
	if r.Phase == Control {
		o.Users, o.Think, o.Ramp = 1, &users.Think{Distribution: users.Constant}, 0
		o.Title += ", one user"
	}
	return o
}

// void returns why a run does not count. An error means that the system failed, and no further run would help: an
// operation that is never answered has no latency, and the mean over the others would say nothing of it.
func void(r *result.Result, phase Phase) (why string, err error) {
	for i, reason := range r.InvalidReasons {
		switch r.InvalidCauses[i] {
		case result.BySystem, result.ByBooks:
			return "", problem.New(problem.Threshold, fmt.Errorf("run %s: %s", r.ID, reason), "plimsoll report "+r.ID)
		case result.ByFewness:
			if phase == Control {
				continue
			}
			return "", problem.New(problem.Threshold, fmt.Errorf("run %s: %s", r.ID, reason),
				"a longer --duration, more --users, or a shorter --think")
		}
		if why == "" {
			why = reason
		}
	}
	if broken := r.Unanswered(result.BrokenFrom); why == "" && len(broken) > 0 {
		return "", problem.New(problem.Threshold, fmt.Errorf("run %s: %s never got a valid answer%s", r.ID,
			broken[0].ID, broken[0].Failing()), "plimsoll report "+r.ID)
	}
	return why, nil
}

// takes estimates the duration of a run.
func (s *comparing) takes() time.Duration {
	if n := len(s.Runs); n > 0 {
		sum := 0.0
		for _, r := range s.Runs {
			sum += r.TookS
		}
		return time.Duration(sum / float64(n) * float64(time.Second))
	}
	return time.Duration((s.Plan.DurationS+s.Plan.RampS)*float64(time.Second)) + overheadGuess
}

// Estimate returns the maximum duration of all runs.
func (o Options) Estimate() time.Duration {
	s := &comparing{Options: o, Comparison: &Comparison{}}
	s.Plan = s.plan()
	return time.Duration(s.wanted()) * s.takes()
}

func (s *comparing) report(p Progress) {
	if s.Progress == nil {
		return
	}
	rest := s.wanted() - (len(s.Runs) - s.voids())
	if s.decided() > 0 {
		rest = 0
		if s.Options.Control {
			rest = controlRounds*len(s.Sides) - countOf(s.Runs, Control)
		}
	}
	if p.Ended == nil {
		rest--
		p.Left = p.Run.Left
	}
	p.Left += time.Duration(max(0, rest)) * s.takes()
	p.Share = session.Share(time.Since(s.began), p.Left)
	s.Progress(p)
}

func countOf(runs []Replica, phase Phase) (n int) {
	for _, r := range runs {
		if r.Phase == phase && r.Void == "" {
			n++
		}
	}
	return n
}

func (s *comparing) keep(stopped string) error {
	s.Stopped = stopped
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude()
	if s.Store == nil {
		return nil
	}
	return s.Store.Save(s.ID, s.HTML, s.WriteJSON)
}

// drop removes the copy of a side's base.
func (s *comparing) drop(ctx context.Context, t turn) error {
	if side := &s.Sides[t.side]; len(side.Command) == 0 {
		return side.Reset.Drop(ctx, side.Run.DSN)
	}
	return nil
}
