package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/line"
	"plimsoll/lab/rig"
	"plimsoll/lab/run"
	"plimsoll/lab/scenario"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

// Defaults of a trial: shorter than a run of its own, since there are a dozen.
const (
	trialDuration = 20 * time.Second
	trialRamp     = 5 * time.Second
)

type lineOptions struct {
	runOptions
	bounds line.Bounds
	reset  string
	budget time.Duration
	resume bool
}

func (a *app) addLine(root *cobra.Command) {
	var o lineOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "line [flags]",
		Short: "Find how many users the system carries, and what limits it",
		Long: `Search for the load line: the number of users that still reaches the target. The number
is doubled until it fails, then the bracket is halved until it is one step wide; the lower
end must then pass three times more. The answer is an interval with its evidence, in users
at their think time and in operations per second, and the resource that limits it.

Each trial works on a new copy of the database (the one that is given stays as it is) or
after the scenario's own reset, has a seed of its own, and is kept as a run. A trial that
passes while its queue still grows is repeated twice as long.

Ctrl-C keeps the trials so far; the same command with --resume goes on.
Exit code 3 when no number of users reaches the target, or the budget ended the search.`,
		Example: `  plimsoll line
  plimsoll line --target 0.94 --think 20m --from 1000 --budget 2h
  plimsoll line --scenario own.toml --dsn postgres://…
  plimsoll line --resume`,
	}, func(ctx context.Context, _ []string) error { return a.line(ctx, o) })
	fs := c.Flags()
	config.Fraction(fs, &o.apdexTarget, "target", line.TargetDefault, "overall Apdex that must be reached")
	config.Count(fs, &o.bounds.First, "from", line.FirstDefault, 1, usersMax, "users of the first trial")
	config.Count(fs, &o.bounds.Most, "most", line.MostDefault, 1, usersMax, "users beyond which nothing is tried")
	config.Fraction(fs, &o.bounds.Resolution, "resolution", line.ResolutionDefault, "width of the answer, as a share of the users")
	config.Count(fs, &o.bounds.Confirmations, "confirmations", line.ConfirmationsDefault, 1, 20, "times that the answer must pass once more")
	config.Span(fs, &o.duration, "duration", trialDuration, time.Second, "steady state of one trial; longer where few users do little")
	config.Span(fs, &o.ramp, "ramp", trialRamp, 0, "over which the users of a trial come to work")
	config.Span(fs, &o.budget, "budget", 0, 0, "begin no trial that would not end within this; 0: take what it takes")
	config.Choice(fs, &o.reset, "reset", string(line.ResetAuto), []string{string(line.ResetAuto), string(line.ResetCopy), string(line.ResetSQL), string(line.ResetNone)},
		"state before each trial: a copy of the database (template), the\nscenario's sql, none, or what fits")
	fs.BoolVar(&o.resume, "resume", false, "go on with the last search of these settings that was stopped")
	config.Span(fs, &o.think, "think", scenario.ThinkMeanDefault, 0, "mean time a user thinks between an answer and the next operation")
	config.Choice(fs, &o.thinkKind, "think-distribution", string(users.Lognormal), distributions(), "how think times are spread")
	scenarioFlag(c, &o.scenario)
	config.Count(fs, &o.seed, "seed", run.SeedDefault, 0, mostOfAnything, "seed of the first trial; each has one of its own")
	config.Span(fs, &o.timeout, "timeout", run.TimeoutDefault, time.Millisecond, "of one operation; what takes longer has failed")
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond, "a trial fails when 1 of 100 operations was sent later than this")
	config.Count(fs, &o.workers, "workers", run.WorkersDefault, 1, 64, "application-server processes to start")
	fs.StringVar(&o.url, "url", "", "`URL`s of workers that run already, with commas between; starts none")
	fs.StringVar(&o.html, "html", "", "write the HTML report to this `FILE` too")
	fs.StringVar(&o.title, "title", "", "a `TEXT` that stands above the result")
	a.targetFlags(c, &o.target)
	engineFlag(c, &o.engine)
	shapeFlags(c, &o.shapeOptions)
	config.FlagOnly(fs, "html", "resume")
}

func (a *app) line(ctx context.Context, o lineOptions) error {
	options, err := a.lineOptions(o)
	if err != nil {
		return err
	}
	l, err := a.search(ctx, o, options)
	if l == nil {
		return err
	}
	if showErr := a.showLine(o, l); err == nil {
		err = showErr
	}
	if err != nil {
		return err
	}
	return judgeLine(l)
}

func (a *app) lineOptions(o lineOptions) (line.Options, error) {
	options, err := a.runOptions("line", o.runOptions)
	if err != nil {
		return line.Options{}, err
	}
	if o.apdexTarget <= 0 {
		return line.Options{}, problem.New(problem.Usage, fmt.Errorf("--target: must be above 0, not %v", o.apdexTarget), "")
	}
	if o.bounds.Resolution <= 0 {
		return line.Options{}, problem.New(problem.Usage, fmt.Errorf("--resolution: must be above 0, not %v", o.bounds.Resolution), "")
	}
	return line.Options{
		Run: options, Target: o.apdexTarget, Bounds: o.bounds, Reset: line.Reset(o.reset), Budget: o.budget, Resume: o.resume,
		Store: line.DefaultStore(),
	}, nil
}

// search makes the search on what it finds or makes, and takes down what it made.
func (a *app) search(ctx context.Context, o lineOptions, options line.Options) (l *line.Line, err error) {
	s := options.Run.Scenario
	dsn, profile, takeDown, err := a.readyFor(ctx, o.runOptions, s)
	if err != nil {
		return nil, err
	}
	defer func() {
		if down := takeDown(); err == nil {
			err = down
		}
	}()
	if s.Application == scenario.ERP {
		if options.Run.Scale, err = rig.Scale(ctx, dsn); err != nil {
			return nil, err
		}
	}
	options.Run.DSN, options.Run.Profile = dsn, profile
	options.Progress = a.lineProgress()
	a.meter.Say("about %d trials, about %s in all", options.Left(nil), options.Estimate().Round(time.Minute))
	defer a.meter.End()
	return line.Find(ctx, options)
}

func (a *app) lineProgress() func(line.Progress) {
	begun := false
	return func(p line.Progress) {
		if t := p.Ended; t != nil {
			a.meter.Say("trial %d, %s: %d users, Apdex %s, %.1f ops/s: %s%s", p.Trial, p.Purpose, p.Users, scoreText(t.Apdex), t.OpsPerS, t.Outcome, because(t.Why))
		}
		if !begun {
			a.meter.Phase("line", 1, "")
			begun = true
		}
		note := fmt.Sprintf("trial %d, %s, %d users: %s", p.Trial, p.Purpose, p.Users, p.Run.Phase)
		if p.Run.Scored {
			note += fmt.Sprintf(", Apdex %.3f", p.Run.Apdex)
		}
		a.meter.UpdateLeft(p.Share, p.Left, note)
	}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (a *app) showLine(o lineOptions, l *line.Line) error {
	if o.html != "" {
		f, err := os.Create(o.html)
		if err == nil {
			err = l.HTML(f)
			if closed := f.Close(); err == nil {
				err = closed
			}
		}
		if err != nil {
			return problem.New(problem.Environment, fmt.Errorf("write report: %w", err), "")
		}
	}
	if a.json {
		return a.emit(l)
	}
	if err := l.Text(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "report: %s\n", line.DefaultStore().ReportPath(l.ID))
	return err
}

// judgeLine is the exit code's reason.
func judgeLine(l *line.Line) error {
	const goOn = "the same command with --resume goes on"
	switch {
	case l.Stopped == line.ByHand:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d trials, which are kept: %s", len(l.Trials), l.Statement()), goOn)
	case !l.Complete:
		return problem.New(problem.Threshold, fmt.Errorf("the budget ended the search after %d trials: %s", len(l.Trials), l.Statement()), goOn)
	case l.Answer == nil:
		return problem.New(problem.Threshold, fmt.Errorf("%s", l.Statement()), "")
	}
	return nil
}
