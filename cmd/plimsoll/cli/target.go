package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/rig"
)

// target is the database that a command means: a local cluster, or any by its DSN.
type target struct {
	cluster, dsn string
	clusterFlag  *pflag.Flag
}

// foreign says whether the database is outside our clusters. A cluster named on the command line takes precedence over
// a connection string from the environment or the file.
func (t target) foreign() bool { return t.dsn != "" && !t.clusterFlag.Changed }

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
		cobra.FixedCompletions(
			[]string{installation.Plimsoll, installation.Vanilla, installation.Stock, installation.System},
			cobra.ShellCompDirectiveDefault))
}

// clusters of the state directory; their messages appear between the progress.
func (a *app) clusters() *cluster.Store {
	s := cluster.Open("")
	s.Say = func(message string) { a.meter.Say("%s", message) }
	return s
}

// pick gives the cluster that a person means: the named one; else the one that
// runs; else the only one there is; else "".
func (a *app) pick(ctx context.Context, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	all, err := a.clusters().Status(ctx)
	if err != nil {
		return "", err
	}
	var running, ours []string
	for _, s := range all {
		if s.State == cluster.Foreign {
			continue
		}
		ours = append(ours, s.Name)
		if s.State == cluster.Running {
			running = append(running, s.Name)
		}
	}
	candidates := running
	if len(running) == 0 {
		candidates = ours
	}
	switch {
	case len(candidates) == 0:
		return "", nil
	case len(candidates) == 1:
		return candidates[0], nil
	case slices.Contains(candidates, installation.Plimsoll):
		return installation.Plimsoll, nil
	}
	return "", problem.New(problem.Usage, fmt.Errorf("which cluster? there are %s", strings.Join(candidates, ", ")),
		"name one with --cluster or in the configuration file")
}

// pickOrName is pick for commands that create a missing cluster: it is named after its flavour. An engine requested by
// its flavour means the cluster of that name, whichever else runs. Any other name without a cluster is a mistake.
func (a *app) pickOrName(ctx context.Context, name, engine string) (string, error) {
	if name == "" && isFlavour(engine) {
		return engine, nil
	}
	name, err := a.pick(ctx, name)
	switch {
	case err != nil:
		return "", err
	case name == "":
		s, err := installation.Find(ctx, engine)
		if err == nil {
			a.warnLost(s)
		}
		return s.Flavour, err
	}
	return name, a.checkEngine(ctx, name, engine)
}

// checkEngine checks that a cluster exists and has the requested engine: figures of another one would mislead.
func (a *app) checkEngine(ctx context.Context, name, engine string) error {
	c, err := a.clusters().Find(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isFlavour(name):
		return nil // it will be created
	case errors.Is(err, fs.ErrNotExist):
		// a mistyped flavour would otherwise create a cluster
		return problem.New(problem.Usage, err, human.NearestHint(name, append(a.clusterNames(), flavours...),
			"plimsoll up "+name+" creates it"))
	case err != nil:
		return err
	}
	return problem.WithHint(c.SameEngine(ctx, engine),
		"leave out --engine, or create another cluster: plimsoll up NAME --engine "+engine)
}

// flavours name the clusters that are created if missing.
var flavours = []string{installation.Plimsoll, installation.Vanilla, installation.Stock, installation.System}

func isFlavour(name string) bool { return slices.Contains(flavours, name) }

// specEngine lets the name of a flavour mean its engine, as in 'run --cluster vanilla'.
func specEngine(name, engine string) string {
	if engine == "" && isFlavour(name) {
		return name
	}
	return engine
}

// picked gives the cluster that a person means, whether it runs or not.
func (a *app) picked(ctx context.Context, name string) (*cluster.Cluster, error) {
	name, err := a.pick(ctx, name)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return nil, problem.New(problem.Environment, fmt.Errorf("there is no local cluster"),
			"create and start one: plimsoll up")
	}
	return a.clusters().Find(name)
}

// mustRun gives the picked cluster, which must run.
func (a *app) mustRun(ctx context.Context, name string) (*cluster.Cluster, error) {
	c, err := a.picked(ctx, name)
	if err != nil {
		return nil, err
	}
	return c, running(ctx, c)
}

func running(ctx context.Context, c *cluster.Cluster) error {
	s := c.Status(ctx)
	if s.State == cluster.Running {
		return nil
	}
	return problem.New(problem.Environment, fmt.Errorf("cluster %s is %s", c.Name(), s.State),
		"start it: plimsoll up "+c.Name())
}

// database gives the connection string of the ERP's database, which is created in a
// local cluster if it is missing.
func (a *app) database(ctx context.Context, t target) (string, error) {
	if t.foreign() {
		return t.dsn, nil
	}
	c, err := a.mustRun(ctx, t.cluster)
	if err != nil {
		return "", err
	}
	if err := rig.EnsureDatabase(ctx, c); err != nil {
		return "", err
	}
	return c.DSN(rig.Database).Secret(), nil
}

// lockForLoad gives the database of a local cluster that runs, and keeps every other load off it until it is released.
func (a *app) lockForLoad(ctx context.Context, t target, missing string) (dsn string, release func() error, err error) {
	c, err := a.mustRun(ctx, t.cluster)
	if err != nil {
		return "", nil, problem.WithHint(err, missing)
	}
	load, err := c.TakeForLoad(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := rig.EnsureDatabase(ctx, c); err != nil {
		return "", nil, errors.Join(err, load.Remove())
	}
	return c.DSN(rig.Database).Secret(), load.Remove, nil
}

func (a *app) completeClusters(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.clusterNames(), cobra.ShellCompDirectiveNoFileComp
}

// clusterNames are all; none if they cannot be read.
func (a *app) clusterNames() (names []string) {
	all, _ := cluster.Open("").List()
	for _, c := range all {
		names = append(names, c.Name())
	}
	return names
}
