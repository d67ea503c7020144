package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/lab/cluster"
	"plimsoll/platform/problem"
)

func (a *app) addDown(root *cobra.Command) {
	var all, immediate bool
	c := a.command(root, groupDatabase, &cobra.Command{
		Use:   "down [NAME] [flags]",
		Short: "Stop a local cluster; its data stays",
		Long: `Stop a local cluster and return when it has stopped. Its data stays for the next
'plimsoll up'. Without a name it stops the one that runs.`,
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
		if err != nil {
			return err
		}
		return a.down(ctx, names, mode)
	})
	c.Flags().BoolVar(&all, "all", false, "every cluster that runs")
	c.Flags().BoolVar(&immediate, "immediate", false, "at once, as a crash would: the next start recovers")
	config.FlagOnly(c.Flags(), "all", "immediate")
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
	if len(names) > 1 && !all {
		return nil, problem.New(problem.Usage, fmt.Errorf("which cluster? %d run", len(names)), "name one, or --all; 'plimsoll status' lists them")
	}
	return names, nil
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
