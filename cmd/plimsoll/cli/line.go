package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

// Defaults of a trial: shorter than a single run, since a search makes a dozen.
const (
	trialDuration = 20 * time.Second
	trialRamp     = 5 * time.Second
)

type lineOptions struct {
	measureOptions
	bounds line.Bounds
	reset  string
	budget time.Duration
	resume bool
	// control searches the first configuration twice.
	control bool
	// configurations are searched in turns, each a cluster and a shape.
	configurations []string
}

func (a *app) addLine(root *cobra.Command) {
	var o lineOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "line [flags]",
		Short: "Find how many users the system carries, and what limits it",
		Long: `Search for the load line: the largest number of users at which the overall Apdex still reaches
--target. The answer is a 95 % interval, computed from how all trials ended, in users, with the
operations per second and the resource that limits the system.

Double the users until a trial fails, then halve the bracket between the largest number that
passed and the smallest that failed until it is narrower than --resolution. Both ends are then
repeated --confirmations times, and the majority of these trials decides: no single trial is
final. A trial fails only if the whole 95 % interval of its score lies below the target. If the
score lies below it and the interval does not, the trial is repeated with twice and four times
the length; what stays undecided counts as not passed.

Each trial starts from a new copy of the filled base. If 'plimsoll fill' kept none, it is a copy
of the database as it is; a scenario may bring its own reset instead. The original is never
changed. Each trial has its own random seed and is stored as a run. A trial that passes while
its queue still grows is repeated with twice the length. If something other than the system
spoilt a trial (the generator fell behind, a process crashed, the machine slept), or it had too
few operations, the trial is void and repeated, at most twice; then it is reported as void, not
as failed.

--configurations searches several systems in one session, in turns: one trial of each, then the
next trial of each, from equally filled bases. A system is CLUSTER+SHAPE: a local cluster and a
shape of the ERP; with --load 1c it is CLUSTER+OUTFIT, of plain, extensions and memory. A cluster
named after its flavour (plimsoll, vanilla, system) is created if it is missing. A table compares
each system's users with the first one's. --control searches the first system twice: it is
approved if the ratio of the two results is known to be near 1.

Ctrl-C keeps the trials so far; the same command with --resume continues, on the same server and
with the same version of plimsoll.
Exit code 3: no number of users reaches the target, void trials leave the upper end open, the
budget ended the search, or none of several systems failed up to --most: then there is no
comparison; use a shorter --think or a larger --most.`,
		Example: `  plimsoll line
  plimsoll line --target 0.94 --think 20m --from 1000 --budget 2h
  plimsoll line --scenario own.toml --dsn postgres://…
  plimsoll line --agents local:2 --from 10000       two processes generate the load
  plimsoll line --resume
  plimsoll line --configurations vanilla+classic,vanilla+tuned,plimsoll+lean --think 2s
  plimsoll line --load 1c --configurations vanilla+plain,vanilla+extensions,plimsoll+memory`,
	}, func(ctx context.Context, _ []string) error { return a.line(ctx, o) })
	fs := c.Flags()
	config.Fraction(fs, &o.apdexTarget, "target", line.TargetDefault, "overall Apdex that a trial must reach to pass")
	config.Count(fs, &o.bounds.First, "from", line.FirstDefault, 1, usersMax, "users of the first trial")
	config.Count(fs, &o.bounds.Most, "most", line.MostDefault, 1, usersMax, "maximum number of users to try")
	config.Fraction(fs, &o.bounds.Resolution, "resolution", line.ResolutionDefault,
		"width of the bracket, as a share of the users")
	config.Count(fs, &o.bounds.Confirmations, "confirmations", line.ConfirmationsDefault, 1, 20,
		"trials that repeat each end of the bracket; the majority decides")
	config.Span(fs, &o.budget, "budget", 0, 0, "start no trial that would end later than this; 0: no limit")
	config.Choice(fs, &o.reset, "reset", string(system.ResetAuto), words(system.Resets),
		"start each trial from the base as it was filled, a copy of the database as it is (template), the "+
			"scenario's sql, or no reset (none); auto takes what fits")
	fs.StringSliceVar(&o.configurations, "configurations", nil, "search several systems in turns: `CLUSTER+SHAPE`, "+
		"separated by commas or repeated; a cluster alone takes the shape of --shape")
	fs.BoolVar(&o.control, "control", false, "search the first of --configurations twice, as an A/A control")
	fs.BoolVar(&o.resume, "resume", false, "continue the last search with these settings that was stopped")
	loadFlags(c, &o.loadOptions, loadDefaults{
		duration: trialDuration, durationText: "steady state of one trial; longer if few users do too little to judge",
		ramp: trialRamp, rampText: "time over which the users of a trial start work",
		seed: "random seed of the first trial; each further trial has its own",
	})
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond,
		"a trial is void if more than 1 % of the operations were sent later than this")
	a.measureFlags(c, &o.measureOptions)
	config.FlagOnly(fs, "resume", "configurations", "control")
	for _, one := range []string{"cluster", "dsn", "url", "engine"} {
		c.MarkFlagsMutuallyExclusive("configurations", one)
	}
}

func (a *app) line(ctx context.Context, o lineOptions) error {
	if err := writable(o.html); err != nil {
		return err
	}
	options, systems, err := a.lineOptions(o)
	if err == nil && o.resume {
		err = options.Store.Resumable()
	}
	if err != nil {
		return err
	}
	down, err := a.bringUp(ctx, systems...)
	if err != nil {
		return err
	}
	found, err := a.search(ctx, options, systems)
	if ended := down(); err == nil {
		err = ended
	}
	if found == nil {
		return err
	}
	if shown := a.showLine(o.html, found); err == nil {
		err = shown
	}
	if err != nil {
		return err
	}
	return found.judge()
}

// lineOptions are the search, and the systems that are searched.
func (a *app) lineOptions(o lineOptions) (options line.Options, systems []*system.System, err error) {
	y, err := a.systemOf("line", o.measureOptions)
	if err != nil {
		return options, nil, err
	}
	y.Reset = system.Reset(o.reset)
	usage := func(err error, hint string) (line.Options, []*system.System, error) {
		return options, nil, problem.New(problem.Usage, err, hint)
	}
	switch {
	case o.apdexTarget <= 0:
		return usage(fmt.Errorf("--target: must be above 0, not %v", o.apdexTarget), "")
	case o.bounds.Resolution <= 0:
		return usage(fmt.Errorf("--resolution: must be above 0, not %v", o.bounds.Resolution), "")
	case o.bounds.First > o.bounds.Most:
		return usage(fmt.Errorf("--from %d exceeds --most %d", o.bounds.First, o.bounds.Most),
			"lower --from or raise --most")
	case o.control && len(o.configurations) == 0:
		return usage(errors.New("--control: there is one system only"), "--configurations names several")
	}
	systems = []*system.System{&y}
	if len(o.configurations) > 0 {
		if systems, err = configurations(o.configurations, y); err != nil {
			return options, nil, err
		}
	}
	o.fleet.workers = o.workerAccess
	generator, err := a.newGenerator(o.fleet)
	return line.Options{
		Run: y.Run, NewGenerator: generator, Target: o.apdexTarget, Bounds: o.bounds, Reset: y.Reset, Budget: o.budget,
		Resume: o.resume, Control: o.control, Store: line.DefaultStore(),
	}, systems, err
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

// found is a search, or several in turns.
type found struct {
	id   string
	view view
	// judge decides the exit code.
	judge func() error
}

// view of a search.
type view interface {
	Text(io.Writer) error
	HTML(io.Writer) error
}

// search searches one system, or several in turns; nil: nothing could begin.
func (a *app) search(ctx context.Context, options line.Options, systems []*system.System) (*found, error) {
	options.Progress = a.lineProgress()
	defer a.meter.End()
	if len(systems) > 1 {
		return a.searchAll(ctx, options, systems)
	}
	options.Run = systems[0].Run
	a.meter.Say("about %d trials, about %s in all", options.Left(nil), options.Estimate().Round(time.Minute))
	l, err := line.Find(ctx, options)
	if l == nil {
		return nil, err
	}
	return &found{l.ID, l, func() error { return judgeLine(l) }}, err
}

func (a *app) searchAll(ctx context.Context, options line.Options, systems []*system.System) (*found, error) {
	var all []line.System
	for _, y := range systems {
		all = append(all, line.System{Name: y.Name, Run: y.Run})
	}
	a.meter.Say("about %d trials of %d configurations in turns, about %s in all", len(all)*options.Left(nil), len(all),
		options.EstimateAll(all).Round(time.Minute))
	c, err := line.FindAll(ctx, options, all)
	if c == nil {
		return nil, err
	}
	return &found{c.ID, c, func() error { return judgeLines(c) }}, err
}

func (a *app) lineProgress() func(line.Progress) {
	begun := false
	return func(p line.Progress) {
		if t := p.Ended; t != nil {
			a.meter.Say("%strial %d, %s: %d users, Apdex %s, %.1f ops/s: %s%s", configurationPrefix(p), p.Trial,
				p.Purpose, p.Users,
				scoreText(t.Apdex), t.OpsPerS, t.Outcome, inBrackets(t.Why))
		}
		if !begun {
			a.meter.Phase("line", 1, "")
			begun = true
		}
		note := fmt.Sprintf("%strial %d, %s, %d users: %s", configurationPrefix(p), p.Trial, p.Purpose, p.Users,
			p.Run.Phase)
		if p.Run.Scored {
			note += ", Apdex " + apdex.Text(p.Run.Apdex)
		}
		a.meter.UpdateLeft(p.Share, p.Left, note)
	}
}

// configurationPrefix names the trial's configuration, if there are several.
func configurationPrefix(p line.Progress) string {
	if p.Configuration == "" {
		return ""
	}
	return p.Configuration + ", "
}

func inBrackets(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (a *app) showLine(page string, f *found) error {
	if page != "" {
		if err := writeHTML(page, f.view.HTML); err != nil {
			return err
		}
	}
	if a.json {
		return a.emit(f.view)
	}
	if err := f.view.Text(a.stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "report: %s\n", line.DefaultStore().ReportPath(f.id))
	return err
}
