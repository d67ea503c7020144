package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/confusion"
	"plimsoll/lab/prove/experiments"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/proof"
	"plimsoll/lab/prove/self"
	"plimsoll/lab/run"
	"plimsoll/lab/view/report"
)

type proveOptions struct {
	disturbed float64 // limit
	target
	engine             string
	all                bool
	duration           time.Duration
	repetitions, users int
	documents, threads int
	full               bool
	disks              []string
	self               bool
	confusion          bool
	only               []string // lines of self, plants of confusion
	long               bool
	repeat, pairs      int    // rounds of self and confusion, and pairs of self's A/A tests
	kept               string // file of confusion's trials
	set                string // of confusion's faults
	cure               string // incident of confusion that is played to its end
	seed, trials       int    // of confusion
	report             string
	archive, from      string // files of results, written and read
	budget             time.Duration
}

func (a *app) addProve(root *cobra.Command) {
	var o proveOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "prove [CLAIM...] [flags]",
		Short: "Test claims about ERPs on PostgreSQL on this machine",
		Long: `Without arguments: list the claims of five field reports, how long the experiment for each
takes, and its result on this machine.
With claims: run their experiments and store the results. Each says first what would
confirm the claim and what would refute it, and afterwards what was claimed and measured, the
verdict and the conditions. A verdict from another machine, engine, version or set of rules is
marked as stale and counts as none. Exit code 3: a claim is refuted.

A verdict answers three questions: does the effect show in the claimed direction, is it of the
claimed size, and was it measured in the report's situation (scale, idle or full, commit mode,
number of sessions)? What was there is printed beside what the report had.

With --report: write all claims and their stored results as one HTML page: what the report
claimed, what was measured here on each engine, verdict, conditions, charts and the command.
Results of other machines, engines and versions are included and marked as stale.

With --archive: write all stored results as one file, after the experiments if any run. On
another machine --report with --from writes the page of that file: so a large machine runs
everything in one command and brings back one file.

With --budget: run only what fits. Claims that were never tested here, or whose result is stale,
come first, the shortest ahead. What is left out is listed. The estimate is the time that the
same command took here before, otherwise the experiment's own. If experiments take less, others
follow as long as they fit.

With --self: test the measuring instrument itself. Servers of known delays, stalls, resets,
errors and queues are measured, and each line shows what was planted, expected and reported:

  right   the reported figure is the planted one, within the tolerance shown
  void    times are too long because others disturbed the machine or the generator lagged
  wrong   anything else; exit code 3

--only NAMES runs only these lines. --long adds pairs of equal systems (A/A: for how many does
a run or a load line show a difference?), what k6, Locust, Gatling and pgbench report of the same
servers, and a table of what k6, Locust, Gatling and oha cost beside this program and report of a
server that stands still; a generator that cannot be installed here is listed.

With --confusion: test 'plimsoll diagnose'. Known faults are planted in a server of its own under
load, alone and two at a time. Each trial shows whether they took effect (if not, it is void) and
which causes were named. A matrix of planted and named causes ends with scores,
(right - 0.1 wrong) / causes. Some faults are hidden: the thresholds were chosen without them.

  --set old    30 faults, 13 pairs and a healthy load, in a base that is always the same
  --set new    incidents under drawn names, strengths, loads, servers and conditions (pooler,
               standby, no pg_stat_statements, others on the machine), pairs, and 8 healthy loads.
               Each is measured against the same load before it and is void if its effect is too
               small. Half right names, false "not the problem" and harmful advice count apart
  --seed N     another draw; the same seed draws the same
  --budget, --trials    a random part of what is left; with --keep the same command continues
  --cure FAULT          a worked case: the incident is planted, diagnosed and cured in a copy of
                        its database, and both are compared, for 10 minutes at most (--budget)

Verdicts on claims:

  confirmed           direction, size and situation
  in direction        it shows in the report's situation, smaller or larger than claimed
  small scale         it shows, in a smaller situation than the report's
  refuted             the effect is surely absent or the other way
  inconclusive        the figures do not decide
  not run             the experiment has not run on this machine
  not yet             there is no experiment yet
  cannot be had here  there is none, and the reason`,
		Example: `  plimsoll prove
  plimsoll prove C01
  plimsoll prove C01 --duration 10s        shorter repetitions
  plimsoll prove C04 --users 1000          with 1,000 sessions
  plimsoll prove --all --json
  plimsoll prove --all --budget 2h         what fits into two hours
  plimsoll prove C19 --disks /mnt/a,/mnt/b  when it matters which files are on which disk
  plimsoll prove --report claims.html      the page; runs nothing
  plimsoll prove --all --full --archive big.json       on a large machine, over a night or two
  plimsoll prove --report big.html --from big.json     the page of that machine's results
  plimsoll prove --self                    does this program measure correctly here?
  plimsoll prove --self --only stall       only this line
  plimsoll prove --self --long --pairs 40  with 40 pairs of equal systems
  plimsoll prove --self --only generators  beside k6, Locust, Gatling and oha
  plimsoll prove --confusion --repeat 5    does the diagnosis name what is planted?
  plimsoll prove --confusion --only healthy,hot-row,hot-row+slow-flush
  plimsoll prove --confusion --set new --seed 7 --budget 30m
  plimsoll prove --confusion --repeat 5 --keep trials.jsonl    in parts: the same command continues
  plimsoll prove --confusion --cure function-on-column    a case from its symptom to its gain`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return claimCompletions(), cobra.ShellCompDirectiveNoFileComp
		}}, func(ctx context.Context, args []string) error { return a.prove(ctx, args, o) })
	fs := c.Flags()
	fs.BoolVar(&o.all, "all", false, "test every claim that has an experiment; prints first how long that takes")
	config.Span(fs, &o.duration, "duration", 0, 0, "measured time of one turn; 0: the experiment's default")
	config.Count(fs, &o.repetitions, "repetitions", 0, 0, 1000, "turns of each side; 0: the experiment's default")
	config.Count(fs, &o.users, "users", 0, 0, usersMax,
		"users of experiments that load the ERP; 0: as many as the claim names")
	config.Count(fs, &o.documents, "documents", 0, 0, documentsMax,
		"documents in the bases that experiments fill themselves; 0: the experiment's default")
	config.Count(fs, &o.threads, "threads", 0, 0, threadsMax,
		"threads that restore costs; 0: the experiment's default")
	fs.StringSliceVar(&o.disks, "disks", nil, "folders on other disks, for C19: `DIR,DIR`; the user that servers "+
		"run as must be allowed to write to each; without it root makes disks of its own")
	config.Fraction(fs, &o.disturbed, "disturbed-limit", run.DisturbedLimitDefault,
		"a turn is void, and repeated, if more than this share of the processors went to other processes, or of "+
			"the time to the hypervisor, a quota or a lack of memory; 1: never")
	fs.StringVar(&o.report, "report", "", "write all claims and their stored results as one HTML `FILE`")
	fs.StringVar(&o.archive, "archive", "", "write all stored results as one JSON `FILE`, for --from")
	fs.StringVar(&o.from, "from", "", "with --report: the results of this `FILE` instead of the stored ones")
	config.Span(fs, &o.budget, "budget", 0, 0, "run only what fits into this; 0: no limit")
	config.Choice(fs, &o.set, "set", confusion.SetAll, confusion.Sets, "faults of --confusion")
	config.Count(fs, &o.seed, "seed", confusion.SeedDefault, 0, mostOfAnything,
		"random seed of --confusion: names, strengths and conditions of the new set")
	config.Count(fs, &o.trials, "trials", 0, 0, 100_000, "trials of --confusion at most; 0: all")
	fs.BoolVar(&o.self, "self", false, "test the measuring instrument instead of claims")
	fs.BoolVar(&o.confusion, "confusion", false, "test the diagnosis instead of claims, with planted faults")
	fs.StringVar(&o.cure, "cure", "", "with --confusion: `FAULT` that is planted, diagnosed, cured and compared, such "+
		"as policy-for-each-row; an unknown name lists them all")
	fs.StringSliceVar(&o.only, "only", nil, "lines of --self, or faults of --confusion: `NAMES` separated by commas; "+
		"a+b plants both")
	config.Count(fs, &o.repeat, "repeat", 1, 1, 1000, "rounds of --self and --confusion")
	fs.StringVar(&o.kept, "keep", "", "with --confusion: `FILE` that stores each trial, to continue later")
	fs.BoolVar(&o.long, "long", false, "with --self: also pairs of equal systems, and other load generators")
	config.Count(fs, &o.pairs, "pairs", self.PairsDefault, 1, 1000, "pairs of equal systems that --self measures")
	fs.BoolVar(&o.full, "full", false, "use bases and sessions of the field report's size, as far as the disk "+
		"allows ("+strings.Join(experiments.Full(), ", ")+"); hours instead of minutes")
	fs.StringVar(&o.cluster, "cluster", "", "local cluster `NAME` (default: the running one)")
	config.Share(fs, "cluster")
	config.FlagOnly(fs, "all", "full", "self", "long", "confusion", "only", "repeat", "keep", "pairs", "report",
		"archive", "from", "set", "seed", "trials", "cure")
	engineFlag(c, &o.engine)
	_ = c.RegisterFlagCompletionFunc("cluster", a.completeClusters)
}

func claimCompletions() (words []string) {
	for _, c := range claims.All() {
		words = append(words, c.ID+"\t"+c.Statement)
	}
	return words
}

func (a *app) prove(ctx context.Context, args []string, o proveOptions) error {
	if o.confusion {
		return a.proveConfusion(ctx, args, o)
	}
	if o.kept != "" {
		return problem.New(problem.Usage, errors.New("--keep applies only to --confusion"),
			"results of claims are always kept")
	}
	if o.set != confusion.SetAll || o.seed != confusion.SeedDefault || o.trials > 0 || o.cure != "" {
		return problem.New(problem.Usage, errors.New("--set, --seed, --trials and --cure apply only to --confusion"),
			"")
	}
	if o.self {
		return a.proveSelf(ctx, args, o)
	}
	if len(o.only) > 0 {
		return problem.New(problem.Usage, errors.New("--only applies only to --self and --confusion"),
			"name claims without it")
	}
	if o.repeat > 1 || o.long {
		return problem.New(problem.Usage,
			errors.New("--repeat applies only to --self and --confusion, --long to --self"),
			"--repetitions is how many turns an experiment takes")
	}
	if o.from != "" && (o.report == "" || o.all || len(args) > 0 || o.archive != "") {
		return problem.New(problem.Usage, errors.New("--from applies only to --report, where nothing is run"),
			"plimsoll prove --report FILE --from "+o.from)
	}
	if len(args) > 0 && o.all {
		return problem.New(problem.Usage, fmt.Errorf("--all and a claim, %q, exclude each other", args[0]), "")
	}
	if err := kept.Page(o.report).Check(); err != nil {
		return err
	}
	chosen, err := chosenClaims(args)
	if err != nil {
		return err
	}
	if len(args) == 0 && !o.all {
		return a.listClaims(ctx, chosen, o)
	}
	toRun := withExperiment(chosen)
	if len(args) > 0 && len(toRun) < len(chosen) {
		return a.noExperiment(ctx, chosen, o)
	}
	answered, proveErr := a.proveThese(ctx, toRun, o)
	if len(answered) > 0 {
		if err := a.showClaims(context.WithoutCancel(ctx), answered, o, true); err != nil {
			return err
		}
	}
	if o.report != "" {
		proveErr = errors.Join(proveErr, a.reportClaims(context.WithoutCancel(ctx), o))
	}
	if o.archive != "" {
		proveErr = errors.Join(proveErr, a.archiveClaims(o))
	}
	if proveErr != nil {
		return proveErr
	}
	return a.refuted(answered)
}

func chosenClaims(args []string) ([]claims.Claim, error) {
	if len(args) == 0 {
		return claims.All(), nil
	}
	var chosen []claims.Claim
	for _, id := range args {
		c, err := claims.Find(id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(chosen, c) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

func withExperiment(chosen []claims.Claim) (has []claims.Claim) {
	for _, c := range chosen {
		if _, ok := experiments.For(c.ID); ok {
			has = append(has, c)
		}
	}
	return has
}

// noExperiment shows the claims that were asked for and says which cannot be proved.
func (a *app) noExperiment(ctx context.Context, chosen []claims.Claim, o proveOptions) error {
	if err := a.showClaims(ctx, chosen, o, true); err != nil {
		return err
	}
	var missing []string
	for _, c := range chosen {
		if _, ok := experiments.For(c.ID); !ok {
			missing = append(missing, c.ID)
		}
	}
	var have []string
	for _, e := range experiments.All() {
		have = append(have, e.Claim)
	}
	return problem.New(problem.Failure, fmt.Errorf("there is no experiment behind %s; nothing was run",
		strings.Join(missing, ", ")),
		"there is one behind "+strings.Join(have, ", "))
}

// proveThese runs the experiments one after the other and keeps each finding at once.
// It returns those that were answered even if another one failed.
func (a *app) proveThese(ctx context.Context, toRun []claims.Claim, o proveOptions) (answered []claims.Claim,
	err error) {
	bench, err := a.bench(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.all {
		toRun = a.runnable(toRun, bench)
	}
	items, err := a.itemsOf(ctx, toRun, o, bench)
	if err != nil {
		return nil, err
	}
	fits, left := proof.Plan(items, o.budget)
	a.sayPlan(fits, left, bench)
	if len(fits) == 0 {
		return nil, problem.New(problem.Usage, fmt.Errorf("no experiment fits into %s", human.Duration(o.budget)),
			"raise --budget, or lower --duration")
	}
	began := time.Now()
	for turn := range proof.Turns(fits, left, o.budget, func() time.Duration { return time.Since(began) }) {
		item := turn.Item
		if turn.Over > 0 {
			a.meter.Say("%s is left out: the budget would be exceeded by %s", item.Claim.ID, human.Roughly(turn.Over))
			continue
		}
		if turn.Added {
			a.meter.Say("%s fits after all: the others took less time than estimated", item.Claim.ID)
			a.sayItem(item, bench)
		}
		kept, failed := a.proveOne(ctx, item.Claim, bench, o)
		if kept {
			answered = append(answered, item.Claim)
		}
		if failed != nil && (ctx.Err() != nil || problem.ClassOf(failed) == problem.Interrupted || len(fits) == 1) {
			return answered, failed
		}
		if failed != nil { // the others have nothing to do with it
			a.meter.Say("%s; continuing with the next", failed)
			err = problem.WithHint(errors.Join(err, failed), cmp.Or(problem.HintOf(err), problem.HintOf(failed)))
		}
	}
	return answered, err
}

// runnable leaves out the experiments that could give no answer with these sizes.
func (a *app) runnable(all []claims.Claim, bench site.Bench) (some []claims.Claim) {
	for _, c := range all {
		e, _ := experiments.For(c.ID)
		if e.Refuse != nil {
			if err := e.Refuse(bench); err != nil {
				a.sayWrapped("", fmt.Sprintf("%s is left out: %v; %s", c.ID, err, problem.HintOf(err)))
				continue
			}
		}
		some = append(some, c)
	}
	return some
}

func (a *app) proveOne(ctx context.Context, c claims.Claim, bench site.Bench, o proveOptions) (kept bool,
	err error) {
	e, _ := experiments.For(c.ID)
	a.meter.Phase(c.ID, 1, "")
	engine := engineOfClaim(ctx, e, bench)
	began := time.Now()
	f, err := e.Run(ctx, bench)
	a.meter.End()
	if err != nil {
		return false, fmt.Errorf("prove %s: %w", c.ID, err)
	}
	err = claims.OpenStore("").Keep(claims.Record{
		Claim: c.ID, At: time.Now().UTC().Truncate(time.Second), TookS: time.Since(began).Seconds(),
		Software: bench.Software,
		Machine:  claims.Here(), Engine: engine, Command: o.commandFor(c.ID), Finding: f,
	})
	if err == nil && f.Partial {
		return true, problem.New(problem.Interrupted,
			fmt.Errorf("prove %s was stopped; what was measured is kept", c.ID), "")
	}
	return err == nil, err
}

// sayPlan says what is run and what is not.
func (a *app) sayPlan(fits, left []proof.Item, bench site.Bench) {
	for _, item := range fits {
		a.sayItem(item, bench)
	}
	if len(fits) > 1 {
		a.meter.Say("in all about %s", human.Roughly(proof.Takes(fits)))
	}
	if len(left) == 0 {
		return
	}
	var texts []string
	for _, item := range left {
		texts = append(texts, fmt.Sprintf("%s (about %s, %s)", item.Claim.ID, estimateOf(item), item.Due))
	}
	a.sayWrapped(fmt.Sprintf("left out, %d of %d: ", len(left), len(fits)+len(left)), strings.Join(texts, ", "))
	a.meter.Say("--budget %s would take them all", human.Duration((proof.Takes(fits)+proof.Takes(left)).
		Truncate(time.Minute)+time.Minute))
}

// sayItem says what an experiment does, and what would confirm and refute the claim.
func (a *app) sayItem(item proof.Item, bench site.Bench) {
	e, _ := experiments.For(item.Claim.ID)
	p := e.Plan(bench)
	a.sayWrapped(item.Claim.ID+": ", fmt.Sprintf("%s; about %s", p.Text, estimateOf(item)))
	for rule := range strings.SplitSeq(p.Rules, "; ") {
		a.sayWrapped("  ", rule)
	}
}

// sayWrapped says a text in lines that a terminal shows whole.
func (a *app) sayWrapped(first, text string) {
	a.meter.Say("%s", strings.TrimRight(report.Wrap(text, first, "    "), "\n"))
}

func (a *app) bench(ctx context.Context, o proveOptions) (site.Bench, error) {
	name, engine, err := a.clusters().ChooseOrMake(ctx, o.cluster, o.engine)
	if err != nil {
		return site.Bench{}, err
	}
	b := o.sizes()
	b.Clusters = a.clusters()
	b.Cluster = name
	b.Engine = engine
	b.Serve = serveCommand()
	b.Agent = agentCommand(run.AccessFiles{})
	b.DisturbedLimit = o.disturbed
	b.Store, b.Software, b.Say = keptRuns(), software().Version, a.meter.Say
	b.Step = func(share float64, left time.Duration, note string) { a.meter.UpdateLeft(share, left, note) }
	return b, nil
}

// sizes are what a plan depends on.
func (o proveOptions) sizes() site.Bench {
	return site.Bench{
		Duration: o.duration, Repetitions: o.repetitions, Users: o.users, Documents: o.documents, Threads: o.threads,
		Full: o.full, Disks: o.disks,
	}
}

// engineOfClaim is the engine that the experiment behind a claim would measure now; "" if unknown.
func engineOfClaim(ctx context.Context, e site.Experiment, bench site.Bench) string {
	s, err := e.Engine(ctx, bench)
	if err != nil {
		return ""
	}
	return engineLabel(s)
}

func engineLabel(s installation.Server) string {
	label := fmt.Sprintf("PostgreSQL %s %s", s.Version, s.Flavour)
	if s.Patchset > 0 {
		label += fmt.Sprintf(", patchset %d", s.Patchset)
	}
	return label
}

func (a *app) refuted(answered []claims.Claim) error {
	var ids []string
	for _, c := range answered {
		if k, ok, err := claims.OpenStore("").Load(c.ID); err == nil && ok && k.Verdict == claims.Refuted {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return problem.New(problem.Threshold, fmt.Errorf("refuted on this machine: %s", strings.Join(ids, ", ")), "")
}
