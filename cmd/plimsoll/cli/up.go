package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/cluster"
	"plimsoll/lab/cluster/profile"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

type upOptions struct {
	flavour, profile, engine, memory string
	port                             int
	socketOnly                       bool
}

func (a *app) addUp(root *cobra.Command) {
	var o upOptions
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "up [NAME] [flags]",
		Short: "Make a local PostgreSQL cluster if need be, and start it",
		Long: `Make a local PostgreSQL cluster if there is none of that name, start it, and return
when it takes connections. It runs until 'plimsoll down', also after a logout. The
name defaults to the flavour, so both flavours can run side by side. Settings of the
cluster that are given again change it at its next start.`,
		Example: `  plimsoll up                              our PostgreSQL, tuned for this machine
  plimsoll up --flavour vanilla            stock PostgreSQL beside it, for comparison
  plimsoll up big --memory 4GB --port 5440
  plimsoll up --engine /usr/lib/postgresql/16`,
		Args:              arguments(0, 1, "one name"),
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error { return a.up(ctx, first(args), o) })
	fs := c.Flags()
	config.Choice(fs, &o.flavour, "flavour", "", []string{server.Plimsoll, server.Vanilla}, "plimsoll: our patched PostgreSQL; vanilla: the same without patches;\nwithout it plimsoll where it is built, else the system's PostgreSQL")
	config.Choice(fs, &o.profile, "profile", "", []string{string(profile.Tuned), string(profile.Stock)}, "settings: tuned to this machine (for a new cluster the default), or stock")
	config.Count(fs, &o.port, "port", 0, 0, 65535, "port on 127.0.0.1; 0 takes a free one and keeps it")
	fs.BoolVar(&o.socketOnly, "socket-only", false, "listen on a socket only, on no port")
	engineFlag(c, &o.engine)
	fs.StringVar(&o.memory, "memory", "", "what the tuned profile plans with, as 50% or 4GB; without it all of the machine's")
	c.MarkFlagsMutuallyExclusive("port", "socket-only")
}

func (a *app) up(ctx context.Context, name string, o upOptions) error {
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
		Port: o.port, SocketOnly: o.socketOnly,
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
	a.warnLost(c.Server())
	fmt.Fprintf(a.stdout, "cluster %s is %s: PostgreSQL %s %s, profile %s\n", s.Name, s.State, s.Version, patched(s), s.Profile)
	fmt.Fprintf(a.stdout, "  dsn   %s\n  psql  plimsoll psql %s\n  log   %s\n", s.DSN, s.Name, c.LogFile())
	return nil
}

// warnLost says once what a server without our patches goes without.
func (a *app) warnLost(s server.Server) {
	if lost := s.Lost(); lost != "" && s.Flavour != server.Vanilla {
		a.meter.Say("note: our own PostgreSQL is not used; this is %s\n      %s\n      'make engine' builds ours", s, lost)
	}
}

// engineOf is what the cluster store calls the engine: --engine says which
// installation, and --flavour is enough where our build is meant.
func engineOf(flavour, engine string) string {
	if engine != "" {
		return engine
	}
	return flavour
}

// resolveEngine finds the engine and holds it against the flavour asked for: an
// installation without patches can stand for vanilla, never for plimsoll.
func resolveEngine(ctx context.Context, flavour, engine string) (server.Server, error) {
	s, err := server.Find(ctx, engineOf(flavour, engine))
	if err != nil {
		return s, err
	}
	if flavour == server.Plimsoll && s.Patchset == 0 {
		return s, problem.New(problem.Usage, fmt.Errorf("%s is not of the flavour plimsoll", s), "leave out --engine (or unset PLIMSOLL_ENGINE), or --flavour")
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
