package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"plimsoll/lab/system"
	"plimsoll/test/golden"
)

// visible are the commands that users see.
func visible() (all []*cobra.Command) {
	for _, c := range newApp(nil, nil, nil).root.Commands() {
		if !c.Hidden {
			all = append(all, c)
		}
	}
	return all
}

func TestHelp_ReadsAsItDid(t *testing.T) {
	golden.Compare(t, "testdata/help/orientation.txt", plimsoll(t).stdout)
	golden.Compare(t, "testdata/help/plimsoll.txt", plimsoll(t, "help").stdout)
	for _, c := range visible() {
		t.Run(c.Name(), func(t *testing.T) {
			o := plimsoll(t, "help", c.Name())
			o.want(t, ExitOK)
			golden.Compare(t, "testdata/help/"+c.Name()+".txt", o.stdout)
			if flag := plimsoll(t, c.Name(), "--help"); flag.stdout != o.stdout {
				t.Errorf("--help says otherwise:\n%s", cmp.Diff(o.stdout, flag.stdout))
			}
		})
	}
}

func TestHelp_EveryCommandIsExplained(t *testing.T) {
	for _, c := range visible() {
		if c.Short == "" || c.Example == "" || c.GroupID == "" || (c.Long == "" && c.Name() != "help") {
			t.Errorf("%s lacks a summary, an explanation, an example or a group", c.Name())
		}
		if strings.HasSuffix(c.Short, ".") || strings.ToUpper(c.Short[:1]) != c.Short[:1] {
			t.Errorf("%s: summary %q", c.Name(), c.Short)
		}
		for _, line := range strings.Split(c.Long+"\n"+c.Example, "\n") {
			if len([]rune(line)) > 100 {
				t.Errorf("%s: line of %d characters: %s", c.Name(), len([]rune(line)), line)
			}
		}
	}
}

// An example that does not parse is worse than none.
func TestHelp_ExamplesParse(t *testing.T) {
	seen := 0
	examples := newApp(nil, nil, nil).root.Example
	for _, c := range visible() {
		examples += "\n" + c.Example
	}
	for _, args := range commandLines(examples + "\n" + orientation) {
		root := newApp(nil, nil, nil).root
		root.InitDefaultHelpCmd()
		c, rest, err := root.Find(args)
		if err == nil && c == root {
			err = fmt.Errorf("no such command")
		}
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.ValidateArgs(c.Flags().Args())
		}
		if err != nil {
			t.Errorf("plimsoll %s: %v", strings.Join(args, " "), err)
		}
		seen++
	}
	if seen < 20 {
		t.Errorf("only %d command lines found in the help", seen)
	}
}

// commandLines finds the plimsoll command lines in indented example text; a comment
// stands after two blanks.
func commandLines(text string) (all [][]string) {
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  ")
		quoted := false
		for _, part := range strings.FieldsFunc(line, func(r rune) bool {
			quoted = quoted != (r == '"')
			return !quoted && (r == '|' || r == '&' || r == '>' || r == '(' || r == ')')
		}) {
			words, err := system.Words(part)
			if err != nil {
				words = strings.Fields(part)
			}
			for len(words) > 0 && strings.Contains(words[0], "=") {
				words = words[1:] // a variable before the command
			}
			if len(words) > 1 && words[0] == "plimsoll" {
				all = append(all, words[1:])
			}
		}
	}
	return all
}

func TestDocs_AreTheHelpItself(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The command line\n\n<!-- Made from the commands' own help: go test ./cmd/plimsoll/cli " +
		"-rewrite -->\n\n")
	b.WriteString("```\n" + plimsoll(t, "help").stdout +
		"```\n\n## Exit codes\n\n| code | class | meaning |\n|---|---|---|\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", e.code, e.name, e.meaning)
	}
	b.WriteString(docsRest)
	for _, c := range visible() {
		fmt.Fprintf(&b, "\n## plimsoll %s\n\n```\n%s```\n", c.Name(), plimsoll(t, "help", c.Name()).stdout)
	}
	golden.Compare(t, "../../../docs/cli.md", b.String())
}

const docsRest = `
Errors are two lines on stderr, ` + "`plimsoll: what is wrong` and `hint: what to do`" + `. With ` + "`--json`" +
	` stdout carries
nothing but the answer, and an error is one line of JSON, the last on stderr:
` + "`{\"error\":{\"message\",\"hint\",\"class\",\"exit_code\"}}`" + `. Progress goes to stderr, as a line that` +
	` redraws itself on a
terminal and a line every few seconds elsewhere; ` + "`--quiet`" + ` leaves it out. ` + "`NO_COLOR`" + ` is respected.
A command that measured something prints it also when the answer is no or it was stopped.
`
