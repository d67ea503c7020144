package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/erp/fill"
	"plimsoll/lab/apdex"
	"plimsoll/lab/cluster"
	"plimsoll/lab/report"
	"plimsoll/lab/result"
	"plimsoll/lab/rig"
	"plimsoll/lab/run"
	"plimsoll/lab/runs"
	"plimsoll/lab/scenario"
	"plimsoll/lab/users"
	"plimsoll/platform/problem"
)

type runOptions struct {
	target
	shapeOptions
	fleet fleetOptions
	figureOptions
	lookOptions
	scenario, arrivals                       string
	rate                                     float64
	engine, url, html, title                 string
	users, workers, seed                     int
	duration, ramp, think, timeout, lagLimit time.Duration
	thinkKind                                string
	apdexTarget                              float64
	flags                                    *pflag.FlagSet
}

// usersMax is what one generator process is built for, with room above.
const (
	usersMax     = 100_000
	documentsMax = 100_000_000 // of a base
)

func (a *app) addRun(root *cobra.Command) {
	var o runOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "run [flags]",
		Short: "Put users on the ERP and score it: the main job",
		Long: `Put users on the ERP, score every key operation by Apdex, audit the books, and write
a report. What is missing is made first: a cluster, a small filled database, workers; what
this command started it stops again. Users act, wait for the answer, think, and act again.

--ui shows the run in a browser while it goes on: users, throughput, Apdex by operation,
latency, waits of the database, processors, log of events; and lets you pause it, change the
number of users or end it. What was changed by hand is in the result, which is then not valid.

Ctrl-C ends the run early and keeps what was measured; a second one stops at once. What a
process that was killed had counted until then, 'plimsoll runs' or 'plimsoll report' keeps.
Exit code 3 when the run is not valid, the books are wrong, a key operation failed each of ten
times or more, or --target is missed.`,
		Example: `  plimsoll run --users 1000 --duration 30s
  plimsoll run --users 30000 --think 20m --duration 10m --target 0.85
  plimsoll run --ui --users 5000 --duration 10h
  plimsoll run --cluster vanilla --json > vanilla.json
  plimsoll run --shape classic          the ERP as such systems are before they are tuned
  plimsoll run --url http://10.0.0.5:8080 --dsn postgres://…    workers that run elsewhere
  plimsoll run --users 30000 --think 20m --agents local:3    three processes make the load`,
	}, func(ctx context.Context, _ []string) error { return a.run(ctx, o) })
	fs := c.Flags()
	o.flags = fs
	config.Count(fs, &o.users, "users", scenario.UsersDefault, 1, usersMax, "users at work at the same time")
	config.Span(fs, &o.duration, "duration", run.DurationDefault, time.Second, "how long the steady state is measured")
	config.Span(fs, &o.ramp, "ramp", run.RampDefault, 0, "over which users come to work before that")
	config.Span(fs, &o.think, "think", scenario.ThinkMeanDefault, 0, "mean time a user thinks between an answer and the next operation")
	config.Choice(fs, &o.thinkKind, "think-distribution", string(users.Lognormal), distributions(), "how think times are spread")
	scenarioFlag(c, &o.scenario)
	arrivalFlags(c, &o)
	config.Count(fs, &o.seed, "seed", run.SeedDefault, 0, mostOfAnything, "seed of everything that is by chance")
	config.Fraction(fs, &o.apdexTarget, "target", 0, "exit code 3 when the overall Apdex is below this, e.g. 0.85")
	config.Span(fs, &o.timeout, "timeout", run.TimeoutDefault, time.Millisecond, "of one operation; what takes longer has failed")
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond, "the run is not valid when 1 of 100 operations was sent later than this")
	config.Count(fs, &o.workers, "workers", run.WorkersDefault, 1, 64, "application-server processes to start")
	shapeFlags(c, &o.shapeOptions)
	fs.StringVar(&o.url, "url", "", "`URL`s of workers that run already, with commas between; starts none")
	fs.StringVar(&o.html, "html", "", "write the HTML report to this `FILE` too")
	fs.StringVar(&o.title, "title", "", "a `TEXT` that stands above the result")
	lookFlags(c, &o.lookOptions)
	a.targetFlags(c, &o.target)
	engineFlag(c, &o.engine)
	fleetFlags(c, &o.fleet)
	figureFlags(c, &o.figureOptions)
	config.FlagOnly(fs, "html")
}

func (a *app) run(ctx context.Context, o runOptions) error {
	if err := cmp.Or(o.fleet.check(), o.figureOptions.check(), writable(o.html)); err != nil {
		return err
	}
	options, err := a.runOptions("run", o)
	if err != nil {
		return err
	}
	looks, err := a.openLooks(o.lookOptions)
	if err != nil {
		return err
	}
	looks.options(&options)
	options.Progress = a.runProgress(looks)
	r, err := a.measure(ctx, o, options)
	looks.finish(r, err)
	if r != nil {
		err = a.finishRun(o, r, err)
	}
	if closed := looks.close(ctx); err == nil {
		err = closed
	}
	return err
}

// measure makes the run on what it finds or makes, and takes down what it made.
func (a *app) measure(ctx context.Context, o runOptions, options run.Options) (r *result.Result, err error) {
	dsn, profile, takeDown, err := a.readyFor(ctx, o, options.Scenario)
	if err != nil {
		return nil, err
	}
	defer func() {
		if down := takeDown(); err == nil {
			err = down
		}
	}()
	if options.Scenario.Application == scenario.ERP {
		if options.Scale, err = rig.Scale(ctx, dsn); err != nil {
			return nil, err
		}
	}
	options.DSN, options.Profile = dsn, profile
	options.ServeEnv = append(options.ServeEnv, "PLIMSOLL_DSN="+dsn)
	defer a.meter.End()
	fleet, err := a.fleet(ctx, o.fleet)
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
	return run.Run(ctx, options)
}

func (o runOptions) options() (run.Options, error) {
	serve, err := serveCommand()
	if err != nil {
		return run.Options{}, err
	}
	if _, err := o.shape(); err != nil {
		return run.Options{}, err
	}
	options := run.Options{
		Serve:    append(serve, o.shapeOptions.arguments()...),
		Workers:  o.workers,
		Duration: o.duration,
		Ramp:     o.ramp,
		Timeout:  o.timeout,
		LagLimit: o.lagLimit,
		Seed:     uint64(o.seed),
		Title:    o.title,
		Software: software().Version,
		Store:    runs.Default(),
	}
	if o.ramp == 0 {
		options.Ramp = run.None
	}
	for _, u := range strings.Split(o.url, ",") {
		if u = strings.TrimSpace(u); u != "" {
			options.URLs = append(options.URLs, strings.TrimRight(u, "/"))
		}
	}
	return options, nil
}

// serveCommand starts this same program as a worker on a port of its own.
func serveCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{self, "serve", "--listen", "127.0.0.1:0", "--jobs", "0", "--json"}, nil
}

// ready gives the ERP's database, making what is missing, and how to take down what it started.
func (a *app) ready(ctx context.Context, o runOptions) (dsn, profile string, takeDown func() error, err error) {
	if o.foreign() {
		return o.dsn, "", func() error { return nil }, nil
	}
	if o.url != "" {
		// Workers that run already have a base; one that is made here would be another.
		dsn, takeDown, err := a.loaded(ctx, o.target, "--url needs the database of those workers: --dsn, or a cluster that runs")
		return dsn, "", takeDown, err
	}
	name, err := a.pickOrName(ctx, o.cluster, o.engine)
	if err != nil {
		return "", "", nil, err
	}
	r, err := rig.Up(ctx, rig.Options{
		Clusters: a.clusters(), Name: name, Spec: cluster.Spec{Engine: specEngine(name, o.engine)},
		Fill: fill.Options{Progress: a.fillProgress()}, Say: a.meter.Say,
	})
	a.meter.End()
	if err != nil {
		return "", "", nil, err
	}
	return r.DSN().Secret(), r.Profile(), r.Close, nil
}

func (a *app) runProgress(l *looks) func(run.Progress) {
	begun := false
	return func(p run.Progress) {
		if !begun {
			a.meter.Phase("run", 1, "")
			l.begin()
			begun = true
		}
		note := fmt.Sprintf("%s, %d users", p.Phase, p.Users)
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

// finishRun shows the result and turns it into an error where the answer is no.
func (a *app) finishRun(o runOptions, r *result.Result, err error) error {
	if o.html != "" {
		if htmlErr := writeHTML(o.html, func(w io.Writer) error { return report.HTML(w, r) }); err == nil {
			err = htmlErr
		}
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
	if err := report.Text(a.stdout, r); err != nil {
		return err
	}
	path := o.html
	if path == "" {
		path = runs.Default().ReportPath(r.ID)
	}
	if !fileExists(path) {
		return nil // it could not be written, which is said
	}
	_, err := fmt.Fprintf(a.stdout, "report: %s\n", path)
	return err
}

// judge is the exit code's reason, the gravest first.
func judge(r *result.Result, target float64) error {
	no := func(format string, args ...any) error {
		return problem.New(problem.Threshold, fmt.Errorf(format, args...), "")
	}
	switch {
	case r.Interrupted:
		return problem.New(problem.Interrupted, fmt.Errorf("stopped after %.0f s of the steady state; what was measured is kept as run %s", r.DurationS, r.ID), "")
	case r.Audit.Done && !r.Audit.Clean:
		return no("the books are wrong: %d violations; the run scores nothing", r.Audit.Violations)
	case !r.Valid:
		return no("the run is not valid: %s", strings.Join(r.InvalidReasons, "; "))
	case len(r.Unanswered(result.BrokenFrom)) > 0:
		return no("%s", strings.Join(r.Warnings, "; "))
	case target > 0 && (r.Apdex == nil || *r.Apdex < target):
		return no("Apdex %s is below the target %v", scoreText(r.Apdex), target)
	}
	return nil
}
