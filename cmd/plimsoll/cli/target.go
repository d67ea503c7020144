package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/system"
	"plimsoll/platform/data/database"
)

// target is the database that a command means: a local cluster, or any by its DSN.
type target struct {
	cluster, dsn string
	clusterFlag  *pflag.Flag
}

// foreign says whether the database is outside our clusters. A cluster named on the command line takes precedence over
// a connection string from the environment or the file.
func (t target) foreign() bool { return t.dsn != "" && !t.clusterFlag.Changed }

// system is the target of a measurement, whose cluster is created with this engine if it is missing.
func (t target) system(engine string) system.Target {
	if t.foreign() {
		return system.Target{DSN: t.dsn}
	}
	return system.Target{Cluster: t.cluster, Engine: engine}
}

// mayCreate says whether an empty database is for us: one of a cluster of ours is.
func (t target) mayCreate(asked bool) bool { return asked || !t.foreign() }

func createFlag(fs *pflag.FlagSet, create *bool) {
	fs.BoolVar(create, "create", false, "create the ERP's tables in an empty database of --dsn")
}

func (a *app) targetFlags(c *cobra.Command, t *target) {
	fs := c.Flags()
	fs.StringVar(&t.cluster, "cluster", "", "local cluster `NAME` (default: the running one)")
	fs.StringVar(&t.dsn, "dsn", "", "connection string of the database, instead of a local "+
		"cluster; keep passwords in PLIMSOLL_DSN, not on a command line")
	config.Share(fs, "cluster", "dsn")
	t.clusterFlag = fs.Lookup("cluster")
	c.MarkFlagsMutuallyExclusive("cluster", "dsn")
	_ = c.RegisterFlagCompletionFunc("cluster", a.completeClusters)
}

func engineFlag(c *cobra.Command, engine *string) {
	c.Flags().StringVar(engine, "engine", "",
		"PostgreSQL to run: plimsoll, vanilla, stock, system, or the folder of an "+
			"installation (default: plimsoll if it is built, else system)")
	config.Share(c.Flags(), "engine")
	_ = c.RegisterFlagCompletionFunc("engine",
		cobra.FixedCompletions(installation.Flavours, cobra.ShellCompDirectiveDefault))
}

// clusters of the state directory; their messages appear between the progress.
func (a *app) clusters() *cluster.Store {
	s := cluster.Open("")
	s.Say = func(message string) { a.meter.Say("%s", message) }
	return s
}

// database gives the connection string of the ERP's database, which is created in a local cluster if it is missing.
func (a *app) database(ctx context.Context, t target) (string, error) {
	if t.foreign() {
		return t.dsn, nil
	}
	c, err := a.clusters().Running(ctx, t.cluster)
	if err != nil {
		return "", err
	}
	return system.EnsureDatabase(ctx, c)
}

// open the ERP's database.
func (a *app) open(ctx context.Context, t target, o database.Options) (*database.Database, error) {
	dsn, err := a.database(ctx, t)
	if err != nil {
		return nil, err
	}
	return database.Open(ctx, dsn, o)
}

func (a *app) completeClusters(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.clusters().Names(), cobra.ShellCompDirectiveNoFileComp
}
