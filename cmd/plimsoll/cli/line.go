package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/apdex"
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
	// configurations are searched in turns, each a cluster and a shape.
	configurations []string
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
passes while its queue still grows is repeated twice as long. One whose run is not valid
through no fault of the system (the generator fell behind, something crashed, the machine
slept) is void: it is made again, twice at most, and what stays void is said, not failed.

With --configurations the lines of several systems are found in one session, in turns: a trial
of each, then the next of each, from bases that were filled alike. Each is a local cluster
(made where it is missing, if it is called after its flavour: plimsoll, vanilla, system) and a
shape of the ERP; the table has the users of each against those of the first.

Ctrl-C keeps the trials so far; the same command with --resume goes on.
Exit code 3 when no number of users reaches the target, when void trials leave open which
number does not, or when the budget ended the search.`,
		Example: `  plimsoll line
  plimsoll line --target 0.94 --think 20m --from 1000 --budget 2h
  plimsoll line --scenario own.toml --dsn postgres://…
  plimsoll line --agents local:2 --from 10000       two processes make the load of each trial
  plimsoll line --resume
  plimsoll line --configurations vanilla+classic,vanilla+tuned,plimsoll+lean --think 2s`,
	}, func(ctx context.Context, _ []string) error { return a.line(ctx, o) })
	fs := c.Flags()
	o.flags = fs
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
	fs.StringSliceVar(&o.configurations, "configurations", nil, "search several systems in turns: `CLUSTER+SHAPE`, with commas between\nor one after another; a cluster alone has the shape of --shape")
	fs.BoolVar(&o.resume, "resume", false, "go on with the last search of these settings that was stopped")
	config.Span(fs, &o.think, "think", scenario.ThinkMeanDefault, 0, "mean time a user thinks between an answer and the next operation")
	config.Choice(fs, &o.thinkKind, "think-distribution", string(users.Lognormal), distributions(), "how think times are spread")
	scenarioFlag(c, &o.scenario)
	config.Count(fs, &o.seed, "seed", run.SeedDefault, 0, mostOfAnything, "seed of the first trial; each has one of its own")
	config.Span(fs, &o.timeout, "timeout", run.TimeoutDefault, time.Millisecond, "of one operation; what takes longer has failed")
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond, "a trial is void when 1 of 100 operations was sent later than this")
	config.Count(fs, &o.workers, "workers", run.WorkersDefault, 1, 64, "application-server processes to start")
	fs.StringVar(&o.url, "url", "", "`URL`s of workers that run already, with commas between; starts none")
	fs.StringVar(&o.html, "html", "", "write the HTML report to this `FILE` too")
	fs.StringVar(&o.title, "title", "", "a `TEXT` that stands above the result")
	a.targetFlags(c, &o.target)
	engineFlag(c, &o.engine)
	shapeFlags(c, &o.shapeOptions)
	fleetFlags(c, &o.fleet)
	config.FlagOnly(fs, "html", "resume", "configurations")
	for _, one := range []string{"cluster", "dsn", "url", "engine"} {
		c.MarkFlagsMutuallyExclusive("configurations", one)
	}
}

func (a *app) line(ctx context.Context, o lineOptions) error {
	if err := writable(o.html); err != nil {
		return err
	}
	options, err := a.lineOptions(o)
	if err != nil {
		return err
	}
	if options.Muster, err = a.muster(o.fleet); err != nil {
		return err
	}
	if len(o.configurations) > 0 {
		return a.lines(ctx, o, options)
	}
	l, err := a.search(ctx, o, options)
	if l == nil {
		return err
	}
	if showErr := a.showLine(o, l.ID, l); err == nil {
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
	if o.bounds.First > o.bounds.Most {
		return line.Options{}, problem.New(problem.Usage, fmt.Errorf("--from %d is beyond --most %d", o.bounds.First, o.bounds.Most), "begin with fewer users, or let more be tried")
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
			a.meter.Say("%strial %d, %s: %d users, Apdex %s, %.1f ops/s: %s%s", whose(p), p.Trial, p.Purpose, p.Users, scoreText(t.Apdex), t.OpsPerS, t.Outcome, because(t.Why))
		}
		if !begun {
			a.meter.Phase("line", 1, "")
			begun = true
		}
		note := fmt.Sprintf("%strial %d, %s, %d users: %s", whose(p), p.Trial, p.Purpose, p.Users, p.Run.Phase)
		if p.Run.Scored {
			note += ", Apdex " + apdex.Text(p.Run.Apdex)
		}
		a.meter.UpdateLeft(p.Share, p.Left, note)
	}
}

// whose the trial is, where there are several.
func whose(p line.Progress) string {
	if p.Configuration == "" {
		return ""
	}
	return p.Configuration + ", "
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// found is a search, or several, as they are shown.
type found interface {
	Text(io.Writer) error
	HTML(io.Writer) error
}

func (a *app) showLine(o lineOptions, id string, f found) error {
	if o.html != "" {
		if err := writeHTML(o.html, f.HTML); err != nil {
			return err
		}
	}
	if a.json {
		return a.emit(f)
	}
	if err := f.Text(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "report: %s\n", line.DefaultStore().ReportPath(id))
	return err
}

// goOn is what to do about a search that has not ended.
const goOn = "the same command with --resume goes on"

// judgeLine is the exit code's reason.
func judgeLine(l *line.Line) error {
	switch {
	case l.Stopped == line.ByHand:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %d trials, which are kept: %s", len(l.Trials), l.Statement()), goOn)
	case !l.Complete:
		return problem.New(problem.Threshold, fmt.Errorf("the budget ended the search after %d trials: %s", len(l.Trials), l.Statement()), goOn)
	case l.Open():
		return problem.New(problem.Threshold, fmt.Errorf("%s; %d trials were void: %s", l.Statement(), l.Unmeasured.Times, l.Unmeasured.Why), voidHint)
	case l.Answer == nil:
		return problem.New(problem.Threshold, fmt.Errorf("%s", l.Statement()), "")
	}
	return nil
}

// voidHint is what to do about trials that say nothing.
const voidHint = "the same command without --resume begins anew; --from fewer users, or --agents on other machines where the generator is behind"
