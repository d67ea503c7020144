package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/load"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/run"
	"plimsoll/lab/run/agents"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
	"plimsoll/lab/view/checks"
	"plimsoll/lab/view/report"
	"plimsoll/lab/view/samples/keep"
)

type runOptions struct {
	samples string // file
	log     string // folder
	details bool
	against []string
	margin  float64
	measureOptions
	failIf []string
	files  checks.Files
	figureOptions
	viewOptions
}

func (a *app) addRun(root *cobra.Command) {
	var o runOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "run [flags]",
		Short: "Put virtual users on the ERP and score it: the main command",
		Long: `Put virtual users on the ERP, score every key operation by Apdex, audit the books, and write a
report. Users act, wait for the answer, think, and act again. Anything missing is created
first: a local PostgreSQL cluster, a small filled database, application servers. Whatever this
command starts, it stops at the end.

It prints the verdict and why, the worst operations, what limits the system, and where the
report is. --details prints all tables and conditions, as does 'plimsoll report' afterwards.

--ui shows the run in a browser while it lasts: users, throughput, Apdex by operation, latency,
database waits, processors, events. There you can pause the run, change the number of users, or
end it early. Such changes are recorded and make the run not valid.

Ctrl-C ends the run early and keeps what was measured; a second Ctrl-C stops at once. If the
process is killed, 'plimsoll runs' or 'plimsoll report' recovers what it had counted.

--fail-if names what fails: "OPERATION: p95 > 200ms", also p99.9, mean, max, and of an operation or
of the whole run "errors > 1%", "refused > 2%", "throughput < 50/s", "apdex < 0.9"; * stands for
each operation, and [gates] of a scenario file has the same. --against compares the run with
stored ones: has it become worse? What cannot be decided, because the run is not valid, too short
or there are too few runs, does not pass (docs/ci.md).
Exit code 3: the run is not valid, the books are wrong, the Apdex is below --target, a gate did
not pass, or a key operation failed every time (in ten tries or more).`,
		Example: `  plimsoll run --users 1000 --duration 30s
  plimsoll run --users 30000 --think 20m --duration 10m --target 0.85
  plimsoll run --ui --users 5000 --duration 10h
  plimsoll run --cluster vanilla --json > vanilla.json
  plimsoll run --shape classic          the ERP as such systems are written, row by row
  plimsoll run --load 1c --users 200    the load of a 1C server on a base of its layout
  plimsoll run --write-log day          and what the server logs of it, to score and to replay
  plimsoll run --load 1c --write-log day    and the technological log of a 1C server
  plimsoll run --fail-if "goods_sale.post: p95 > 200ms" --fail-if "errors > 1%" --junit gates.xml
  plimsoll run --scenario own.toml --against nightly/ --markdown summary.md
  plimsoll run --pgbench tpcb-like --users 20 --dsn postgres://…    scripts of pgbench, unchanged
  plimsoll run --url http://10.0.0.5:8080 --dsn postgres://…    application servers elsewhere
  plimsoll run --users 30000 --think 20m --agents local:3    three processes generate the load`,
	}, func(ctx context.Context, _ []string) error { return a.run(ctx, o) })
	fs := c.Flags()
	usersFlag(c, &o.loadOptions)
	loadFlags(c, &o.loadOptions, loadDefaults{
		duration: load.DurationDefault, durationText: "length of the steady state, the part that is measured",
		ramp: load.RampDefault, rampText: "time over which the users start work, before the steady state",
		seed: "random seed",
	})
	arrivalFlags(c, &o.loadOptions)
	config.Fraction(fs, &o.apdexTarget, "target", 0, "exit with code 3 if the overall Apdex is below this, such as "+
		"0.85")
	gateFlags(c, &o.failIf, &o.files, "`CONDITION` under which the run fails, such as \"goods_sale.post: p95 > "+
		"200ms\" or \"errors > 1%\"; may be repeated")
	fs.StringArrayVar(&o.against, "against", nil, "fail if the run is worse than those of this `BASELINE`: "+
		baselineUsage+"; may be repeated")
	config.Fraction(fs, &o.margin, "margin", compare.PastMarginDefault, "with --against: a worsening that must be "+
		"found; if the runs vary too much for that, it cannot be decided")
	config.FlagOnly(fs, "against")
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond,
		"the run is not valid if more than 1 % of the operations were sent later than this")
	fs.StringVar(&o.samples, "samples", "", "write every operation to this Parquet `FILE`, for 'plimsoll recompute'; "+
		"with --agents local:N one file for each agent, such as run.1.parquet")
	config.FlagOnly(fs, "samples")
	fs.StringVar(&o.log, "write-log", "",
		"also write to this `FOLDER` what the server logs of the users' statements, or with --load 1c the "+
			"technological log that a 1C server would write, for 'plimsoll score' and 'plimsoll replay'")
	config.FlagOnly(fs, "write-log")
	fs.BoolVar(&o.details, "details", false, "print all tables and conditions above the summary")
	config.FlagOnly(fs, "details")
	samplingFlag(fs, &o.sampling, "sampling", "")
	a.measureFlags(c, &o.measureOptions)
	viewFlags(c, &o.viewOptions)
	figureFlags(c, &o.figureOptions)
}

func (a *app) run(ctx context.Context, o runOptions) error {
	spec := a.spec("run", o.measureOptions)
	if err := spec.Check(); err != nil {
		return err
	}
	measured, err := spec.System()
	if err != nil {
		return err
	}
	measured.Reset = system.ResetNone // it works on the base itself
	if err := o.checkLog(measured); err != nil {
		return err
	}
	options := &measured.Run
	options.Store.Beginning = o.label
	if options.Gates, err = gate.ParseAll(o.failIf, options.Scenario.OperationIDs()); err == nil {
		err = o.files.Check()
	}
	if err != nil {
		return err
	}
	stored, err := a.loadRuns(o.against)
	if err != nil {
		return err
	}
	options.Sampling = cmp.Or(o.sampling, run.SamplingOff)
	o.figureOptions.token, o.figureOptions.insecure = options.Access.FiguresToken, options.Access.Insecure
	if err := o.figureOptions.check(); err != nil {
		return err
	}
	if err := refuseIdle(o.flags, o.viewOptions.idle(), idle{len(o.against) == 0, []string{"margin"},
		"has no effect without --against", "add --against"}); err != nil {
		return err
	}
	shown, err := a.openViews(o.viewOptions)
	if err != nil {
		return err
	}
	shown.options(options)
	options.Progress = a.runProgress(shown)
	r, err := a.measure(ctx, o, spec.Agents, measured)
	shown.finish(r, err)
	if r != nil {
		if len(o.against) > 0 && err == nil && !r.Interrupted {
			err = a.compareWith(o, r, stored)
		}
		err = a.finishRun(o, r, err)
	}
	if closed := shown.close(ctx); err == nil {
		err = closed
	}
	return err
}

// measure runs the load on what it finds or creates, and stops what it started.
func (a *app) measure(ctx context.Context, o runOptions, generators agents.Spec, y system.System) (r *result.Result,
	err error) {
	down, err := a.local().Up(ctx, nil, &y)
	a.meter.End()
	if err != nil {
		return nil, err
	}
	defer func() {
		if ended := down(); err == nil {
			err = ended
		}
	}()
	options := y.Run
	if !o.foreign() && !o.clusterFlag.Changed {
		options.DSNOrigin = "the default cluster " + y.Cluster + "; --dsn or --cluster names another"
	}
	options.ServeEnv = append(options.ServeEnv, "PLIMSOLL_DSN="+options.DSN)
	defer a.meter.End()
	fleet, err := generators.Open(ctx, options.DSN, o.samples)
	if err != nil {
		return nil, err
	}
	if fleet != nil {
		defer fleet.Dismiss()
		options.Generator = fleet
	}
	ended, err := a.figures(&options, o.figureOptions)
	if err != nil {
		return nil, err
	}
	defer ended()
	if fleet == nil {
		return a.runLogged(ctx, o, y, options)
	}
	if r, err = run.Run(ctx, options); r != nil {
		fleet.Conclude(agents.Ending{Run: r.ID, From: inSeconds(r.Series.SteadyFromS),
			To: inSeconds(r.Series.SteadyToS)})
	}
	return r, err
}

func inSeconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// runKept keeps every operation in a file, if it is named.
func (a *app) runKept(ctx context.Context, path string, options run.Options) (r *result.Result, err error) {
	if path == "" {
		return run.Run(ctx, options)
	}
	file, err := keep.Create(path, keep.HeadOf(options.Load))
	if err != nil {
		return nil, problem.New(problem.Environment, err, samplesHint)
	}
	options.Ended = file.Add
	r, err = run.Run(ctx, options)
	if closed := file.Close(r); closed != nil && err == nil {
		err = problem.New(problem.Environment, closed, "is the disk full?")
	}
	return r, err
}

func (a *app) runProgress(l *views) func(run.Progress) {
	begun := false
	return func(p run.Progress) {
		if !begun {
			a.meter.Phase("run", 1, "")
			l.begin()
			begun = true
		}
		note := fmt.Sprintf("%s, %d users", p.Phase, p.Users)
		if p.Audited > 0 {
			note = fmt.Sprintf("%s, %.0f %% of the books", p.Phase, 100*p.Audited)
		}
		if p.OpsPerS > 0 {
			note += fmt.Sprintf(", %.0f ops/s", p.OpsPerS)
		}
		if p.Scored {
			note += ", Apdex " + apdex.Text(p.Apdex)
		}
		if p.Backlog > 0 {
			note += fmt.Sprintf(", %d wait for a slot", p.Backlog)
		}
		if p.Errors > 0 {
			note += fmt.Sprintf(", %d errors", p.Errors)
		}
		a.meter.UpdateLeft(p.Share, p.Left, note)
	}
}

// compareWith the stored runs, and keep what they say with the run.
func (a *app) compareWith(o runOptions, r *result.Result, stored []*result.Result) error {
	p := compare.Against(r, o.against, stored, o.margin)
	for _, warning := range p.Warnings {
		a.meter.Say("baseline: %s", warning)
	}
	return keptRuns().Save(r)
}

// finishRun shows the result and turns it into an error if the answer is no.
func (a *app) finishRun(o runOptions, r *result.Result, err error) error {
	page := func(w io.Writer) error { return report.HTML(w, r) }
	if failed := kept.Page(o.html).Write(page); err == nil {
		err = failed
	}
	if failed := o.files.Write(checks.OfRun(r, o.apdexTarget)); err == nil {
		err = failed
	}
	if showErr := a.showRun(o, r); err == nil {
		err = showErr
	}
	if err != nil {
		return err
	}
	return judge(r, o.apdexTarget)
}

func (a *app) showRun(o runOptions, r *result.Result) error {
	if a.json {
		return a.emit(r)
	}
	path := o.html
	if path == "" {
		path = store.Default().ReportPath(r.ID)
	}
	if !fileExists(path) {
		path = "" // it could not be written, which the error says
	}
	if o.details {
		if err := report.Text(a.stdout, r); err != nil {
			return err
		}
	}
	return report.Summary(a.stdout, r, path) // below the tables, which are longer than a screen, what matters most
}

// judge is the exit code's reason, the most severe first.
func judge(r *result.Result, target float64) error {
	no := func(hint, format string, args ...any) error {
		return problem.New(problem.Threshold, fmt.Errorf(format, args...), hint)
	}
	switch {
	case r.Interrupted:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %.0f s of the steady state; what was "+
			"measured is kept as run %s", r.DurationS, r.ID), "")
	case r.Audit.Done && !r.Audit.Clean:
		return no("'plimsoll audit' lists the violations of a database that still runs",
			"the books are wrong: %d violations; the run scores nothing", r.Audit.Violations)
	case !r.Valid:
		return no(invalidHint(r.InvalidCauses), "the run is not valid: %s", strings.Join(r.InvalidReasons, "; "))
	case len(r.Unanswered(result.BrokenFrom)) > 0:
		return no("", "%s", strings.Join(r.Warnings, "; "))
	case target > 0 && (r.Apdex == nil || *r.Apdex < target):
		return no("", "Apdex %s is below the target %v", scoreText(r.Apdex), target)
	}
	return result.JudgeGates(r.Gates, result.LongerHint)
}

// invalidHint says what to change after a run that is not valid, by the first cause that the user can remove. Others on
// the machine come first: they make a generator lag.
func invalidHint(causes []result.Cause) string {
	if slices.Contains(causes, result.ByDisturbance) {
		causes = []result.Cause{result.ByDisturbance}
	}
	for _, one := range causes {
		switch one {
		case result.ByDisturbance:
			return "stop what else uses the machine or the database, or raise --disturbed-limit"
		case result.ByGenerator:
			return "use fewer users, or several generators: --agents local:N, or --agents N on other machines"
		case result.ByFewness:
			return "use a longer --duration, more --users or a shorter --think"
		}
	}
	return ""
}
