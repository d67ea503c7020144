package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/ground/human"
)

// usageTemplate leaves out what cobra shows twice and puts examples, which are
// read first, before the flags.
const usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}plimsoll COMMAND [flags]{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{range $group := .Groups}}

{{$group.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flagUsages .LocalFlags}}{{end}}{{if .HasAvailableInheritedFlags}}

Common flags:
{{flagUsages .InheritedFlags}}{{end}}{{if .HasAvailableSubCommands}}

'plimsoll help COMMAND' explains a command. Exit codes:
{{exitCodes}}{{end}}
`

func init() {
	cobra.AddTemplateFunc("flagUsages", flagUsages)
	cobra.AddTemplateFunc("exitCodes", func() string {
		lines := make([]string, len(exitCodes))
		for i, e := range exitCodes {
			const columns = 93 // of 100
			meaning := strings.Join(human.Wrap(e.meaning, columns), "\n       ")
			lines[i] = fmt.Sprintf("  %-4d %s", e.code, meaning)
		}
		return strings.Join(lines, "\n")
	})
	// Commands are listed in the order of use, not of the alphabet.
	cobra.EnableCommandSorting = false
}

func addHelp(root *cobra.Command) {
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpCommand(&cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  plimsoll help run",
		Args:    arguments(0, 1, "one command"),
		GroupID: groupOther,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			for _, c := range root.Commands() {
				if c.Name() == args[0] && !c.Hidden {
					c.InitDefaultHelpFlag()
					return c.Help()
				}
			}
			return unknownCommand(root, args[0])
		},
	})
}

func hintAmong(word string, known []string) string {
	return human.NearestHint(word, known, "there are: "+strings.Join(known, ", "))
}
