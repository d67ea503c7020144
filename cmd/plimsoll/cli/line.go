package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
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
	line.Request
	details bool
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

--replay LOG plays a recorded time again instead of a load ('plimsoll replay'), each trial once on a
new copy of the base: its sessions are the users, and N users are its sessions with pauses that are
shorter in that proportion. The search begins with as many users as the log has sessions at once. A
trial fails, too, if the sessions cannot keep the pace; one that is not faithful is void.

Ctrl-C keeps the trials so far; the same command with --resume continues, on the same server and
with the same version of plimsoll.
Exit code 3: no number of users reaches the target, void trials leave the upper end open, the
budget ended the search, or none of several systems failed up to --most: then there is no
comparison; use a shorter --think or a larger --most. With --fail-if "users < 500" also: the
interval does not lie wholly above that.`,
		Example: `  plimsoll line
  plimsoll line --target 0.94 --think 20m --from 1000 --budget 2h
  plimsoll line --scenario own.toml --dsn postgres://…
  plimsoll line --agents local:2 --from 10000       two processes generate the load
  plimsoll line --resume
  plimsoll line --scenario own.toml --fail-if "users < 500" --junit line.xml
  plimsoll line --configurations vanilla+classic,vanilla+tuned,plimsoll+lean --think 2s
  plimsoll line --replay /var/log/1c/techlog --cluster before --targets targets.csv
  plimsoll line --load 1c --configurations vanilla+plain,vanilla+extensions,plimsoll+memory`,
	}, func(ctx context.Context, _ []string) error { return a.line(ctx, o) })
	fs := c.Flags()
	config.Fraction(fs, &o.Target, "target", line.TargetDefault, "overall Apdex that a trial must reach to pass")
	config.Count(fs, &o.First, "from", line.FirstDefault, 1, usersMax, "users of the first trial")
	config.Count(fs, &o.Most, "most", line.MostDefault, 1, usersMax, "maximum number of users to try")
	config.Fraction(fs, &o.Resolution, "resolution", line.ResolutionDefault,
		"width of the bracket, as a share of the users")
	config.Count(fs, &o.Confirmations, "confirmations", line.ConfirmationsDefault, 1, 20,
		"trials that repeat each end of the bracket; the majority decides")
	config.Span(fs, &o.Budget, "budget", 0, 0, "start no trial that would end later than this; 0: no limit")
	config.Choice(fs, (*string)(&o.Reset), "reset", string(system.ResetAuto), words(system.Resets),
		"start each trial from the base as it was filled, a copy of the database as it is (template), the "+
			"scenario's sql, or no reset (none); auto takes what fits")
	fs.StringSliceVar(&o.Configurations, "configurations", nil, "search several systems in turns: `CLUSTER+SHAPE`, "+
		"separated by commas or repeated; a cluster alone takes the shape of --shape")
	fs.BoolVar(&o.Control, "control", false, "search the first of --configurations twice, as an A/A control")
	fs.BoolVar(&o.Resume, "resume", false, "continue the last search with these settings that was stopped")
	loadFlags(c, &o.loadOptions, loadDefaults{
		duration: trialDuration, durationText: "steady state of one trial; longer if few users do too little to judge",
		ramp: trialRamp, rampText: "time over which the users of a trial start work",
		seed: "random seed of the first trial; each further trial has its own",
	})
	config.Span(fs, &o.lagLimit, "lag-limit", run.LagLimitDefault, time.Millisecond,
		"a trial is void if more than 1 % of the operations were sent later than this")
	gateFlags(c, &o.FailIf, &o.Files, "`CONDITION` under which the search fails: \"users < 500\", or "+
		"\"CONFIGURATION: users < 500\"; may be repeated")
	fs.BoolVar(&o.details, "details", false, "print all trials and conditions")
	fs.StringArrayVar(&o.Log.Paths, "replay", nil, "instead of a load, play this `LOG` again in each trial: a file or "+
		"folder as for 'plimsoll replay'; may be repeated")
	recordedFlags(fs, &o.Log)
	a.measureFlags(c, &o.measureOptions)
	config.FlagOnly(fs, "resume", "configurations", "control", "details", "replay")
	for _, one := range []string{"cluster", "dsn", "url", "engine"} {
		c.MarkFlagsMutuallyExclusive("configurations", one)
	}
}

func (a *app) line(ctx context.Context, o lineOptions) error {
	o.System, o.Local, o.Store = a.spec("line", o.measureOptions), a.local(), line.DefaultStore()
	o.Progress = a.lineProgress()
	o.Planned = func(format string, args ...any) {
		a.meter.End()
		a.meter.Say(format, args...)
	}
	found, err := line.Search(ctx, o.Request)
	a.meter.End()
	if found == nil {
		return err
	}
	told := a.answer(found, func(w io.Writer) error { return found.Tell(w, o.details) })
	return cmp.Or(err, told, found.Judge())
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
