package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/ground/problem"
)

// addMan adds the hidden command that writes the manual pages: for those who make packages.
func (a *app) addMan(root *cobra.Command) {
	c := a.command(root, groupOther, &cobra.Command{
		Use:     "man DIR",
		Hidden:  true,
		Short:   "Write the manual pages into a folder",
		Example: "  plimsoll man /usr/share/man/man1",
		Args:    arguments(1, 1, "one folder"),
	}, func(_ context.Context, args []string) error {
		pages := manPages(root)
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil {
				return problem.New(problem.Environment, fmt.Errorf("write manual pages: %w", err), "")
			}
		}
		_, err := fmt.Fprintf(a.stdout, "%d pages written to %s\n", len(pages), args[0])
		return err
	})
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
}

// manPages are plimsoll(1) and a page for each command that the help lists, by file name.
func manPages(root *cobra.Command) map[string][]byte {
	pages := map[string][]byte{"plimsoll.1": manPage(root)}
	for _, c := range root.Commands() {
		if isListed(c) {
			pages["plimsoll-"+c.Name()+".1"] = manPage(c)
		}
	}
	return pages
}

// isListed: 'plimsoll help run' is the page of run.
func isListed(c *cobra.Command) bool { return !c.Hidden && c.Name() != "help" }

// manPage writes the command's help as a page of man(7).
func manPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"plimsoll %s\" \"Plimsoll\"\n", roffWord(strings.ToUpper(name)), release)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffWord(name), roffText(c.Short))
	use := c.UseLine()
	if c.HasAvailableSubCommands() {
		use = "plimsoll COMMAND [flags]"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", roffText(use))
	roffBlock(&b, "DESCRIPTION", c.Long)
	roffFlags(&b, "OPTIONS", c.LocalFlags())
	roffFlags(&b, "COMMON OPTIONS", c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		roffCommands(&b, c)
	} else {
		fmt.Fprint(&b, ".SH SEE ALSO\nplimsoll(1)\n")
	}
	roffBlock(&b, "EXAMPLES", c.Example)
	return b.Bytes()
}

// roffCommands lists the commands, and the exit codes that all share.
func roffCommands(b *bytes.Buffer, root *cobra.Command) {
	fmt.Fprintln(b, ".SH COMMANDS")
	for _, c := range root.Commands() {
		if isListed(c) {
			fmt.Fprintf(b, ".TP\n.B plimsoll\\-%s(1)\n%s\n", roffWord(c.Name()), roffText(c.Short))
		}
	}
	fmt.Fprintln(b, ".SH EXIT STATUS")
	for _, e := range exitCodes {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", e.code, roffText(e.meaning))
	}
}

// roffBlock is a section whose lines stay as they are: help texts have lists and columns.
func roffBlock(b *bytes.Buffer, title, text string) {
	if text = strings.TrimRight(text, "\n"); text != "" {
		fmt.Fprintf(b, ".SH %s\n.nf\n%s\n.fi\n", title, roffText(text))
	}
}

func roffFlags(b *bytes.Buffer, title string, fs *pflag.FlagSet) {
	if !fs.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			name, text := flagUsage(f)
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roffText(strings.TrimSpace(name)), roffText(text))
		}
	})
}

// roffText keeps roff from reading text as its own: backslashes, hyphens that people copy, and lines that would begin
// with a request.
func roffText(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, `-`, `\-`, `’`, `'`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func roffWord(word string) string { return strings.ReplaceAll(word, "-", `\-`) }
