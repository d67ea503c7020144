package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

func (a *app) addDown(root *cobra.Command) {
	var all, immediate, force bool
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "down [NAME] [flags]",
		Short: "Stop a local cluster; its data stays",
		Long: `Stop a local cluster and return when it has stopped. Its data stays for the next
'plimsoll up'. Without a name it stops the one that runs. It refuses to stop a cluster
that a run or a search is using; --force stops it anyway.`,
		Example: `  plimsoll down
  plimsoll down vanilla
  plimsoll down --all`,
		Args:              arguments(0, 1, "one name"),
		ValidArgsFunction: a.completeClusters,
	}, func(ctx context.Context, args []string) error {
		if all && len(args) > 0 {
			return problem.New(problem.Usage, fmt.Errorf("--all and a name, %q, exclude each other", args[0]), "")
		}
		mode := cluster.Fast
		if immediate {
			mode = cluster.Immediate
		}
		names, err := a.toStop(ctx, first(args), all)
		if err == nil && !force {
			err = a.withoutLoad(names)
		}
		if err == nil && !force {
			err = a.checkNotNeeded(names)
		}
		if err != nil {
			return err
		}
		return a.down(ctx, names, mode)
	})
	c.Flags().BoolVar(&all, "all", false, "stop every running cluster")
	c.Flags().BoolVar(&immediate, "immediate", false, "stop at once, like a crash: the next start recovers")
	c.Flags().BoolVar(&force, "force", false, "stop even if a run uses it; the run's result is then not valid")
	config.FlagOnly(c.Flags(), "all", "immediate", "force")
}

func (a *app) toStop(ctx context.Context, name string, all bool) ([]string, error) {
	if name != "" {
		return []string{name}, nil
	}
	statuses, err := a.clusters().Status(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, s := range statuses {
		switch s.State {
		case cluster.Running, cluster.Starting, cluster.Stopping:
			names = append(names, s.Name)
		}
	}
	slices.SortStableFunc(names, a.primariesFirst)
	if len(names) > 1 && !all {
		return nil, problem.New(problem.Usage, fmt.Errorf("which cluster? %d run", len(names)),
			"name one, or --all; 'plimsoll status' lists them")
	}
	return names, nil
}

// withoutLoad refuses clusters that a run is using.
func (a *app) withoutLoad(names []string) error {
	for _, name := range names {
		c, err := a.clusters().Find(name)
		if err != nil {
			return err
		}
		owner, held, err := c.Load()
		if err != nil {
			return err
		}
		if held {
			return problem.New(problem.Environment, fmt.Errorf("cluster %s is %w", name, &lock.HeldError{Owner: owner}),
				hintOfLoad(owner))
		}
	}
	return nil
}

// hintOfLoad says what to do about it. A command that took the cluster just now has not written its name yet.
func hintOfLoad(owner lock.Owner) string {
	end := "end it with Ctrl-C"
	if owner.PID != 0 {
		end += fmt.Sprintf(" (kill -INT %d)", owner.PID)
	}
	return "wait until it has finished, or " + end +
		", which keeps what was measured; --force stops the cluster anyway"
}

func (a *app) down(ctx context.Context, names []string, mode cluster.StopMode) error {
	for _, name := range names {
		a.meter.Phase("stopping cluster "+name, 0, "")
		if err := a.clusters().Down(ctx, name, mode); err != nil {
			return err
		}
		a.meter.End()
		if !a.json {
			fmt.Fprintf(a.stdout, "cluster %s is stopped\n", name)
		}
	}
	if a.json {
		return a.emit(map[string][]string{"stopped": names})
	}
	if len(names) == 0 {
		fmt.Fprintln(a.stdout, "no cluster runs")
	}
	return nil
}
