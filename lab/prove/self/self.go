// Package self owns the self-test of the measuring instrument: it plants faults of known size in servers of its own,
// lets the lab measure them, and holds what is reported against what was planted.
//
//	plant ──▶ measure with lab/run or lab/line ──▶ figures: expected, reported
//	                                                 │ all hold                          ──▶ right
//	                                                 │ some do not, and only through time:
//	                                                 │   others disturbed the machine    ──▶ void
//	                                                 └ else                              ──▶ wrong
//
// A count, and a time that is shorter than what was planted, is never excused by a disturbance: both are exact whatever
// else runs.
package self

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/session"
)

// Verdict on a line.
type Verdict string

// Void: the machine was disturbed, or the generator lagged. Wrong is anything else that is not Right.
const (
	Right Verdict = "right"
	Wrong Verdict = "wrong"
	Void  Verdict = "void"
)

// Line is one fault that is planted, and what was reported of it.
type Line struct {
	Round   int      `json:"round"` // from 1
	Name    string   `json:"name"`
	Planted string   `json:"planted"`
	Figures []Figure `json:"figures"`
	// Trials of several generators, where they are compared.
	Trials  []Trial `json:"trials,omitempty"`
	Verdict Verdict `json:"verdict"`
	// Why it is void or wrong; empty when right.
	Why   string  `json:"why,omitempty"`
	TookS float64 `json:"took_s"`
}

// Report is all lines of all rounds.
type Report struct {
	Rounds int    `json:"rounds"` // asked for
	Right  int    `json:"right"`
	Wrong  int    `json:"wrong"`
	Void   int    `json:"void"`
	Lines  []Line `json:"lines"`
}

// WrongLines are the names of lines that were wrong in some round.
func (r Report) WrongLines() (names []string) {
	for _, l := range r.Lines {
		if l.Verdict == Wrong && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return names
}

func (r *Report) add(l Line) {
	r.Lines = append(r.Lines, l)
	switch l.Verdict {
	case Right:
		r.Right++
	case Wrong:
		r.Wrong++
	case Void:
		r.Void++
	}
}

// Options of a self-test.
type Options struct {
	Rounds int      // Defaults to 1.
	Only   []string // names of lines; empty: all
	Long   bool     // the lines of the long form as well
	Pairs  int      // of its A/A tests. Defaults to PairsDefault.
	// DisturbedLimit of the runs of those pairs. Defaults to run.DisturbedLimitDefault.
	DisturbedLimit float64
	// Database gives a connection string of an empty database on this machine, and how to take it down. It is called
	// by the first line that needs one.
	Database func(context.Context) (dsn string, down func() error, err error)
	// Engine whose pgbench is compared with this program; empty: the one that is found.
	Engine string
	// Program is this program, to start one that is frozen from outside.
	Program []string
	// Step hears of the progress (0..1) before each line and every second within it, from a goroutine of its own; Ended
	// of each line that has ended. Both may be nil.
	Step  func(share float64, left time.Duration, name string)
	Ended func(Line)
}

// Names of all lines, in order of importance, with those of the long form.
func Names() (names []string) {
	for _, t := range slices.Concat(tests, long) {
		names = append(names, t.name)
	}
	return names
}

// Plan is how many lines one round has, and about how long it takes.
func (o Options) Plan() (lines int, takes time.Duration, err error) {
	chosen, err := o.choose()
	return len(chosen), sum(chosen), err
}

// Run makes the test. The report holds the lines that ended also when there is an error.
func Run(ctx context.Context, o Options) (report Report, err error) {
	report = Report{Rounds: max(1, o.Rounds), Lines: []Line{}}
	chosen, err := o.choose()
	if err != nil {
		return report, err
	}
	s, err := newStage(o)
	if err != nil {
		return report, err
	}
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	var turns []turn
	for round := range report.Rounds {
		for _, t := range chosen {
			turns = append(turns, turn{test: t, round: round + 1})
		}
	}
	all := time.Duration(report.Rounds) * sum(chosen)
	var done time.Duration
	played := session.Over(turns, func(ctx context.Context, t turn) error {
		stepped := o.steps(done, all, t.test)
		line, err := t.judged(ctx, s)
		stepped()
		if err == nil {
			err = ctx.Err() // what a line says that was cut short means nothing
		}
		if err != nil {
			return fmt.Errorf("line %s: %w", t.name, err)
		}
		done += t.takes
		line.Round = t.round
		report.add(line)
		return nil
	})
	if o.Ended != nil {
		played.Ended = func(turn) { o.Ended(report.Lines[len(report.Lines)-1]) }
	}
	stopped, err := played.All(ctx)
	if stopped == session.ByUser && err == nil {
		err = ctx.Err()
	}
	return report, err
}

// turn is a line in one of the rounds.
type turn struct {
	test
	round int
}

// steps tells of the progress within a line, by the time that it takes, until the returned function is called.
func (o Options) steps(done, all time.Duration, t test) (end func()) {
	if o.Step == nil {
		return func() {}
	}
	began := time.Now()
	step := func(elapsed time.Duration) {
		now := done + min(elapsed, t.takes)
		o.Step(now.Seconds()/all.Seconds(), all-now, t.name)
	}
	step(0)
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				step(time.Since(began))
			}
		}
	}()
	return func() { close(over); <-ended }
}

func (o Options) choose() (chosen []test, err error) {
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return nil, problem.New(problem.Usage, fmt.Errorf("unknown line %q", name),
				human.NearestHint(name, Names(), "there are: "+strings.Join(Names(), ", ")))
		}
	}
	for _, t := range tests {
		if len(o.Only) == 0 || slices.Contains(o.Only, t.name) {
			chosen = append(chosen, t)
		}
	}
	for _, t := range long {
		if o.Long && len(o.Only) == 0 || slices.Contains(o.Only, t.name) {
			t.takes += pairTakes[t.name] * time.Duration(o.pairCount()+unequalPairs(o.pairCount())) / pairsAbreast
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

func (o Options) pairCount() int { return cmp.Or(o.Pairs, PairsDefault) }

func sum(all []test) (d time.Duration) {
	for _, t := range all {
		d += t.takes
	}
	return d
}

// test is a line before it is played.
type test struct {
	name, planted string
	takes         time.Duration
	play          func(context.Context, *stage) (outcome, error)
}

// outcome of a line, and what disturbed it.
type outcome struct {
	figures   []Figure
	disturbed []string
	trials    []Trial
}

func (t test) judged(ctx context.Context, s *stage) (Line, error) {
	began := time.Now()
	out, err := t.play(ctx, s)
	if err != nil {
		return Line{}, err
	}
	l := Line{Name: t.name, Planted: t.planted, Figures: out.figures, Trials: out.trials,
		TookS: time.Since(began).Seconds()}
	l.Verdict, l.Why = judge(out)
	return l, nil
}

// judge a line. No figures prove nothing.
func judge(out outcome) (Verdict, string) {
	var failed []string
	excused := true
	judged := 0
	for _, f := range out.figures {
		if f.Shown {
			continue
		}
		judged++
		if !f.Holds {
			failed = append(failed, fmt.Sprintf("%s: expected %s, reported %s", f.Name, f.Expected, f.Reported))
			excused = excused && f.excusable
		}
	}
	switch {
	case judged == 0:
		return Wrong, "nothing was reported"
	case len(failed) == 0:
		return Right, ""
	case excused && len(out.disturbed) > 0:
		return Void, strings.Join(out.disturbed, "; ")
	}
	return Wrong, strings.Join(failed, "; ")
}
