package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/lab/diagnose"
)

type diagnoseOptions struct {
	target
	duration time.Duration
	rate     int
	html     string
	against  string
	trust    []string
	details  bool
}

func (a *app) addDiagnose(root *cobra.Command) {
	var o diagnoseOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "diagnose [flags]",
		Short: "Show where the time of a database's sessions goes, and why",
		Long: `Watch a PostgreSQL server (15 or newer) while it works, and report:

  findings        causes of lost time, the costliest first: the share of all sessions' time, the
                  evidence, what it is not, the expected gain, and what to run next
  ledger          where the sessions' time goes: processor, waiting for a processor, locks, log,
                  disk, client …; it adds up to 100 %, with a line for what nothing explains
  statements      the ledger inside those that carry the time: planning, compiling (JIT), blocks,
                  temporary files, functions, triggers, policies (pg_stat_statements, or samples)
  plans           of these statements, never run: EXPLAIN as the role that runs them, and what
                  auto_explain wrote to the server's log; a plan that changed is a finding
  client's half   statements sent again and again, or that do no work, rollbacks, work that a limit
                  ends, pools that are always busy
  lock stories    who waits for whom, and what the lock's holder does meanwhile; keys of advisory
                  locks, and prepared transactions by name
  the server      its own processes, who uses its processors, and settings that differ by role,
                  database and table
  contradictions  pairs of measurements that should agree and do not

It works on any server, with or without the ERP. The user needs the role pg_monitor and no more;
nothing is written to the database. If the server runs on this machine, its processors, disks
and processes are watched too. What could not be measured is listed with the reason.

--against names another system with the same load: a file that --json wrote, or a connection
string, which is then watched at the same time. The report ends its ledger with the difference:
what a transaction waits for here and not there. Two snapshots of an MS SQL Server, BEFORE,AFTER,
are a system, too (docs/examples/mssql-snapshot.sql takes them): each of its waits stands in our
classes, with what PostgreSQL shows in its place.

To plan a statement runs functions of its database with the rights of --dsn. Where roles other than
superusers own anything there, plans are left out unless --trust names these roles, or --dsn is a
connection of theirs.

Without --details it prints what fits on one screen: the findings and what to do next, where the
time goes, and what is not the problem.

Statements are shown without their values. Ctrl-C ends early and reports what was seen so far
(exit code 130).`,
		Example: `  plimsoll diagnose --dsn postgres://monitor@db.example/erp
  plimsoll diagnose --duration 30s --rate 100
  plimsoll diagnose --json | jq '.findings[0]'
  plimsoll diagnose --json > fast.json; plimsoll diagnose --dsn … --against fast.json
  plimsoll diagnose --dsn … --against before.json,after.json    two snapshots of an MS SQL Server`,
	}, func(ctx context.Context, _ []string) error { return a.diagnose(ctx, o) })
	fs := c.Flags()
	config.Span(fs, &o.duration, "duration", diagnose.DurationDefault, time.Second, "how long to watch")
	config.Count(fs, &o.rate, "rate", diagnose.RateDefault, diagnose.RateMin, diagnose.RateMax, "samples per second")
	fs.StringVar(&o.html, "html", "", "also write the HTML report to this `FILE`")
	fs.StringVar(&o.against, "against", "", "subtract the ledger of another system: `FILE|DSN|BEFORE,AFTER`")
	fs.StringSliceVar(&o.trust, "trust", nil, "`ROLES` whose functions may run with the rights of --dsn, when "+
		"statements are planned")
	fs.BoolVar(&o.details, "details", false, "print everything: evidence, statements, plans, locks, settings")
	config.FlagOnly(fs, "html", "against", "trust", "details")
	a.targetFlags(c, &o.target)
}

func (a *app) diagnose(ctx context.Context, o diagnoseOptions) error {
	dsn, err := o.target.system("").Database(ctx, a.clusters())
	if err != nil {
		return err
	}
	d, err := a.watched(ctx, diagnose.Options{DSN: dsn, Duration: o.duration, Rate: o.rate,
		Software: software().Version, Trusted: o.trust}, o.against)
	if d == nil {
		return err
	}
	text := d.Summary
	if o.details {
		text = d.Text
	}
	if shown := a.answer(d, text); err == nil {
		err = shown
	}
	if written := kept.Page(o.html).Write(d.HTML); err == nil {
		err = written
	}
	return err
}

// watched is a diagnosis with its progress.
func (a *app) watched(ctx context.Context, o diagnose.Options, against string) (*diagnose.Diagnosis, error) {
	a.meter.Phase("diagnose", 1, "")
	defer a.meter.End()
	o.Progress = func(elapsed time.Duration, atWork int) {
		a.meter.UpdateLeft(min(1, elapsed.Seconds()/o.Duration.Seconds()), max(0, o.Duration-elapsed),
			fmt.Sprintf("%d active sessions", atWork))
	}
	return diagnose.RunAgainst(ctx, o, against)
}
