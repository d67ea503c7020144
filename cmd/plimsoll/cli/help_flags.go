package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

const (
	helpWidth = 120
	// flagColumnMax is where the texts of flags begin at most: a text begins below a flag that is longer.
	flagColumnMax = 36
)

// flagUsages lists the flags of a help text. pflag's own list gives up half of the width for one long flag.
func flagUsages(fs *pflag.FlagSet) string {
	var names, texts []string
	column := 0
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, text := flagUsage(f)
		names, texts = append(names, name), append(texts, text)
		if begin := utf8.RuneCountInString(name) + 3; begin <= flagColumnMax {
			column = max(column, begin)
		}
	})
	var b strings.Builder
	for i, name := range names {
		lines := strings.Split(folded(texts[i], helpWidth-column), "\n")
		if utf8.RuneCountInString(name)+3 > column {
			fmt.Fprintln(&b, name)
			name = ""
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "%-*s%s\n", column, name, line)
			name = ""
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// flagUsage is the flag with the kind of its value, and what it does with its default. A default that is nothing is
// left out: the text tells what 0 or none means.
func flagUsage(f *pflag.Flag) (name, text string) {
	kind, text := pflag.UnquoteUsage(f)
	name = "      --" + f.Name
	if f.Shorthand != "" {
		name = fmt.Sprintf("  -%s, --%s", f.Shorthand, f.Name)
	}
	if kind != "" {
		name += " " + kind
	}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		text += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	return name, text
}

// folded breaks text into lines of at most width characters.
func folded(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return strings.Join(append(lines, line), "\n")
}
