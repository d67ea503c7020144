package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
	"plimsoll/lab/view/checks"
)

// Request is a comparison as a person asks for it: plain values, of which nothing is checked, read or started yet.
type Request struct {
	Options
	System  system.Spec        // what all sides have in common
	Systems []string           // CLUSTER or CLUSTER+SHAPE, by side
	Own     [SidesMax]SideSpec // what is particular to a side
	Reset   system.Reset       // of sides without one of their own
	Cold    bool               // each run starts from empty caches
	Local   system.Local
	Log     replay.Spec       // played again on each side instead of a load; no paths: there is a load
	FailIf  []string          // gates
	Files   checks.Files      // for a CI server
	Show    string            // a stored comparison, by Store.Named, to show instead of making one; empty: none
	Beside  string            // another stored one, to stand beside it
	Planned func(text string) // is told how many runs there will be, and how long they take

	itself bool // the first side stands for both
}

// Run checks what is asked for, brings it up, and compares. Nil: nothing could begin.
func (q Request) Run(ctx context.Context) (c *Comparison, err error) {
	down, err := q.bringUp(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, down()) }()
	q.Planned(fmt.Sprintf("at most %d runs of each of %d sides, about %s at most", q.Pairs, len(q.Sides),
		q.Estimate().Round(time.Minute)))
	return Compare(ctx, q.Options)
}

// SelfTest is Run for a self-test of the first side (SelfTest).
func (q Request) SelfTest(ctx context.Context, planted Planted, trials int, say func(string)) (t *SelfTested,
	err error) {
	if _, err := q.prepare(ctx); err != nil {
		return nil, err
	}
	if q.Beside != "" {
		return nil, problem.New(problem.Usage, errors.New("--beside has no effect with --self-test"), "leave it out")
	}
	q.itself = true
	down, err := q.bringUp(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, down()) }()
	q.Planned(fmt.Sprintf("%d comparisons, about %s at most", trials,
		(time.Duration(trials) * q.Estimate()).Round(time.Minute)))
	return SelfTest(ctx, q.Options, planted, trials, say)
}

func (q *Request) bringUp(ctx context.Context) (down func() error, err error) {
	if err := q.System.Page.Check(); err != nil {
		return nil, err
	}
	if err := q.readSides(); err != nil {
		return nil, err
	}
	if q.NewGenerator, err = q.System.Agents.Generators(); err != nil {
		return nil, err
	}
	down, err = q.BringUp(ctx, q.Local, q.Cold)
	q.toDatabase()
	return down, err
}

// readSides are the systems that are asked for.
func (q *Request) readSides() error {
	for i, f := range q.given() {
		side, err := q.side(f)
		if err != nil {
			return problem.WithHint(fmt.Errorf("%s: %w", Letter(i), err), problem.HintOf(err))
		}
		q.Sides = append(q.Sides, side)
	}
	if len(q.Sides) < 2 {
		return problem.New(problem.Usage, errors.New("compare needs two systems"),
			"such as 'plimsoll compare vanilla+lean plimsoll+lean', or 'plimsoll compare plimsoll+lean --set-b "+
				"NAME=VALUE'")
	}
	return nil
}

// given are the sides that are named. One system alone stands for all: what is particular to each changes it.
func (q *Request) given() []SideSpec {
	n := len(q.Systems)
	if n == 0 && slices.ContainsFunc(q.Own[:], SideSpec.namesSystem) {
		n = 1
	}
	if n == 1 && (q.itself || len(q.Systems) == 1 && q.Own[0].given()) {
		n = 2
	}
	if n > 0 {
		for i, f := range q.Own {
			if f.given() {
				n = max(n, i+1)
			}
		}
	}
	for i := range q.Own[:n] {
		f := &q.Own[i]
		switch {
		case i < len(q.Systems):
			f.System = q.Systems[i]
		case len(q.Systems) == 1:
			f.System = q.Systems[0]
		case len(q.Systems) == 0 && !f.namesSystem():
			f.DSN, f.URL, f.Scenario, f.Command = q.Own[0].DSN, q.Own[0].URL, q.Own[0].Scenario, q.Own[0].Command
		}
		if f.DSN != "" || f.Command != "" {
			f.System = ""
		}
	}
	return q.Own[:n]
}

func (q *Request) side(f SideSpec) (side Side, err error) {
	if err := f.check(q.System.Scenario); err != nil {
		return side, err
	}
	side.Name, side.Settings = f.title(), f.Settings
	if side.SQL, err = sqlOf(f.SQL); err != nil {
		return side, err
	}
	restore, err := sqlOf(f.Restore)
	if err == nil {
		side.Restore, err = system.ParseRestore(restore)
	}
	if err != nil {
		return side, err
	}
	if f.Command != "" {
		side.Command, err = system.Words(f.Command)
		return side, problem.New(problem.Usage, err, "")
	}
	name := side.Name
	if side.System, err = q.system(f); err == nil {
		side.Name = name
	}
	return side, err
}

// sqlOf reads SQL, or the file that @FILE names.
func sqlOf(text string) (string, error) {
	file, is := strings.CutPrefix(text, "@")
	if !is {
		return text, nil
	}
	sql, err := os.ReadFile(file)
	if err != nil {
		err = fmt.Errorf("read SQL: %w", err)
	}
	return string(sql), problem.New(problem.Usage, err, "")
}

// system of a side that is no command.
func (q *Request) system(f SideSpec) (y system.System, err error) {
	if q.Replay != nil {
		return q.replaySystem(f)
	}
	spec := q.System
	spec.Scenario = cmp.Or(f.Scenario, spec.Scenario)
	if y, err = spec.System(); err != nil {
		return y, err
	}
	if f.System != "" {
		if y, err = y.On(f.System); err != nil {
			return y, err
		}
	}
	y.DSN = f.DSN
	if f.URL != "" {
		y.Run.URLs = []string{f.URL}
	}
	if f.URL != "" || y.Target == (system.Target{}) {
		if err := y.CheckRequests(); err != nil {
			return y, err
		}
	}
	if f.Sampling != diagnose.RateDefault {
		y.Run.Sampling = cmp.Or(f.Sampling, run.SamplingOff)
	}
	y.Reset = cmp.Or(f.Reset, q.Reset)
	if y.Reset == system.ResetAuto && (f.Restore != "" || f.DSN != "") {
		y.Reset = system.ResetNone // its owner restores it, or nobody may reset it
	}
	if y.ERP() {
		y.WorkerFlags = []string{fmt.Sprintf("--trace-sample=%d", TraceSample)}
	}
	if len(f.Tweaks) == 0 {
		return y, nil
	}
	if !y.ERP() {
		return y, problem.New(problem.Usage, errors.New("tweaks apply only to ERP scenarios"), "")
	}
	y.Shape.Tweaks = f.Tweaked
	_, err = y.Shape.Worker()
	return y, err
}
