package cli

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
)

type cloneOptions struct {
	dsn, of, engine, profile, memory, pace string
	port                                   int
	fast                                   bool
}

func (a *app) addClone(root *cobra.Command) {
	var o cloneOptions
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "clone NAME [flags]",
		Short: "Copy a running server as a local cluster, to test on",
		Long: `Copy a running PostgreSQL server as a new local cluster NAME, and start it: from production to a
test base in one line, without a file of a backup on the way. The server goes on; the copy is as
of one moment, all databases, every transaction whole or not there. A standby may be copied too,
which takes load off its primary.

The role of --dsn needs REPLICATION, and pg_hba.conf must let it in for "replication". The major
version is the server's; it must be installed here. --engine plimsoll makes the copy run on our
build of PostgreSQL 18, --engine vanilla on the stock one: clone twice to compare them on your own
data.

The copy does not act as the server: its settings, archive command, standby and pg_hba.conf are put
aside (*.source in the data folder), subscriptions are disabled, and it listens on 127.0.0.1 alone.
Roles keep their passwords. Jobs of extensions such as pg_cron do not run unless you load those.
Personal data come along: protect the copy as you do the original.

The server's checkpoint before the copy is spread, as PostgreSQL does by itself, and may take
minutes; --fast makes it at once. --max-rate limits what the copy takes from the server's disks and
network. Ctrl-C or a failure leaves nothing behind.`,
		Example: `  plimsoll clone test --dsn postgres://copier@10.0.0.5/shop
  plimsoll clone test --dsn postgres://copier@10.0.0.5/shop --max-rate 50M --memory 8GB
  plimsoll clone stock --of main --engine vanilla --fast     of a local cluster
  plimsoll audit --cluster stock                             its books, if it is the ERP's base
  plimsoll destroy test --yes`,
		Args: arguments(1, 1, "the name of the new cluster"),
	}, func(ctx context.Context, args []string) error { return a.clone(ctx, args[0], o) })
	fs := c.Flags()
	fs.StringVar(&o.dsn, "dsn", "", "connection string of the server to copy: postgres://user@host:5432/database; the "+
		"password may be in PGPASSWORD or ~/.pgpass")
	fs.StringVar(&o.of, "of", "", "copy the running local cluster `NAME` instead")
	engineFlag(c, &o.engine)
	config.Choice(fs, &o.profile, "profile", "", words(profile.Names),
		"settings of the copy, as those of 'plimsoll up'")
	fs.StringVar(&o.memory, "memory", "", "memory that the tuned profile may use, such as 50% or 4GB; default: all "+
		"of the machine's")
	config.Count(fs, &o.port, "port", 0, 0, 65535, "port on 127.0.0.1; 0 chooses a free one and keeps it")
	fs.StringVar(&o.pace, "max-rate", "", "the most that is copied in a second, such as 50M; default: no limit")
	fs.BoolVar(&o.fast, "fast", false, "begin at once: have the server write its checkpoint without pauses")
	_ = c.RegisterFlagCompletionFunc("of", a.completeClusters)
	config.FlagOnly(fs, "dsn", "of", "max-rate", "fast")
	c.MarkFlagsMutuallyExclusive("dsn", "of")
	c.MarkFlagsOneRequired("dsn", "of")
}

// pace as pg_basebackup takes it.
var pace = regexp.MustCompile(`^[1-9][0-9]*[kM]?$`)

func (a *app) clone(ctx context.Context, name string, o cloneOptions) error {
	if o.pace != "" && !pace.MatchString(o.pace) {
		return problem.New(problem.Usage, fmt.Errorf("--max-rate %q is no rate", o.pace),
			"such as 500k or 50M, in bytes")
	}
	dsn := o.dsn
	if o.of != "" {
		of, err := a.clusters().Running(ctx, o.of)
		if err != nil {
			return err
		}
		if err := of.MayStream(ctx); err != nil {
			return err
		}
		dsn = of.SocketDSN("").Secret()
	}
	a.meter.Phase("waiting for the server's checkpoint", 0, "")
	_, err := a.copying().Clone(ctx, name, cluster.Spec{Engine: o.engine, Profile: profile.Name(o.profile),
		Memory: o.memory, Port: o.port}, dsn, cluster.CloneOptions{Pace: o.pace, Fast: o.fast})
	if err != nil {
		return err
	}
	a.meter.Phase("starting cluster "+name, 0, "")
	c, err := a.clusters().Up(ctx, name, cluster.Spec{})
	if err != nil {
		return err
	}
	a.meter.End()
	return a.showUp(ctx, c)
}
