package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/recorded/replay"
)

type replayOptions struct {
	replay.Spec
	dsn, cluster string
	yes, details bool
}

func (a *app) addReplay(root *cobra.Command) {
	var o replayOptions
	c := a.command(root, groupJob, &cobra.Command{
		Use:   "replay LOG... [flags]",
		Short: "Play the statements of a 1C or PostgreSQL log again, on a copy of the base",
		Long: `Play a recorded time again: the statements of a log, each session on a connection of its own,
its statements in their order and when they began, on a copy of the base. Then the score of the log
stands beside that of the replay, operation by operation, with how true the replay was: statements
replayed and left out by reason, errors and rows as in the log or not, order kept, how late
statements began. Below 99.5 % of statements as in the log the score is not to be trusted.

1C: the technological log with DBPOSTGRS events (Sql, dbpid, RowsAffected), as for 'plimsoll score'.
With CALL events the operations are calls: what the application server took for itself stays as in
the log, what the database took is as here. With EXCP events the SQLSTATE of errors is compared.
Managed locks lie in the application server, so none is taken. 'plimsoll run --load 1c --write-log
DIR' makes such a log to try it with.

PostgreSQL: csvlog, jsonlog or stderr, with all statements (log_min_duration_statement = 0); for
parameters it needs log_parameter_max_length = -1, which is the default. Such a log has no rows.
'plimsoll run --write-log DIR' records a run of the ERP so.

The base must be as it was when the log began: 'plimsoll clone' copies one while it runs.

  --speed 1     at the pace of the log; 4: four times as fast, with pauses that much shorter
  --speed max   each session as fast as it can; without a score

--mask FILE replaces personal data before anything of the log is kept on disk or sent: literals and
parameters of columns that the file names, and patterns such as e-mail addresses. A value is the
same pseudonym everywhere, by a random key that is kept nowhere. --mask-base first masks the named
columns in the copy itself, so that statements find there what they look for.

  columns  = ["_reference18._description", "*.phone"]
  patterns = ["email", "phone", "inn", "snils", "card"]
  own      = ['\bA-\d{6}\b']

What stands for no column of the base is masked too, where a statement has to do with a named one.

What a log does not hold is left out and counted: the rows of COPY FROM STDIN, cut parameters. Ids
that a program read from an answer (RETURNING, nextval) become those of here; what is not found out
gives new errors, which are counted. With a superuser's connection each session takes its role.

The statements change the base, so that a second replay needs a new copy. --cluster plays on a local
cluster; for any other server say with --yes that it is a copy. Ctrl-C ends early and reports what
was done. Exit code 3: the replay is not faithful.`,
		Example: `  plimsoll clone before --dsn postgres://copier@db.example/shop      before the day begins
  plimsoll replay /var/log/postgresql --database shop --cluster before
  plimsoll replay /var/log/1c/techlog --cluster before --mask personal.toml --mask-base
  plimsoll replay day.csv --cluster before --speed 4 --json
  plimsoll replay day.csv --dsn postgres://postgres@test.example/shop --yes
  plimsoll compare stock ours --replay /var/log/1c/techlog           two copies, in turns`,
		Args: arguments(1, 1000, "a folder or file of a log"),
	}, func(ctx context.Context, args []string) error { return a.replay(ctx, args, o) })
	fs := c.Flags()
	fs.StringVar(&o.cluster, "cluster", "", "play on the running local cluster `NAME`, on its database of that name")
	fs.StringVar(&o.dsn, "dsn", "", "play on this connection string's database")
	fs.BoolVar(&o.yes, "yes", false, "the database of --dsn is a copy, whose data may change")
	speedFlag(fs, &o.Spec)
	recordedFlags(fs, &o.Spec)
	scoredFlags(fs, &o.Spec.Spec, &o.details)
	_ = c.RegisterFlagCompletionFunc("cluster", a.completeClusters)
	config.FlagOnly(fs, "dsn", "yes")
	c.MarkFlagsMutuallyExclusive("dsn", "cluster")
	c.MarkFlagsOneRequired("dsn", "cluster")
}

func speedFlag(fs *pflag.FlagSet, o *replay.Spec) {
	fs.StringVar(&o.Speed, "speed", "1", "`PACE` of a replay: 1 that of the log, 4 four times as fast, or max")
	config.FlagOnly(fs, "speed")
}

// recordedFlags are those of a log that is played again.
func recordedFlags(fs *pflag.FlagSet, o *replay.Spec) {
	logFlags(fs, &o.Spec, "database of the log (default: that of its first statement)")
	fs.StringVar(&o.Mask, "mask", "", "`FILE` of rules by which personal data of the log is masked")
	fs.BoolVar(&o.MaskBase, "mask-base", false, "with --mask: first mask the columns that it names in the base itself")
	config.FlagOnly(fs, "mask", "mask-base")
}

func (a *app) replay(ctx context.Context, paths []string, o replayOptions) error {
	o.Paths = paths
	options, err := o.Options(ctx)
	if err != nil {
		return err
	}
	options.DSN = o.dsn
	if o.dsn != "" && !o.yes {
		return problem.New(problem.Usage, errors.New("the statements of a log change the database of --dsn"),
			"if it is a copy, add --yes; 'plimsoll clone' makes one of a running server")
	}
	if o.cluster != "" {
		c, err := a.clusters().Running(ctx, o.cluster)
		if err != nil {
			return err
		}
		options.DSNOf = func(database string) string { return c.SocketDSN(database).Secret() }
	}
	phase := ""
	options.Progress = func(what string, share float64, left time.Duration) {
		if what != phase {
			phase = what
			a.meter.Phase(what, 1, "")
		}
		a.meter.UpdateLeft(share, left, "")
	}
	r, err := replay.Run(ctx, options)
	a.meter.End()
	if r == nil {
		return replay.Problem(err)
	}
	err = errors.Join(err, a.answer(r, func(w io.Writer) error { return r.Text(w, o.details) }))
	if err == nil && r.Stopped != "" {
		err = problem.New(problem.Interrupted, errors.New("stopped; what was replayed is above"),
			"it cannot go on, since the base has changed: play on a new copy ('plimsoll clone')")
	}
	if err == nil && !r.Fidelity.Faithful() {
		err = problem.New(problem.Threshold, fmt.Errorf("the replay is not faithful: %s of the statements are as in "+
			"the log", human.Percent1(r.Fidelity.AsInTheLog())), "the base must be as it was when the log began: play "+
			"on a new copy ('plimsoll clone')")
	}
	return err
}
