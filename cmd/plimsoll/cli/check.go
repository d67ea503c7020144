package cli

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/problem"
	"plimsoll/lab/conformance"
)

type checkOptions struct {
	target
	application string
}

func (a *app) addCheck(root *cobra.Command) {
	var o checkOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "check [flags]",
		Short: "Check that a PostgreSQL server can carry a 1C server, before that is installed",
		Long: `Play what a 1C server does with its PostgreSQL server (15 or newer), and print a protocol:
each statement, what the server said, and where that is not what a 1C server expects, what it
expects and the cure. The settings of its sessions, its probes, extensions and functions, the
tables of an infobase, temporary tables, and the statements of its language are played.

  ok       as expected
  failed   a 1C server cannot work so
  note     it can, slower or with less
  blocked  not played, because a step that it needs failed

The role must be allowed to create databases; connect as the role that the 1C server will use,
which is a superuser. All is played in a database that the check makes from template1 and drops,
also after Ctrl-C; no other database is written to. Name the server itself, not a pooler in front
of it. With a step failed or blocked the exit code is 3.`,
		Example: `  plimsoll up prod --profile 1c && plimsoll check --cluster prod
  plimsoll check --for 1c --dsn postgres://postgres@db.example/postgres
  plimsoll check --json | jq '.steps[] | select(.outcome == "failed")'`,
	}, func(ctx context.Context, _ []string) error { return a.check(ctx, o) })
	fs := c.Flags()
	config.Choice(fs, &o.application, "for", conformance.OneC, conformance.Applications, "application to play: 1c, a "+
		"1C server")
	a.targetFlags(c, &o.target)
}

func (a *app) check(ctx context.Context, o checkOptions) error {
	dsn := o.dsn
	if !o.foreign() {
		c, err := a.clusters().Running(ctx, o.cluster)
		if err != nil {
			return problem.WithHint(err, "name a server with --dsn, or start a cluster with 'plimsoll up --profile 1c'")
		}
		dsn = c.DSN("").Secret()
	}
	a.meter.Phase("check", 1, "")
	r, err := conformance.Check(ctx, conformance.Options{DSN: dsn, Progress: func(done, all int, step string) {
		a.meter.Update(float64(done)/float64(all), step)
	}})
	a.meter.End()
	if r == nil {
		return err
	}
	shown := func() error { return r.Text(a.stdout) }
	if a.json {
		shown = func() error { return a.emit(r) }
	}
	if shown := shown(); err == nil {
		err = shown
	}
	if err == nil {
		err = r.Err()
	}
	return err
}
