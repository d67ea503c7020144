package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run"
	"plimsoll/lab/system"
)

type compareOptions struct {
	measureOptions
	compare.Request
	own      [compare.SidesMax]sideFlags
	selfTest string
	trials   int
	baseline []string
	details  bool
}

func (a *app) addCompare(root *cobra.Command) {
	var o compareOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "compare [A B...|RUN...] [flags]",
		Short: "Say whether one system is better than another",
		Long: `Run two or more systems in turns on the same load, each run from the same base, and say for
each further one whether it is better or worse than the first, equal within the margin, or
not decided yet, and how many more pairs of runs that needs.

A system is a local cluster and a shape of the ERP, as in 'plimsoll line --configurations'.
A cluster named after its flavour (plimsoll, vanilla, system) is created if it is
missing. One system alone is compared with itself as changed by the flags for B: settings,
tweaks of the shape, SQL before each run (an index, a changed function, other data), a scenario,
or a server elsewhere. A scenario of HTTP requests needs no system: --scenario-a and --scenario-b,
or --url-a and --url-b for two deployments.
For a setting of the whole server, the server is restarted before each run with the setting on
its command line, so that nothing is changed for good. Any program can be a side: --command runs
it, and its last line of output is one JSON object, {"figures": {"latency_ms": 12.5,
"ops_per_s": 800, "failed_share": 0}, "operations": {"post": {…}}}, or it prints the result of
'plimsoll run --json'. Its environment has PLIMSOLL_COMPARE_SIDE, _ROUND and _SEED.
Flags that end in -a and -b are for the first two systems. Those that end in -c to -h do the same
for further ones, such as --set-c.

The database of --dsn is reset between runs only if --reset asks for it. Without a reset no special
privileges are needed, and only the order of the runs balances what they leave behind.

What is compared is one figure for each run: runs are independent, requests are not. Runs come
in blocks ABBA or BAAB, and from 10 pairs on only runs of the same part of the session are
compared with each other. Better and worse come from the Mann-Whitney test, corrected by Holm for
the number of operations; equal means that the interval of the effect lies within the margin.
The metric that decides is --metric over all operations. After eight pairs, and after every four
more, the comparison stops if the answer is decided; all these looks together have an error of
5 %, and only they decide: if it is stopped in between, the last look counts; before the first
one the answer is provisional. A disturbed run is void and repeated. The A/A floor says how far the
first system differs from itself.

No side wins by leaving work undone. In latencies an operation that failed, or was refused for
overload, counts with the timeout. A side whose share of failed operations is higher by more than
one percentage point is worse whatever the metric says. A winner that refuses more by its controls,
does not play the mix or answers fewer operations per second is not called better: the systems did
not do the same work.

--replay LOG plays a recorded time again on each side instead of a load ('plimsoll replay'), each
time on a new copy of its database, and compares the Apdex, operation by operation: clone the base
twice before the day begins, on two engines or with other settings. A replay that is not faithful
ends the comparison. --beside ID sets the live comparison of the same systems beside it, from which
the log was recorded ('plimsoll run --write-log'): do the two verdicts agree?

Ctrl-C keeps the runs so far; the same command with --resume continues on the same servers and with
the same program, with more --pairs too; if the planned pairs were complete, added ones raise the
error, and the report shows the new error. --show prints a stored comparison again. --self-test
makes many comparisons of a system with itself (aa), with itself behind a proxy that makes it a
tenth slower (slow), or with itself refusing statements a fifth of the time and faster in the rest
(failing), and counts the verdicts; --resume continues it, with more --trials too.
--baseline measures nothing: it says whether stored runs (the last one, or those named) are worse
than the stored runs of a baseline, and passes only if a worsening of --margin (there 10 %) would
have been found in 8 of 10 such comparisons. Equal systems fail in at most one of twenty. One new
run needs 19 stored ones, four need three. Runs of another machine, engine, scenario or number of
users are not compared.

--fail-if "worse", "not better" or "not equal" fails on that verdict; "METRIC: worse" and
"OPERATION: METRIC: worse" are about another metric, or one operation.
Exit code 3: inconclusive, provisional, too few runs, decided by what is left undone, worse than
the baseline, another verdict than --beside, or a gate of --fail-if that did not pass.`,
		Example: `  plimsoll compare vanilla+lean plimsoll+lean
  plimsoll compare plimsoll+classic plimsoll+tuned plimsoll+lean --budget 30m
  plimsoll compare plimsoll+lean --set-b enable_seqscan=off
  plimsoll compare plimsoll+tuned --tweak-a clearing=always --tweak-b clearing=ask
  plimsoll compare plimsoll+lean --set-b shared_buffers=1GB --pairs 24
  plimsoll compare plimsoll+lean --sql-b @index.sql --control
  plimsoll compare --scenario own.toml --dsn-a postgres://one/db --dsn-b postgres://two/db
  plimsoll compare --scenario own.toml --dsn-a postgres://one/db --dsn-b postgres://two/db \
      --restore-a @empty.sql --restore-b @empty.sql         servers that must not be reset
  plimsoll compare --scenario shop.toml --url-a http://old:8080 --url-b http://new:8080
  plimsoll compare plimsoll+lean --set-b temp_buffers=64MB --metric database_cpu_ms --budget 30m
  plimsoll compare vanilla+classic plimsoll+lean --cold     from empty caches
  plimsoll compare --command-a ./bench-old --command-b ./bench-new --metric seconds
  plimsoll compare --show latest --html difference.html
  plimsoll compare stock ours --replay /var/log/1c/techlog --speed 4     two clones of the base
  plimsoll compare stock ours --replay day --metric latency_ms_p50 --beside 20261129-14
  plimsoll compare plimsoll+lean --self-test slow --trials 40 --duration 10s
  plimsoll compare --scenario shop.toml --url-a http://old --url-b http://new --fail-if worse
  plimsoll compare --baseline nightly/               the last run against stored ones
  plimsoll compare --baseline main.tar.zst latest:4 --markdown summary.md`,
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("baseline") {
				return nil
			}
			return arguments(0, compare.SidesMax, fmt.Sprintf("%d systems", compare.SidesMax))(c, args)
		},
	}, func(ctx context.Context, args []string) error { return a.compare(ctx, args, o) })
	fs := c.Flags()
	o.flags = fs
	for i := range o.own {
		o.own[i].bind(c, i)
	}
	config.Choice(fs, (*string)(&o.Reset), "reset", string(system.ResetAuto), words(system.Resets),
		"start each run from the base as it was filled, a copy of the database as it is (template), the scenario's "+
			"sql, or no reset (none); auto takes what fits, and none for --dsn-a and --dsn-b")
	fs.StringVar(&o.Metric, "metric", compare.MetricDefault, "`NAME` of the metric that decides the verdict: "+
		strings.Join(compare.MetricNames(), ", ")+", or one that a command prints")
	config.Count(fs, &o.Pairs, "pairs", compare.PairsDefault, verdict.RunsMin, compare.PairsMax,
		"maximum number of runs of each side")
	config.Fraction(fs, &o.Margin, "margin", compare.MarginDefault, "a difference smaller than this share counts as "+
		"equal")
	config.Span(fs, &o.Budget, "budget", 0, 0, "start no run that would end later than this; 0: no limit")
	fs.BoolVar(&o.Resume, "resume", false, "continue the last comparison with these settings that was stopped")
	fs.BoolVar(&o.Control, "control", false, "also measure each system with one user without think time, by the "+
		"same metric, to tell slow operations from a full system; not with commands")
	fs.BoolVar(&o.Cold, "cold", false, "restart the server with empty caches before each run, as far as this "+
		"machine allows")
	fs.StringVar(&o.Show, "show", "", "show a stored comparison again: its `ID`, the beginning of it, or latest")
	fs.StringVar(&o.Beside, "beside", "", "also say whether the verdict agrees with that of this stored comparison of "+
		"the same systems: its `ID`, the beginning of it, or latest")
	config.Choice(fs, &o.selfTest, "self-test", "", compare.AllPlanted,
		"make --trials comparisons of A with itself (aa), with itself made 10 % slower (slow), or with itself failing "+
			"a fifth and faster in the rest (failing)")
	config.Count(fs, &o.trials, "trials", 40, 1, 1000, "number of comparisons of --self-test")
	loadFlags(c, &o.loadOptions, loadDefaults{
		duration: trialDuration, durationText: "steady state of one run", ramp: trialRamp,
		rampText: "time over which the users of a run start work",
		seed:     "random seed of the order of runs and of the first pair; both runs of a pair share one",
	})
	usersFlag(c, &o.loadOptions)
	config.Count(fs, &o.workers, "workers", run.WorkersDefault, 1, 64, "application-server processes to start")
	shapeFlags(c, &o.shapeOptions)
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond,
		"a run is void if more than 1 % of the operations were sent later than this")
	config.Fraction(fs, &o.disturbed, "disturbed-limit", run.DisturbedLimitDefault,
		"a run is void if others took a larger share of the processors or of the time; 1: never")
	fleetFlags(c, &o.fleet)
	fs.StringArrayVar(&o.baseline, "baseline", nil, "compare stored runs with those of this `BASELINE`: "+
		baselineUsage+"; may be repeated")
	gateFlags(c, &o.FailIf, &o.Files, "`VERDICT` that fails the comparison, such as \"worse\" or "+
		"\"goods_sale.post: latency_ms: worse\"; may be repeated")
	fs.BoolVar(&o.details, "details", false, "print all tables and conditions")
	fs.StringArrayVar(&o.Log.Paths, "replay", nil, "instead of a load, play this `LOG` again on each side: a file or "+
		"folder as for 'plimsoll replay'; may be repeated")
	config.FlagOnly(fs, "replay")
	speedFlag(fs, &o.Log)
	recordedFlags(fs, &o.Log)
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	fs.StringVar(&o.title, "title", "", "`TEXT` to show above the result")
	labelFlags(fs, &o.label)
	config.FlagOnly(fs, "resume", "show", "beside", "html", "self-test", "trials", "control", "cold", "baseline",
		"details")
}

func (a *app) compare(ctx context.Context, args []string, o compareOptions) error {
	if len(o.baseline) > 0 {
		return a.comparePast(args, o)
	}
	q, err := a.comparison(o, args)
	if err != nil {
		return err
	}
	if o.selfTest != "" && o.Show == "" {
		return a.compareSelf(ctx, o, q)
	}
	found, err := q.Find(ctx)
	a.meter.End()
	if found == nil {
		return err
	}
	told := a.answer(found, func(w io.Writer) error { return found.Tell(w, o.details) })
	return cmp.Or(err, told, found.Judge())
}

// comparison as flags and arguments give it.
func (a *app) comparison(o compareOptions, args []string) (q compare.Request, err error) {
	q = o.Request
	q.System, q.Systems, q.Local, q.Store = a.spec("compare", o.measureOptions), args, a.local(), compare.DefaultStore()
	q.Seed, q.Title, q.Version = uint64(o.seed), o.title, software().Version
	q.Progress, q.Planned = a.compareProgress()
	for i := range o.own {
		if q.Own[i], err = o.own[i].spec(q.System.Shape); err != nil {
			return q, problem.WithHint(fmt.Errorf("%s: %w", compare.Letter(i), err), problem.HintOf(err))
		}
	}
	return q, nil
}

// compareProgress shows the plan when the first run has begun, and how far the runs are.
func (a *app) compareProgress() (progress func(compare.Progress), planned func(string)) {
	plan, begun := "", false
	return func(p compare.Progress) {
			if !begun {
				begun = true
				a.meter.Say("%s", plan)
				a.meter.Phase("compare", 1, "")
			}
			a.showRound(p)
		}, func(text string) {
			plan = text
			a.meter.End() // of what was brought up
		}
}

func (a *app) showRound(p compare.Progress) {
	if r := p.Ended; r != nil && (r.Void != "" || p.Trial == 0) {
		ended := "done"
		if r.Void != "" {
			ended = "void, will be repeated: " + r.Void
		}
		a.meter.Say("%sround %d, %s%s: %s", trialText(p.Trial), p.Round, p.Side, phaseText(p.Phase), ended)
	}
	note := fmt.Sprintf("%sround %d, %s%s", trialText(p.Trial), p.Round, p.Side, phaseText(p.Phase))
	if p.Run.Phase != "" {
		note += ": " + string(p.Run.Phase)
	}
	if p.Run.Scored {
		note += ", Apdex " + apdex.Text(p.Run.Apdex)
	}
	a.meter.UpdateLeft(p.Share, p.Left, note)
}

// trialText names the trial of a self-test.
func trialText(trial int) string {
	if trial == 0 {
		return ""
	}
	return fmt.Sprintf("trial %d, ", trial)
}

func phaseText(p compare.Phase) string {
	if p == compare.Control {
		return ", one user"
	}
	return ""
}
