package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/advise"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/store"
	"plimsoll/lab/system"
)

type adviseOptions struct {
	target
	run, html               string
	watch                   time.Duration
	apply                   []string
	all, yes, revert, check bool
	details                 bool
	compareArgs             []string // after --
}

func (a *app) addAdvise(root *cobra.Command) {
	var o adviseOptions
	var c *cobra.Command
	c = a.command(root, groupJob, &cobra.Command{
		Use:   "advise [flags] [-- ARGUMENTS OF COMPARE]",
		Short: "Say what to change on a PostgreSQL server, apply it, and check the gain",
		Long: `Read a PostgreSQL server (15 or newer) and say what to change: settings and what they cost in
memory, settings whose library is not loaded, old statistics, autovacuum, what holds vacuum back,
empty space in tables and indexes (an estimate; indexes are measured if pgstattuple is installed),
indexes that are missing, unused or duplicate, foreign keys without an index, temp tables,
connections, replicas, and settings that are harmful whatever they gain. Each piece of advice
says what was seen on this server, the reason, the comparison that proves it, and how to undo
it. What could not be read is listed with the privilege that is missing. Reading needs the role
pg_monitor and writes nothing.

--for watches the server first, --run uses the diagnosis of a run: advice then has a price and an
expected gain, and is ranked by it.

--apply ID changes settings, which needs a superuser, and indexes and statistics, which their
table's owner may. --all applies the advice on all problems; notes are applied only by their ID,
advice on harmful settings never. What the server refuses is listed with the reason, the rest is
applied, and the exit code is 1. Name the server itself, not a pooler in front of it.

A journal keeps the old state of each step before it is taken, so --revert works after Ctrl-C, too.
It undoes what was applied and leaves what somebody else has changed since. If a setting needs a
restart, a local cluster is restarted; for another server a message says so. Where the server does
not start again, the old settings are restored in its postgresql.auto.conf; --revert does that too
for a server that is down, if its files are on this machine and may be written, or names the lines.

--check compares the server as it was with the server as it is, in turns, and prints expected
against actual gain. Arguments after -- go to 'plimsoll compare'. A local cluster is stopped for it
and started again.`,
		Example: `  plimsoll advise --dsn postgres://monitor@db.example/erp
  plimsoll advise --for 2m --html advice.html
  plimsoll advise --run latest --json | jq '.advice[0]'
  plimsoll advise --for 2m --apply setting:work_mem --yes
  plimsoll advise --check -- --pairs 6 --duration 20s
  plimsoll advise --revert`,
		Args: func(c *cobra.Command, args []string) error {
			own, _ := splitAtDash(c, args)
			return arguments(0, 0, "")(c, own)
		},
	}, func(ctx context.Context, args []string) error {
		_, o.compareArgs = splitAtDash(c, args)
		return a.advise(ctx, o)
	})
	fs := c.Flags()
	config.Span(fs, &o.watch, "for", 0, 0, "watch the server this long first, to give advice a price; 0: do not")
	fs.StringVar(&o.run, "run", "", "take prices from the diagnosis of this run: its `ID`, the beginning of it, or "+
		"latest")
	fs.StringVar(&o.html, "html", "", "also write the report as HTML to this `FILE`")
	fs.StringArrayVar(&o.apply, "apply", nil, "apply the advice with this `ID`; may be repeated")
	fs.BoolVar(&o.all, "all", false, "apply all problems that can be applied")
	fs.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	fs.BoolVar(&o.revert, "revert", false, "undo all that was applied to this database")
	fs.BoolVar(&o.check, "check", false, "compare before with after, and print expected against actual gain")
	fs.BoolVar(&o.details, "details", false, "print evidence, mechanism, proof and the way back of each")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "details", "for", "run", "html", "apply", "all", "yes", "revert", "check")
	c.MarkFlagsMutuallyExclusive("for", "run")
	c.MarkFlagsMutuallyExclusive("apply", "all", "revert", "check")
}

// checkFlags refuses flags that another one would ignore.
func (o adviseOptions) checkFlags() error {
	does := ""
	switch {
	case o.revert:
		does = "--revert"
	case o.check:
		does = "--check"
	}
	switch {
	case len(o.compareArgs) > 0 && !o.check:
		return problem.New(problem.Usage, errors.New("arguments after -- apply only to --check"), "")
	case does != "" && (o.run != "" || o.watch > 0):
		return problem.New(problem.Usage, fmt.Errorf("--for and --run have no effect with %s", does),
			"they give advice a price: use them without "+does+", or with --apply or --all")
	case o.html != "" && (does != "" || o.all || len(o.apply) > 0):
		return problem.New(problem.Usage, errors.New("--html applies only to the report, and this command writes none"),
			"plimsoll advise --html "+o.html+" first")
	}
	return kept.Page(o.html).Check()
}

func (a *app) advise(ctx context.Context, o adviseOptions) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if o.revert {
		return a.adviseRevert(ctx, o.target)
	}
	applier, err := a.applierFor(ctx, o.target)
	if err != nil {
		return err
	}
	switch {
	case o.check:
		return a.adviseCheck(ctx, applier, o)
	}
	r, stopped, err := a.adviceFor(ctx, applier, o)
	switch {
	case err != nil:
		return err
	case stopped == nil && (o.all || len(o.apply) > 0):
		return a.adviseApply(ctx, applier, r, o)
	}
	return errors.Join(stopped, a.showAdvice(r, o))
}

func (a *app) showAdvice(r *advise.Report, o adviseOptions) error {
	text := r.Summary
	if o.details {
		text = r.Text
	}
	if err := a.answer(r, text); err != nil {
		return err
	}
	return kept.Page(o.html).Write(r.HTML)
}

// applierFor is the applier for the chosen server; it can restart a local cluster.
func (a *app) applierFor(ctx context.Context, t target) (advise.Applier, error) {
	if t.foreign() {
		return advise.Applier{DSN: t.dsn, Say: a.meter.Say}, nil
	}
	c, err := a.clusters().Running(ctx, t.cluster)
	if err != nil {
		return advise.Applier{}, problem.WithHint(err, "name a database with --dsn, or start a cluster with "+
			"'plimsoll up'")
	}
	h := a.applierOn(c)
	h.DSN, err = system.DatabaseOf(ctx, c)
	return h, err
}

// applierOn is the applier for a local cluster, which may be down.
func (a *app) applierOn(c *cluster.Cluster) advise.Applier {
	h := advise.Applier{DSN: c.DSN("").Secret(), Cluster: c.Name(), Say: a.meter.Say}
	h.Restart = func(ctx context.Context) error { return a.restart(ctx, c.Name(), func() error { return nil }) }
	h.Start = func(ctx context.Context) (string, error) {
		up, err := a.clusters().Up(ctx, c.Name(), cluster.Spec{})
		if err != nil {
			return "", err
		}
		return system.DatabaseOf(ctx, up)
	}
	return h
}

// restart stops a local cluster, calls between, and starts it again. It refuses while a run uses the cluster.
func (a *app) restart(ctx context.Context, name string, between func() error) error {
	if err := a.withoutLoad([]string{name}); err != nil {
		return err
	}
	store := a.clusters()
	done := store.Down(ctx, name, cluster.Fast)
	if done != nil && ctx.Err() == nil {
		return done
	}
	if done == nil {
		done = between()
	}
	// Also after Ctrl-C: it goes on to stop, and would stay down.
	_, err := store.Up(context.WithoutCancel(ctx), name, cluster.Spec{})
	return errors.Join(done, err)
}

// afterStop bounds the look at the settings after Ctrl-C has ended the watch.
const afterStop = 30 * time.Second

// adviceFor returns the advice for a server, with prices if a diagnosis was requested. What was seen before Ctrl-C is
// used too: stopped is the error to end with once the advice is shown.
func (a *app) adviceFor(ctx context.Context, h advise.Applier, o adviseOptions) (r *advise.Report, stopped, err error) {
	options := advise.Options{DSN: h.DSN, Cluster: h.Cluster, Software: software().Version}
	switch {
	case o.run != "":
		options.Causes, options.From, err = causesOfRun(o.run)
	case o.watch > 0:
		options.Causes, options.From, err = a.causesSeen(ctx, h.DSN, o.watch)
	}
	if options.Causes != nil && problem.ClassOf(err) == problem.Interrupted {
		stopped, err = err, nil
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterStop)
		defer cancel()
		ctx = bounded
	}
	if err != nil {
		return nil, nil, err
	}
	r, err = advise.Run(ctx, options)
	return r, stopped, err
}

func causesOfRun(id string) (all []advise.Cause, from string, err error) {
	r, err := store.Default().Load(id)
	if err != nil {
		return nil, "", err
	}
	if r.Diagnosis == nil || r.Diagnosis.Samples == 0 {
		return nil, "", problem.New(problem.Usage, fmt.Errorf("run %s has no diagnosis", r.ID),
			"choose another run, or watch the server with --for 2m")
	}
	all = []advise.Cause{}
	for _, f := range r.Diagnosis.Findings {
		c := advise.Cause{Name: f.Name, Title: f.Title, Evidence: f.Evidence, Price: f.Price,
			Statements: f.Statements}
		if i := f.PriceInterval; i != nil && i.High != nil {
			c.Gain = &advise.Range{Low: i.Low, High: *i.High}
		}
		all = append(all, c)
	}
	return all, "share of the operations' time in run " + r.ID, nil
}

func (a *app) causesSeen(ctx context.Context, dsn string, watch time.Duration) (all []advise.Cause, from string,
	err error) {
	d, err := a.watched(ctx, diagnose.Options{DSN: dsn, Duration: watch, Rate: diagnose.RateDefault,
		Software: software().Version}, "")
	if d == nil {
		return nil, "", err
	}
	all = []advise.Cause{}
	for _, f := range d.Findings {
		c := advise.Cause{Name: f.Name, Title: f.Title, Evidence: f.Evidence, Price: f.Price,
			Statements: f.Statements}
		if f.Gain != nil {
			c.Gain = &advise.Range{Low: f.Gain.Low, High: f.Gain.High}
		}
		all = append(all, c)
	}
	return all, fmt.Sprintf("share of the sessions' time, watched for %.0f s", d.LastedS), err
}

func (a *app) adviseApply(ctx context.Context, h advise.Applier, r *advise.Report, o adviseOptions) error {
	chosen, err := r.Choose(o.apply)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return a.showOutcome(&advise.Outcome{}, "nothing to apply: --apply can fix no problem of this server")
	}
	if !o.yes {
		for _, one := range chosen {
			fmt.Fprintf(a.stderr, "%s\n", one.Title)
			for _, do := range one.Do {
				fmt.Fprintf(a.stderr, "  %s\n", do)
			}
		}
		if err := a.confirm("This changes the server of database "+r.Server.Database+".", "nothing was changed",
			r.Server.Database); err != nil {
			return err
		}
	}
	out, err := h.Apply(ctx, chosen)
	return a.showChange(out, err, "applied; 'plimsoll advise --revert' undoes it")
}

// adviseRevert also works on a local cluster that is down: its settings may be what keeps it from starting.
func (a *app) adviseRevert(ctx context.Context, t target) error {
	h, down := advise.Applier{DSN: t.dsn, Say: a.meter.Say}, error(nil)
	if !t.foreign() {
		c, err := a.clusters().Chosen(ctx, t.cluster)
		if err != nil {
			return problem.WithHint(err, "name a database with --dsn")
		}
		if h, down = a.applierOn(c), c.MustRun(ctx); down == nil {
			if h.DSN, err = system.DatabaseOf(ctx, c); err != nil {
				return err
			}
		}
	}
	out, err := h.Revert(ctx)
	if out == nil && err != nil && down != nil {
		return down
	}
	text := "restored"
	if out != nil && len(out.Steps) == 0 {
		text = "nothing is applied to this database"
	}
	return a.showChange(out, err, text)
}

// showChange also shows what was done before an error.
func (a *app) showChange(out *advise.Outcome, err error, text string) error {
	if err != nil && !errors.Is(err, advise.ErrRefused) {
		text = "stopped"
	}
	if out == nil {
		return err
	}
	if shown := a.showOutcome(out, text); err == nil {
		err = shown
	}
	return err
}

func (a *app) showOutcome(out *advise.Outcome, text string) error {
	if a.json {
		return a.emit(out)
	}
	for _, s := range out.Steps {
		fmt.Fprintf(a.stdout, "%-9s %s\n", s.State, s.Advice)
	}
	for _, id := range out.Already {
		fmt.Fprintf(a.stdout, "%-9s %s\n", "already", id)
	}
	for _, r := range out.Refused {
		fmt.Fprintf(a.stdout, "%-9s %s: %s\n", advise.Refused, r.Advice, r.Why)
	}
	for _, line := range out.ByHand {
		fmt.Fprintf(a.stdout, "%-9s %s\n", "manually", line)
	}
	fmt.Fprintln(a.stdout, text)
	if out.Needs != "" {
		fmt.Fprintln(a.stdout, out.Needs)
	}
	if out.Command != "" {
		fmt.Fprintf(a.stdout, "check the gain: plimsoll advise --check, which runs\n  %s\n", out.Command)
	}
	return nil
}
