package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

type upOptions struct {
	flavour, profile, engine, memory, flushLatency, log, primary string
	port                                                         int
	socketOnly, replica, sync                                    bool
	places                                                       placeFlags
}

func (a *app) addUp(root *cobra.Command) {
	var o upOptions
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "up [NAME] [flags]",
		Short: "Create a local PostgreSQL cluster if needed, and start it",
		Long: `Create a local PostgreSQL cluster if there is none with that name, start it, and return
when it accepts connections. It runs until 'plimsoll down', even after you log out. The
name defaults to the flavour, so both flavours can run side by side; a new cluster with the
name of a flavour runs that one. Flags given for an existing cluster take effect at its next
start.

--log replica keeps what standbys and backups of a running server need; --log archive also
copies finished segments, so that a backup can be restored to any moment after it.

--profile 1c is for a 1C server: the field report's settings where they lose nothing, each with
its reason in plimsoll.conf, the libraries that 1C expects, and its extensions in template1. A
locale that it will ask for and that this machine lacks is named with the cure.

--tablespace NAME=DIR puts a tablespace on another disk, in a folder DIR/CLUSTER.NAME that goes
with the cluster. A 1C server uses v81c_data and v81c_index by their names. Those whose names
begin with temp take temporary files. --wal-dir does the same for the log of a new cluster.
Backups, restored clusters and standbys have them too, in folders of their own.

--replica makes a standby of a running cluster and starts it. NAME is the standby's and
defaults to the primary's name with -replica. The primary keeps the log for a standby that does
not run, up to max_slot_wal_keep_size. With --sync its commits wait until the standby has
flushed them: nothing acknowledged is lost with the primary, but while no synchronous
standby runs, commits wait. 'plimsoll promote' makes a standby a primary.`,
		Example: `  plimsoll up                              our PostgreSQL, tuned for this machine
  plimsoll up --flavour vanilla            stock PostgreSQL next to it, for comparison
  plimsoll up big --memory 4GB --port 5440
  plimsoll up --engine /usr/lib/postgresql/16
  plimsoll up slow --flush-latency 2ms     as on a disk whose flushes take 2 ms
  plimsoll up prod --profile 1c --tablespace v81c_data=/disk1 --tablespace v81c_index=/disk2
  plimsoll up main --log replica && plimsoll up --replica --of main --sync`,
		Args:              arguments(0, 1, "one name"),
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error { return a.up(ctx, first(args), o) })
	fs := c.Flags()
	config.Choice(fs, &o.flavour, "flavour", "", []string{installation.Plimsoll, installation.Vanilla},
		"plimsoll: our patched PostgreSQL; vanilla: the same without patches; default: plimsoll if it is "+
			"built, else the system's PostgreSQL")
	config.Choice(fs, &o.profile, "profile", "", words(profile.Names),
		"settings: tuned for this machine (default for a new cluster), stock, those of the field report, which "+
			"lose commits in a crash, or 1c: for a 1C server")
	config.Count(fs, &o.port, "port", 0, 0, 65535, "port on 127.0.0.1; 0 chooses a free one and keeps it")
	fs.BoolVar(&o.socketOnly, "socket-only", false, "listen on a Unix socket only, on no port")
	engineFlag(c, &o.engine)
	fs.StringVar(&o.memory, "memory", "", "memory that the tuned profile may use, such as 50% or 4GB; default: all "+
		"of the machine's")
	fs.StringVar(&o.flushLatency, "flush-latency", "", "minimum time of a flush, such as 0.5ms or 2ms, so that "+
		"results do not depend on this machine's disk; 0: what the disk takes; needs a C compiler once")
	config.Choice(fs, &o.log, "log", "", cluster.LogChoices, "write-ahead log kept: minimal (default of the tuned "+
		"profile), replica: for standbys and backups, archive: also for point-in-time recovery")
	fs.BoolVar(&o.replica, "replica", false, "make NAME a standby of a running cluster")
	fs.StringVar(&o.primary, "of", "", "with --replica: the primary's `NAME` (default: the running one)")
	fs.BoolVar(&o.sync, "sync", false, "with --replica: the primary's commits wait for this standby")
	o.places.add(fs, "")
	_ = c.RegisterFlagCompletionFunc("of", a.completeClusters)
	config.FlagOnly(fs, "replica", "of", "sync", "log")
	c.MarkFlagsMutuallyExclusive("port", "socket-only")
	for _, own := range []string{"flavour", "profile", "engine", "memory", "log", "tablespace", "wal-dir"} {
		c.MarkFlagsMutuallyExclusive("replica", own) // a standby has its primary's
	}
}

func (a *app) up(ctx context.Context, name string, o upOptions) error {
	if o.replica {
		return a.upReplica(ctx, name, o)
	}
	if o.primary != "" || o.sync {
		return problem.New(problem.Usage, fmt.Errorf("--of and --sync apply only to standbys"), "add --replica")
	}
	if _, err := a.clusters().Find(name); o.flavour == "" && errors.Is(err, fs.ErrNotExist) {
		o.engine = installation.EngineFor(name, o.engine) // a cluster named vanilla runs only vanilla
	}
	engine, err := resolveEngine(ctx, o.flavour, o.engine)
	if err != nil {
		return err
	}
	if name == "" {
		if name = o.flavour; name == "" {
			name = engine.Flavour
		}
	}
	spec := cluster.Spec{
		Engine: engineOf(o.flavour, o.engine), Profile: profile.Name(o.profile), Memory: o.memory,
		Port: o.port, SocketOnly: o.socketOnly, FlushLatency: o.flushLatency, Log: cluster.LogKept(o.log),
	}
	if spec.Tablespaces, spec.WalDir, err = o.places.read(); err != nil {
		return err
	}
	a.meter.Phase("starting cluster "+name, 0, "")
	c, err := a.clusters().Up(ctx, name, spec)
	if err != nil {
		return err
	}
	a.meter.End()
	return a.showUp(ctx, c)
}

func (a *app) showUp(ctx context.Context, c *cluster.Cluster) error {
	s := c.Status(ctx)
	if a.json {
		return a.emit(s)
	}
	if note := c.Server().Note(); note != "" {
		a.meter.Say("%s", note)
	}
	if note := c.Server().MissingNote(); note != "" {
		a.meter.Say("%s", note)
	}
	fmt.Fprintf(a.stdout, "cluster %s is %s: PostgreSQL %s %s, profile %s\n", s.Name, s.State, s.Version, patched(s),
		s.Profile)
	if s.FlushLatency != "" {
		fmt.Fprintf(a.stdout, "  a flush takes at least %s\n", s.FlushLatency)
	}
	for _, t := range s.Tablespaces {
		if t.Dir != "" {
			fmt.Fprintf(a.stdout, "  tablespace %s in %s\n", t.Name, t.Dir)
		}
	}
	if s.WalDir != "" {
		fmt.Fprintf(a.stdout, "  write-ahead log in %s\n", s.WalDir)
	}
	fmt.Fprintf(a.stdout, "  dsn   %s\n  psql  plimsoll psql %s\n  log   %s\n", s.DSN, s.Name, c.LogFile())
	if c.Profile == profile.OneC {
		fmt.Fprintf(a.stdout, "  check plimsoll check --cluster %s\n", s.Name)
	}
	return nil
}

// engineOf is what the cluster store calls the engine: --engine says which
// installation, and --flavour is enough where our build is meant.
func engineOf(flavour, engine string) string {
	return cmp.Or(engine, flavour)
}

// resolveEngine finds the engine and checks it against the requested flavour: an installation without patches passes
// for vanilla, never for plimsoll.
func resolveEngine(ctx context.Context, flavour, engine string) (installation.Server, error) {
	s, err := installation.Find(ctx, engineOf(flavour, engine))
	if err != nil {
		return s, err
	}
	if flavour == installation.Plimsoll && s.Patchset == 0 {
		return s, problem.New(problem.Usage, fmt.Errorf("%s is not of the flavour plimsoll", s),
			"leave out --flavour, or --engine (unset PLIMSOLL_ENGINE)")
	}
	return s, nil
}

func patched(s cluster.Status) string {
	if s.Patchset != nil && *s.Patchset > 0 {
		return fmt.Sprintf("%s (patchset %d)", s.Flavour, *s.Patchset)
	}
	return s.Flavour
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
