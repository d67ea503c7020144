package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/waits"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/load/users"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
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
	dropWithin    = time.Minute
)

// Reasons for which a comparison stops early.
const (
	ByUser   = "by hand" // the value in stored comparisons
	ByBudget = "budget"
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
	Store    *Store // nil: nothing is stored
	Title    string
	Version  string // of Plimsoll
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

type session struct {
	Options
	*Comparison
	began   time.Time
	audited []*result.Audit // of each side's base
}

// Compare makes the comparison. It also returns what was found if there is an error or ctx was cancelled; it returns
// nil only if nothing could start.
func Compare(ctx context.Context, o Options) (*Comparison, error) {
	s, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	err = s.all(ctx)
	if err != nil {
		s.Stopped = err.Error()
	}
	if err != nil && len(s.Runs) == 0 {
		return nil, errors.Join(err, s.Store.remove(s.ID))
	}
	return s.Comparison, errors.Join(err, s.keep())
}

func begin(ctx context.Context, o Options) (s *session, err error) {
	if len(o.Sides) < 2 {
		return nil, problem.New(problem.Usage, errors.New("a comparison needs at least two systems"), "")
	}
	if o.Pairs == 0 {
		o.Pairs = PairsDefault
	}
	if o.Metric == "" {
		o.Metric = MetricDefault
	}
	if err := Refuse(o.Metric, o.Control, countCommands(o.Sides), len(o.Sides)); err != nil {
		return nil, err
	}
	s = &session{Options: o, began: time.Now(), audited: make([]*result.Audit, len(o.Sides))}
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
		if s.Comparison, err = o.Store.unfinished(s.Plan, o.ResumeID); err != nil {
			return nil, err
		}
		s.Stopped = ""
		err = s.extend()
	default:
		s.ID, err = o.Store.begin(s.began)
	}
	return s, err
}

func countCommands(sides []Side) (n int) {
	for _, s := range sides {
		if len(s.Command) > 0 {
			n++
		}
	}
	return n
}

// extend a comparison that goes on to another number of pairs.
func (s *session) extend() error {
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

func (s *session) plan() Plan {
	p := Plan{Metric: s.Metric, Margin: s.Margin, Pairs: s.Pairs, Looks: verdict.Looks(s.Pairs),
		Control: s.Options.Control, Seed: s.Seed, Software: s.Version}
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
func (s *session) warnings() (all []string) {
	for i, side := range s.Sides {
		if len(side.Command) == 0 && side.Reset == line.ResetNone && !side.Clearing.given() {
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

func (s *session) all(ctx context.Context) error {
	for {
		t, more := s.next()
		if !more {
			return nil
		}
		if s.Budget > 0 && time.Since(s.began)+s.takes() > s.Budget {
			s.Stopped = ByBudget
			return nil
		}
		if s.voids() > int(voidMost*float64(s.wanted()))+2 {
			s.Stopped = ByVoid
			return nil
		}
		r, err := s.run(ctx, t)
		if ctx.Err() != nil {
			s.Stopped = ByUser
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s (%s): %w", Letter(t.side), s.Sides[t.side].Name, err)
		}
		s.Runs = append(s.Runs, *r)
		if err := s.keep(); err != nil {
			return err
		}
		s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round, Ended: r, Finding: &s.Findings[0].Headline})
	}
}

// wanted is the number of runs in all, at most.
func (s *session) wanted() int {
	rounds := s.Pairs
	if s.Options.Control {
		rounds += controlRounds
	}
	return rounds * len(s.Sides)
}

func (s *session) voids() (n int) {
	for _, r := range s.Runs {
		if r.Void != "" {
			n++
		}
	}
	return n
}

// run makes one run.
func (s *session) run(ctx context.Context, t turn) (*Replica, error) {
	side := &s.Sides[t.side]
	r := &Replica{Phase: t.phase, Round: t.round, Side: Letter(t.side), side: t.side, Seed: s.Seed + uint64(t.round),
		Started: time.Now().UTC().Truncate(time.Millisecond)}
	began := time.Now()
	var err error
	if len(side.Command) > 0 {
		if err = s.clear(ctx, side, r); err == nil {
			err = s.command(ctx, side, r)
		}
	} else {
		err = errors.Join(s.load(ctx, side, r), s.drop(ctx, side)) // so that a side idles between its turns
	}
	r.TookS = time.Since(began).Seconds()
	return r, err
}

func (s *session) load(ctx context.Context, side *Side, r *Replica) error {
	if side.restarted {
		if err := side.Restart(ctx, side.server); err != nil {
			return err
		}
	}
	if err := s.clear(ctx, side, r); err != nil {
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
	o := s.runOptions(side, r, side.connection(dsn))
	if s.NewGenerator != nil {
		g, dismiss, err := s.NewGenerator(ctx, o.DSN)
		if err != nil {
			return err
		}
		defer dismiss()
		o.Generator = g
	}
	sessions, steady := waits.Watch(ctx, dsn), false
	o.Progress = func(p run.Progress) {
		sessions.During(p.Phase == run.Steady)
		if begins := p.Phase == run.Steady && !steady; begins && side.outage != nil {
			side.outages()
		}
		steady = p.Phase == run.Steady
		s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round, Run: p})
	}
	made, err := run.Run(ctx, o)
	sampled := sessions.End()
	if err != nil {
		return err
	}
	if made.Interrupted {
		return context.Canceled
	}
	if side.Reset == line.ResetFilled || side.Reset == line.ResetCopy {
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
func (s *session) runOptions(side *Side, r *Replica, dsn string) run.Options {
	o := side.Run
	o.AuditedBefore = s.audited[r.side]
	o.DSN, o.Seed = dsn, r.Seed
	o.Title = fmt.Sprintf("comparison %s, %s of round %d: %s", s.ID, r.Side, r.Round, side.Name)
	if r.Phase == Control {
		o.Users, o.Think, o.Ramp = 1, &users.Think{Distribution: users.Constant}, 0
		o.Title += ", one user"
	}
	if dsn != "" {
		o.ServeEnv = append(o.ServeEnv[:len(o.ServeEnv):len(o.ServeEnv)], "PLIMSOLL_DSN="+dsn)
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
func (s *session) takes() time.Duration {
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
	s := &session{Options: o, Comparison: &Comparison{}}
	s.Plan = s.plan()
	return time.Duration(s.wanted()) * s.takes()
}

func (s *session) report(p Progress) {
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
	p.Share = time.Since(s.began).Seconds() / max(1e-3, (time.Since(s.began)+p.Left).Seconds())
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

func (s *session) keep() error {
	s.Finished = time.Now().UTC().Truncate(time.Millisecond)
	s.conclude()
	if s.Store == nil {
		return nil
	}
	return s.Store.save(s.Comparison)
}

// drop removes the copy of a side's base, also after Ctrl-C.
func (s *session) drop(ctx context.Context, side *Side) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropWithin)
	defer cancel()
	return side.Reset.Drop(ctx, side.Run.DSN)
}
