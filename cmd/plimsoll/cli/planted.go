package cli

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/lab/prove/self"
)

// addPlanted adds the hidden body of a server of known behaviour, which 'prove --self' starts.
func (a *app) addPlanted(root *cobra.Command) {
	a.command(root, groupOther, &cobra.Command{
		Use:     "planted BEHAVIOUR",
		Short:   "Run a server of known behaviour for the self-test",
		Example: "  plimsoll planted delay",
		Hidden:  true,
		Args:    arguments(1, 1, "the name of a behaviour"),
	}, func(ctx context.Context, args []string) error { return self.Planted(ctx, args[0], a.stdout) })
}
