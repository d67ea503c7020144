package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// addKeep adds the hidden body of a cluster's keeper, which 'up' starts.
func (a *app) addKeep(root *cobra.Command) {
	a.command(root, groupDatabase, &cobra.Command{
		Use:     "keep NAME",
		Short:   "Run a cluster's server as its parent process",
		Example: "  plimsoll keep plimsoll",
		Hidden:  true,
		Args:    arguments(1, 1, "the name of a cluster"),
	}, func(ctx context.Context, args []string) error { return a.clusters().Keep(ctx, args[0]) })
}
