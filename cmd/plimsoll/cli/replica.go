package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

// upReplica makes or starts a standby.
func (a *app) upReplica(ctx context.Context, name string, o upOptions) error {
	primary, err := a.primary(ctx, name, o.primary)
	if err != nil {
		return err
	}
	if name == "" {
		name = primary.Name() + "-replica"
	}
	a.meter.Phase("starting standby "+name, 0, "")
	clusters := a.copying()
	c, err := clusters.Replica(ctx, name, primary, cluster.Spec{Port: o.port, SocketOnly: o.socketOnly,
		FlushLatency: o.flushLatency, Sync: o.sync})
	if err != nil {
		return err
	}
	a.meter.End()
	return a.showUp(ctx, c)
}

// copying are the clusters, with progress while a running server is copied.
func (a *app) copying() *cluster.Store {
	s := a.clusters()
	begun := false
	s.Copied = func(done, all int64) {
		if !begun {
			begun = true
			a.meter.Phase("copying", float64(all)/(1<<20), "MB")
		}
		a.meter.Update(float64(done)/(1<<20), "")
	}
	return s
}

// primary of an existing standby, or of one to be created.
func (a *app) primary(ctx context.Context, name, primary string) (*cluster.Cluster, error) {
	if primary == "" && name != "" {
		if c, err := a.clusters().Find(name); err == nil && c.Follows() != "" {
			primary = c.Follows()
		}
	}
	c, err := a.clusters().Running(ctx, primary)
	if err != nil {
		return nil, problem.WithHint(err, "a standby needs a primary that runs: plimsoll up NAME --log replica")
	}
	return c, nil
}

func (a *app) addPromote(root *cobra.Command) {
	var force bool
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "promote NAME [flags]",
		Short: "Make a standby a primary",
		Long: `Make a running standby a primary: it ends its recovery and accepts writes, on a new timeline.
This is refused while its primary runs, because both would accept writes.

What the old primary acknowledged is there if the standby was synchronous. Otherwise what it
had not sent is lost. The old primary does not follow the new one: destroy it and make a
standby in its place.`,
		Example: `  plimsoll promote plimsoll-replica
  plimsoll promote plimsoll-replica --force`,
		Args:              arguments(1, 1, "the name of a standby"),
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error {
		a.meter.Phase("promoting "+args[0], 0, "")
		p, err := a.clusters().Promote(ctx, args[0], force)
		if err != nil {
			return err
		}
		a.meter.End()
		return a.answerLine(p, "cluster %s is a primary now, on timeline %d from %s on; it was a standby of %s", p.Name,
			p.Timeline, p.LSN, p.From)
	})
	c.Flags().BoolVar(&force, "force", false, "promote even while its primary runs")
	config.FlagOnly(c.Flags(), "force")
}

// showReplication says who follows whom, and how closely.
func (a *app) showReplication(s cluster.Status) {
	r := s.Replication
	switch {
	case r == nil:
	case r.Role == cluster.RoleStandby:
		fmt.Fprintf(a.stdout, "%s: standby of %s%s\n", s.Name, r.Of, standbyText(r.Standby))
	default:
		for _, each := range r.Standbys {
			fmt.Fprintf(a.stdout, "%s: primary of %s%s\n", s.Name, each.Name, standbyText(each))
		}
	}
}

func standbyText(s cluster.Standby) string {
	var parts []string
	for _, part := range []string{s.State, s.Sync} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if s.LagBytes != nil {
		text := fmt.Sprintf("%d bytes", *s.LagBytes)
		if s.LagMS != nil {
			text += fmt.Sprintf(" and %.1f ms", *s.LagMS)
		}
		parts = append(parts, text+" behind")
	}
	if s.Log == "lost" {
		parts = append(parts, "the log that it needs is gone: destroy it and create it again")
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// checkNotNeeded refuses to stop a standby for which commits wait, unless its primary stops first.
func (a *app) checkNotNeeded(names []string) error {
	stopping := map[string]bool{}
	for _, name := range names {
		stopping[name] = true
		c, err := a.clusters().Find(name)
		if err != nil {
			return err
		}
		if primary := c.NeededBy(); primary != "" && !stopping[primary] {
			return problem.New(problem.Environment,
				fmt.Errorf("commits of cluster %s wait for its standby %s", primary, name),
				"stop the primary first: plimsoll down "+primary+"; --force stops the standby, and commits wait until "+
					"it runs")
		}
	}
	return nil
}

// primariesFirst: a primary that is stopped sends its standbys all that it has written.
func (a *app) primariesFirst(x, y string) int {
	rank := func(name string) int {
		if c, err := a.clusters().Find(name); err == nil && c.Follows() != "" {
			return 1
		}
		return 0
	}
	return rank(x) - rank(y)
}
