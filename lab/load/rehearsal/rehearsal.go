// Package rehearsal owns the trial of a scenario before it is load: one user logs in and does each operation once, and
// everything that is sent, answered and set is shown.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/data"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/trace"
)

// Options of a rehearsal.
type Options struct {
	Scenario *scenario.Scenario
	DSN      string        // needed if there is SQL
	URLs     []string      // instead of the scenario's address
	User     int           // counted from 0, as client_id
	Seed     uint64        // of the random numbers
	Timeout  time.Duration // of an operation
	Secrets  bool          // are shown
}

// Report is what was done.
type Report struct {
	Scenario string `json:"scenario"`
	Digest   string `json:"digest"`
	User     int    `json:"user"`
	// Login is null where the scenario has none. If it fails, no operation is done.
	Login      *Part  `json:"login"`
	Operations []Part `json:"operations"`
	// LeftOut are the operations that the application brings along.
	LeftOut int `json:"left_out"`
	Failed  int `json:"failed"`
}

// Part is the log-in, or an operation.
type Part struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	TargetMS float64       `json:"target_ms,omitempty"`
	Outcome  string        `json:"outcome"` // ok, refused, overload, failed
	Error    string        `json:"error,omitempty"`
	MS       float64       `json:"ms"`
	Events   []trace.Event `json:"events"`
}

// valid says whether a part ended as it may.
func (p Part) valid() bool {
	return p.Outcome == tally.OK.String() || p.Outcome == tally.Refused.String()
}

// Play the rehearsal. The error is of what could not begin; what failed stands in the report.
func Play(ctx context.Context, o Options) (*Report, error) {
	s := o.Scenario
	r := &Report{Scenario: s.Name, Digest: s.Digest(), User: o.User, Operations: []Part{}}
	own, actions := ownOf(s)
	r.LeftOut = len(s.Operations) - len(own)
	if len(own) == 0 {
		return nil, problem.New(problem.Usage, errors.New("the scenario has no operation of its own, which could be "+
			"done once"), "'plimsoll run' does those of the application that it names")
	}
	if custom.NeedsBase(s.Own, actions) && s.Own.Base == "" && len(o.URLs) == 0 {
		return nil, problem.New(problem.Usage, errors.New("the scenario's requests are paths without an address"),
			"add --url, or base = \"http://…\" to [http] of the file")
	}
	settings := s.Own
	settings.Connections = 1
	web, err := settings.HTTP.Open(func() *http.Transport { return &http.Transport{DisableCompression: true} },
		o.User+1)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("tls of [http]: %w", err), "")
	}
	defer web.Close()
	if err := settings.ReadData(ctx, o.DSN); err != nil {
		return nil, err
	}
	player, err := custom.Open(ctx, custom.Options{Settings: settings, Actions: actions, Users: o.User + 1,
		Seed: o.Seed, DSN: o.DSN, Bases: o.URLs, Transport: func(user int) http.RoundTripper { return web.Of(user) }})
	if err != nil {
		return nil, problem.New(problem.Environment, err, "check host, port, user and password of --dsn")
	}
	defer player.Close()
	b := book{Report: r, timeout: o.Timeout}
	b.play(ctx, player, own, o)
	if !o.Secrets {
		b.mask()
	}
	return r, ctx.Err()
}

// ownOf a scenario are the operations that its file describes.
func ownOf(s *scenario.Scenario) (own []scenario.Operation, actions []*custom.Action) {
	for _, op := range s.Operations {
		if op.Action != nil {
			own, actions = append(own, op), append(actions, op.Action)
		}
	}
	return own, actions
}

// NeedsDatabase says whether a rehearsal needs a connection string.
func NeedsDatabase(s *scenario.Scenario) bool {
	_, actions := ownOf(s)
	queried := func(source *data.Source) bool { return source.SQL != "" }
	return custom.NeedsDatabase(s.Own, actions) || slices.ContainsFunc(s.Own.Data, queried)
}

// book keeps the report while it is made.
type book struct {
	*Report
	timeout time.Duration
	traces  []*trace.Trace
}

func (b *book) play(ctx context.Context, player *custom.Player, own []scenario.Operation, o Options) {
	login := b.part(ctx, Part{ID: "login"}, func(ctx context.Context) (tally.Outcome, error) {
		if err := player.LogIn(ctx, o.User); err != nil {
			return tally.Failed, err
		}
		return tally.OK, nil
	})
	if o.Scenario.Own.Login != nil {
		b.Login = &login
	}
	if !login.valid() {
		return
	}
	rng := rand.New(rand.NewPCG(o.Seed, uint64(o.User)))
	for i, op := range own {
		if ctx.Err() != nil {
			return
		}
		b.Operations = append(b.Operations, b.part(ctx,
			Part{ID: op.ID, Title: op.Title, TargetMS: human.MS(op.Target)},
			func(ctx context.Context) (tally.Outcome, error) { return player.Play(ctx, o.User, i, rng) }))
	}
}

// part does one thing and records it. Nobody thinks between its steps.
func (b *book) part(ctx context.Context, p Part, do func(context.Context) (tally.Outcome, error)) Part {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	record := &trace.Trace{Events: []trace.Event{}}
	notes := &tally.Notes{Resumes: true}
	ctx = tally.WithNotes(trace.With(ctx, record), notes)
	began := time.Now()
	outcome, err := do(ctx)
	for err == nil && notes.Pausing() > 0 {
		notes.Continue(0)
		outcome, err = do(ctx)
	}
	p.MS, p.Outcome, p.Events = human.MS(time.Since(began)), outcome.String(), record.Events
	if err != nil {
		p.Error = custom.Detailed(err).Error()
		if errors.Is(err, context.DeadlineExceeded) {
			p.Error = fmt.Sprintf("no answer within %s", human.Duration(b.timeout))
		}
	}
	b.traces = append(b.traces, record)
	if !p.valid() {
		b.Failed++
	}
	return p
}

func (b *book) mask() {
	var said []*string
	if b.Login != nil {
		said = append(said, &b.Login.Error)
	}
	for i := range b.Operations {
		said = append(said, &b.Operations[i].Error)
	}
	trace.Mask(b.traces, said...)
}

// Verdict is nil if nothing failed.
func (r *Report) Verdict() error {
	switch {
	case r.Failed == 0:
		return nil
	case r.Login != nil && !r.Login.valid():
		return problem.New(problem.Threshold, fmt.Errorf("the log-in failed: %s", r.Login.Error), "")
	}
	var failed []string
	for _, p := range r.Operations {
		if !p.valid() {
			failed = append(failed, p.ID)
		}
	}
	return problem.New(problem.Threshold, fmt.Errorf("%d of %s failed: %s", r.Failed,
		human.Count(len(r.Operations), "operation"), strings.Join(failed, ", ")), "")
}
