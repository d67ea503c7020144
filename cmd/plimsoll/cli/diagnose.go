package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/diagnose"
	"plimsoll/lab/prove/rig"
	"plimsoll/platform/problem"
)

type diagnoseOptions struct {
	target
	duration time.Duration
	rate     int
}

func (a *app) addDiagnose(root *cobra.Command) {
	var o diagnoseOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "diagnose [flags]",
		Short: "Where the time of a database's sessions goes, and what takes it",
		Long: `Watch a PostgreSQL server (15 or newer) while it works, and report:

  findings        causes of lost time, by price: the share of the sessions' time that each takes,
                  with evidence, what is excluded, the gain expected, and the next command
  ledger          where the time goes: on a processor, waiting for one, locks, log, disk, client …;
                  it adds up to 100 %, and what nothing explains is a line of its own
  lock stories    who waits for whom, and what the holder of the lock does meanwhile
  contradictions  measurements of the same that do not fit each other

Any server will do, also one without the ERP. The user needs the rights of pg_monitor, nothing
more; nothing is written. Where the server runs on this machine, its processors, disks and
processes are watched as well. What could not be measured is listed with the reason.

Statements are shown without their values. Ctrl-C ends early and reports what was seen (exit
code 130).`,
		Example: `  plimsoll diagnose --dsn postgres://monitor@db.example/erp
  plimsoll diagnose --duration 30s --rate 100
  plimsoll diagnose --json | jq '.findings[0]'`,
	}, func(ctx context.Context, _ []string) error { return a.diagnose(ctx, o) })
	fs := c.Flags()
	config.Span(fs, &o.duration, "duration", diagnose.DurationDefault, time.Second, "how long to watch")
	config.Count(fs, &o.rate, "rate", diagnose.RateDefault, diagnose.RateMin, diagnose.RateMax, "samples in a second")
	a.targetFlags(c, &o.target)
}

func (a *app) diagnose(ctx context.Context, o diagnoseOptions) error {
	dsn := o.dsn
	if !o.foreign() {
		c, err := a.mustRun(ctx, o.cluster)
		if err != nil {
			return problem.WithHint(err, "name a database with --dsn, or start a cluster with 'plimsoll up'")
		}
		has, err := rig.HasDatabase(ctx, c)
		if err != nil {
			return err
		}
		dsn = c.DSN("").Secret()
		if has {
			dsn = c.DSN(rig.Database).Secret()
		}
	}
	a.meter.Phase("diagnose", 1, "")
	d, err := diagnose.Run(ctx, diagnose.Options{DSN: dsn, Duration: o.duration, Rate: o.rate,
		Software: software().Version,
		Progress: func(elapsed time.Duration, atWork int) {
			a.meter.UpdateLeft(min(1, elapsed.Seconds()/o.duration.Seconds()), max(0, o.duration-elapsed),
				fmt.Sprintf("%d sessions at work", atWork))
		}})
	a.meter.End()
	if d == nil {
		return err
	}
	if shown := a.showDiagnosis(d); err == nil {
		err = shown
	}
	return err
}

func (a *app) showDiagnosis(d *diagnose.Diagnosis) error {
	if a.json {
		return a.emit(d)
	}
	return d.Text(a.stdout)
}
