// Package confusion owns the test of the diagnosis: it plants faults of known kinds in a server of its own under load,
// makes sure that each took effect, and counts what the diagnosis names.
//
// There are two sets. The old one is planted by functions in a base that is always the same. The new one are incidents
// as data (package incident), under names, strengths, loads and conditions that a seed draws; each must slow the load
// down, against a baseline of the same trial.
//
//	start server, copy the base ──▶ load ──▶ plant ──▶ diagnose ──▶ took effect? ── no ──▶ void
//	                                                                    └─ yes ──▶ right, wrong and missed names
//
// A third of the faults is hidden: nobody looked at them while the thresholds of lab/diagnose were chosen.
package confusion

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/confusion/incident"
	"plimsoll/lab/session"
)

// Schema of the JSON. It changes when readers would break.
const Schema = "plimsoll-confusion-1"

// DurationDefault of a diagnosis.
const DurationDefault = 15 * time.Second

// Healthy is the plant of nothing.
const Healthy = "healthy"

// Options of a test.
type Options struct {
	Clusters *cluster.Store
	Spec     cluster.Spec // of the server that is made for it
	Rounds   int
	// Only these plants; empty: all. "a+b" is a compound of any two.
	Only     []string
	Duration time.Duration // 0: each set's own
	// Stalls that the control random-stalls plants.
	Stalls Stalls
	// Set of faults: old, new or all. Empty: all.
	Set string
	// Seed of what trials of incidents draw.
	Seed uint64
	// Trials at most, and the time that they may take; what does not fit is left out by chance. 0: no limit.
	Trials int
	Budget time.Duration
	// Kept is a file of trials: those that are there are not made again. Empty keeps nothing.
	Kept string
	// Software is this program's version. Trials of another one are not counted with those of this one.
	Software string
	// Step hears of the progress (0..1) before each trial, Ended of each that has ended. Both may be nil.
	Step  func(share float64, left time.Duration, name string)
	Ended func(Trial)
}

// plant is what is planted together.
type plant []*fault

func (p plant) name() string {
	if len(p) == 0 {
		return Healthy
	}
	var names []string
	for _, f := range p {
		names = append(names, f.name)
	}
	return strings.Join(names, "+")
}

func (p plant) hidden() bool {
	return slices.ContainsFunc(p, func(f *fault) bool { return f.hidden })
}

// Names of all plants.
func Names() (names []string) {
	for _, p := range plants() {
		names = append(names, p.name())
	}
	for _, load := range incident.Loads() {
		names = append(names, healthyLoad(load))
	}
	for _, f := range incident.All() {
		names = append(names, f.Name)
	}
	return names
}

func plants() (all []plant) {
	all = append(all, plant{})
	for _, f := range faults {
		all = append(all, plant{f})
	}
	for _, pair := range compounds {
		p, err := parse(pair)
		if err != nil {
			panic(err) // a test reads them all
		}
		all = append(all, p)
	}
	return all
}

func parse(text string) (p plant, err error) {
	if text == Healthy {
		return plant{}, nil
	}
	for name := range strings.SplitSeq(text, "+") {
		known := slices.Concat(faults, controls)
		i := slices.IndexFunc(known, func(f *fault) bool { return f.name == name })
		if i < 0 {
			return nil, problem.New(problem.Usage, fmt.Errorf("unknown fault %q", name),
				"one of "+strings.Join(Names(), ", "))
		}
		p = append(p, known[i])
	}
	return p, nil
}

// around is what a trial takes besides its diagnosis.
const around = 8 * time.Second

// Takes is about how long it takes.
func (o Options) Takes(ctx context.Context) time.Duration {
	all, err := o.jobs(ctx)
	if err != nil {
		return 0
	}
	return o.takes(o.within(all))
}

func (o Options) takes(all []job) (sum time.Duration) {
	for _, j := range all {
		sum += o.lasts(j)
	}
	return sum
}

// Run makes the test. The report holds the trials that ended also when there is an error.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	report = &Report{Schema: Schema, Rounds: max(1, o.Rounds), Trials: []Trial{}}
	all, err := o.jobs(ctx)
	if err != nil {
		return report, err
	}
	k, err := o.openKept(ctx, all, report)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, k.Close()) }()
	left := o.within(slices.DeleteFunc(all, func(j job) bool { return report.has(j.round, j.name) }))
	s := &stages{Options: o, report: report}
	defer func() { err = errors.Join(err, s.close()) }()
	before, began, begun := len(report.Trials), time.Now(), 0
	turns := session.Over(left, func(ctx context.Context, j job) error {
		if o.Step != nil {
			o.Step(float64(before+begun)/float64(before+len(left)), o.remains(left, begun, time.Since(began)), j.name)
		}
		begun++
		t, err := s.try(ctx, j)
		if err == nil {
			err = ctx.Err() // a diagnosis that was cut short says nothing of the plant
		}
		if err != nil {
			return fmt.Errorf("plant %s: %w", j.name, err)
		}
		report.add(t)
		return k.Add(t)
	})
	if o.Ended != nil {
		turns.Ended = func(job) { o.Ended(report.Trials[len(report.Trials)-1]) }
	}
	stopped, err := turns.All(ctx)
	if stopped == session.ByUser && err == nil {
		err = o.interrupted(report)
	}
	return report, err
}

// remains of the time, by what the first trials took against their estimate.
func (o Options) remains(left []job, done int, spent time.Duration) time.Duration {
	rest := o.takes(left[done:])
	if done == 0 {
		return rest
	}
	return time.Duration(float64(rest) * spent.Seconds() / o.takes(left[:done]).Seconds())
}

// stages are the servers of a test: one at a time, that of the old set or one engine's of the new.
type stages struct {
	Options
	report  *Report
	bench   *bench
	theatre *theatre
}

// try a trial on its server.
func (s *stages) try(ctx context.Context, j job) (t Trial, err error) {
	if j.old {
		if s.bench == nil {
			if err := s.close(); err != nil {
				return t, err
			}
			o := s.Options
			o.Duration = cmp.Or(o.Duration, DurationDefault)
			if s.bench, err = newBench(ctx, o); err != nil {
				s.bench = nil // it has closed itself
				return t, err
			}
			s.report.CommitMS = 1000 * s.bench.flush.Seconds()
		}
		t, _, err = s.bench.try(ctx, j.plant)
		t.Round = j.round
		return t, err
	}
	if s.theatre == nil || s.theatre.engine != j.conditions.Engine {
		if err := s.close(); err != nil {
			return t, err
		}
		if s.theatre, err = openTheatre(ctx, s.Options, j.conditions.Engine); err != nil {
			s.theatre = nil
			return t, err
		}
	}
	return s.theatre.try(ctx, j)
}

func (s *stages) close() (err error) {
	if s.bench != nil {
		err = s.bench.close()
	}
	if s.theatre != nil {
		err = errors.Join(err, s.theatre.close())
	}
	s.bench, s.theatre = nil, nil
	return err
}

func (o Options) interrupted(report *Report) error {
	hint := ""
	if o.Kept != "" {
		hint = "the same command continues"
	}
	return problem.New(problem.Interrupted, fmt.Errorf("stopped; trials so far: %d", len(report.Trials)), hint)
}

// conditions of trials that may be counted together.
type conditions struct {
	Schema    string  `json:"schema"`
	Software  string  `json:"software"`
	Server    string  `json:"server"`
	DurationS float64 `json:"duration_s"`
	Seed      uint64  `json:"seed"`
}

// openKept reads what was kept into the report: rounds and plants that were asked for.
func (o Options) openKept(ctx context.Context, all []job, report *Report) (*kept.File, error) {
	if o.Kept == "" {
		return nil, nil
	}
	server, err := installation.Find(ctx, o.Spec.Engine)
	if err != nil {
		return nil, err
	}
	k, lines, err := kept.Open(ctx, o.Kept, "confusion", conditions{Schema: Schema, Software: o.Software,
		Server: server.String(), DurationS: o.Duration.Seconds(), Seed: o.Seed})
	if err != nil {
		return nil, err
	}
	for n, text := range lines {
		var t Trial
		if err := json.Unmarshal(text, &t); err != nil || t.Round < 1 {
			return nil, errors.Join(kept.Unreadable(o.Kept, n, cmp.Or(err, errors.New("it is not a trial"))), k.Close())
		}
		asked := func(j job) bool { return j.round == t.Round && j.name == t.Plant }
		if slices.ContainsFunc(all, asked) && !report.has(t.Round, t.Plant) {
			report.add(t)
		}
	}
	return k, nil
}

func (r *Report) has(round int, plant string) bool {
	return slices.ContainsFunc(r.Trials, func(t Trial) bool { return t.Round == round && t.Plant == plant })
}

// try one plant.
func (b *bench) try(ctx context.Context, p plant) (t Trial, d *diagnose.Diagnosis, err error) {
	t = Trial{Plant: p.name(), Hidden: p.hidden(), Named: []Named{}, Notes: []Named{}, Missed: []string{},
		Figures: []string{}}
	began := time.Now()
	defer func() { t.TookS = time.Since(began).Seconds() }()
	s, err := b.scene(ctx, p)
	if err != nil {
		return t, nil, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	s.users()
	s.settle(ctx)
	for _, f := range p {
		if err := f.plant(ctx, s); err != nil {
			var cannot unable
			if errors.As(err, &cannot) {
				t.Void = cannot.Error()
				return t, nil, nil
			}
			return t, nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	s.settle(ctx)
	s.watchStrangers()
	before := s.counts()
	d, err = diagnose.Run(ctx, diagnose.Options{DSN: s.dsn, Duration: b.Duration, Rate: diagnose.RateDefault,
		Root: s.root})
	if err != nil {
		s.taken()
		return t, nil, err
	}
	t.Users = before.until(s.counts())
	// One that ends with the diagnosis is followed by no look.
	t.Stalls = s.stalls.within(d.Started, d.Started.Add(time.Duration(d.LastedS*float64(time.Second))-time.Second/2))
	for _, check := range s.checks {
		text, took := check(ctx)
		t.Figures = append(t.Figures, text)
		if !took && t.Void == "" {
			t.Void = text
		}
	}
	t.Strangers, t.Stolen = s.taken()
	t.judge(p, d)
	return t, d, nil
}
