package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/lab/system"
)

type resetOptions struct {
	target
	yes, force bool
}

func (a *app) addReset(root *cobra.Command) {
	var o resetOptions
	c := a.command(root, groupServer, &cobra.Command{
		Use:   "reset [flags]",
		Short: "Reset the base to its state after 'plimsoll fill'",
		Long: `Replace the ERP's database with the copy of it that 'plimsoll fill' kept, after asking.
Everything that was written since the fill is lost. The new database is complete before the
old one is dropped: Ctrl-C leaves the old one as it was.

'plimsoll line' needs no reset: each of its trials starts from the kept copy.`,
		Example: `  plimsoll reset
  plimsoll reset --cluster vanilla --yes`,
	}, func(ctx context.Context, _ []string) error { return a.reset(ctx, o) })
	fs := c.Flags()
	fs.BoolVar(&o.yes, "yes", false, "do not ask for confirmation")
	fs.BoolVar(&o.force, "force", false, "disconnect the sessions that use the database")
	a.targetFlags(c, &o.target)
	config.FlagOnly(fs, "yes", "force")
}

func (a *app) reset(ctx context.Context, o resetOptions) (err error) {
	dsn, release := o.dsn, func() error { return nil }
	if !o.foreign() {
		c, err := a.clusters().Running(ctx, o.cluster)
		if err != nil {
			return problem.WithHint(err, "plimsoll up starts one")
		}
		rig, err := system.Take(ctx, c)
		if err != nil {
			return err
		}
		dsn, release = rig.DSN().Secret(), rig.Close
	}
	defer func() {
		if released := release(); err == nil {
			err = released
		}
	}()
	name, err := a.resettable(ctx, dsn)
	if err != nil {
		return err
	}
	if !o.yes {
		what := fmt.Sprintf("This replaces database %s with the base as it was filled.", name)
		if err := a.confirm(what, "database "+name+" was not reset", name); err != nil {
			return err
		}
	}
	began := time.Now()
	a.meter.Phase("reset", 0, "")
	err = postgres.RestoreFilled(ctx, dsn, o.force)
	a.meter.End()
	if err != nil && ctx.Err() != nil {
		return problem.New(problem.Interrupted, fmt.Errorf("reset was stopped: %w", ctx.Err()),
			"the database is unchanged; the same command starts over")
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	return a.answerLine(map[string]any{"reset": name, "seconds": took.Seconds()},
		"database %s is as it was filled (%s)", name, took.Round(10*time.Millisecond))
}

// resettable looks for the kept copy before anybody is asked.
func (a *app) resettable(ctx context.Context, dsn string) (name string, err error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", problem.New(problem.Usage, fmt.Errorf("--dsn: %w", err), "")
	}
	return c.Database, postgres.Resettable(ctx, dsn)
}
