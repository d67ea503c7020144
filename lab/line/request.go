package line

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/replay"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
	"plimsoll/lab/view/checks"
	"plimsoll/lab/view/report"
)

// Request is a search as a person asks for it: plain values, of which nothing is checked, read or started yet.
type Request struct {
	Options
	System system.Spec
	// Configurations are several systems to search in turns, each a CLUSTER+SHAPE; empty: the one of System.
	Configurations []string
	Local          system.Local
	Log            replay.Spec  // played again in each trial instead of a load; no paths: there is a load
	FailIf         []string     // gates
	Files          checks.Files // for a CI server
	// Planned is told what is to be done before the first trial.
	Planned func(format string, args ...any)
}

// Found is a search, or several in turns, with the gates of the request.
type Found struct {
	ID string
	Result
	report.Judged
}

// Result of a search, or of several.
type Result interface {
	// Summary fits on one screen; Text is everything.
	Summary(io.Writer) error
	Text(io.Writer) error
	HTML(io.Writer) error
	// Statement is the answer in a sentence; Judge says why it is no.
	Statement() string
	Judge() error
}

// Tell what was found on one screen, or all of it, and what became of the gates.
func (f *Found) Tell(w io.Writer, details bool) error {
	text := f.Summary
	if details {
		text = f.Text
	}
	return f.Below(w, text)
}

// MarshalJSON is that of the result, with the gates.
func (f *Found) MarshalJSON() ([]byte, error) { return f.JSON(f.Result) }

// Judge says why the answer is no, of the search or of a gate.
func (f *Found) Judge() error { return cmp.Or(f.Result.Judge(), result.JudgeGates(f.Gates, gateHint)) }

// Search checks what is asked for, brings it up, searches, judges the gates and writes the files that are asked for.
// Nil: nothing could begin.
func Search(ctx context.Context, q Request) (*Found, error) {
	gates, err := parseGates(q.FailIf, q.Configurations)
	if err == nil {
		err = q.Files.Check()
	}
	if err != nil {
		return nil, err
	}
	if q.Store != nil {
		q.Store.Labelled(q.System.Label)
	}
	found, err := q.search(ctx)
	if found == nil {
		return nil, err
	}
	found.judgeGates(gates)
	return found, cmp.Or(err, q.keep(found))
}

// keep what was found where it is asked for; the search itself has stored it.
func (q *Request) keep(f *Found) (err error) {
	if q.Store != nil {
		f.Page, err = q.Store.ReportPath(f.ID), q.Store.AddLabel(f.ID, q.System.Label)
	}
	return cmp.Or(err, q.System.Page.Write(f.HTML), q.Files.Write(f.report()))
}

// search brings up what is asked for, and searches.
func (q *Request) search(ctx context.Context) (found *Found, err error) {
	systems, err := q.systems(ctx)
	if err != nil {
		return nil, err
	}
	down, err := q.Local.Up(ctx, nil, systems...)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, down()) }()
	if len(systems) > 1 {
		q.Planned("about %d trials of %d configurations in turns, about %s in all", len(systems)*q.Left(nil),
			len(systems), q.EstimateAll(systems).Round(time.Minute))
		c, err := FindAll(ctx, q.Options, systems)
		if c == nil {
			return nil, err
		}
		return &Found{ID: c.ID, Result: c}, err
	}
	q.Run = systems[0].Run
	q.toDatabase()
	q.Planned("about %d trials, about %s in all", q.Left(nil), q.Estimate().Round(time.Minute))
	l, err := Find(ctx, q.Options)
	if l == nil {
		return nil, err
	}
	return &Found{ID: l.ID, Result: l}, err
}

// systems to search, if all that is asked for goes together.
func (q *Request) systems(ctx context.Context) (all []*system.System, err error) {
	if err := q.readLog(ctx); err != nil {
		return nil, err
	}
	if err := q.System.Check(); err != nil {
		return nil, err
	}
	if q.Replay != nil {
		if err := q.check(); err != nil {
			return nil, err
		}
		one, err := q.replayed(ctx)
		if err == nil && q.Resume {
			err = q.Store.Resumable()
		}
		one.Reset, q.Run = q.Reset, one.Run
		return []*system.System{&one}, err
	}
	one, err := q.System.System()
	if err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	if one.Run.Scenario.Staged() {
		return nil, problem.New(problem.Usage, errors.New("the scenario has stages: they vary the load that each "+
			"trial of a search must hold"), "take [[stages]] out of the file; 'plimsoll run' plays them")
	}
	one.Reset, q.Run = q.Reset, one.Run
	all = []*system.System{&one}
	if len(q.Configurations) > 0 {
		if all, err = configurations(q.Configurations, one); err != nil {
			return nil, err
		}
	}
	if q.NewGenerator, err = q.System.Agents.Generators(); err == nil && q.Resume {
		err = q.Store.Resumable()
	}
	return all, err
}

func (q *Request) check() error {
	usage := func(hint, format string, args ...any) error {
		return problem.New(problem.Usage, fmt.Errorf(format, args...), hint)
	}
	switch {
	case q.Target <= 0:
		return usage("", "--target: must be above 0, not %v", q.Target)
	case q.Resolution <= 0:
		return usage("", "--resolution: must be above 0, not %v", q.Resolution)
	case q.First > q.Most:
		return usage("lower --from or raise --most", "--from %d exceeds --most %d", q.First, q.Most)
	case q.Control && len(q.Configurations) == 0:
		return usage("--configurations names several", "--control: there is one system only")
	}
	return nil
}

// configurations are systems that differ in cluster and shape; each stands once.
func configurations(texts []string, common system.System) (all []*system.System, err error) {
	for _, text := range texts {
		y, err := common.On(text)
		if err == nil && slices.ContainsFunc(all, func(o *system.System) bool { return o.Name == y.Name }) {
			err = problem.New(problem.Usage, fmt.Errorf("%s is named twice", y.Name), "")
		}
		if err != nil {
			return nil, problem.WithHint(fmt.Errorf("--configurations: %w", err), problem.HintOf(err))
		}
		all = append(all, &y)
	}
	if len(all) < 2 {
		return nil, problem.New(problem.Usage,
			fmt.Errorf("--configurations: %s alone has nothing to be compared with", all[0].Name),
			"such as --configurations vanilla+classic,plimsoll+lean")
	}
	return all, nil
}
