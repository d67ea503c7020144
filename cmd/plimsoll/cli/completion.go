package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/ground/problem"
)

var shells = []string{"bash", "zsh", "fish"}

func (a *app) addCompletion(root *cobra.Command) {
	a.command(root, groupOther, &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write the completion script of a shell: " + strings.Join(shells, ", "),
		Long:  "Write to stdout the script that makes a shell complete plimsoll's commands, flags and names.",
		Example: `  source <(plimsoll completion bash)
  plimsoll completion zsh > "${fpath[1]}/_plimsoll"
  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish`,
		Args:      arguments(1, 1, "one of "+strings.Join(shells, ", ")),
		ValidArgs: shells,
	}, func(_ context.Context, args []string) error {
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(a.stdout, true)
		case "zsh":
			return root.GenZshCompletion(a.stdout)
		case "fish":
			return root.GenFishCompletion(a.stdout, true)
		}
		return unknownShell(args[0])
	})
}

func unknownShell(name string) error {
	return problem.New(problem.Usage, fmt.Errorf("unknown shell %q", name), hintAmong(name, shells))
}
