package scenario

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/human"
	"plimsoll/test/golden"
)

// sectionsFirst are the tables of the reference in the order that a reader needs; others follow in the order of keys.
var sectionsFirst = []string{"", "operations.*", "login", "http", "sql", "variables", "think", "roles.*", "day"}

// sectionOf is the table under whose heading a key stands: the first part of its name, or of OPERATION and ROLE the
// first two.
func sectionOf(pattern string) string {
	parts := strings.Split(pattern, ".")
	switch {
	case len(parts) == 1 && !isTable(pattern):
		return ""
	case len(parts) > 1 && parts[1] == "*" && isTable(parts[0]+".*"):
		return parts[0] + ".*"
	}
	return parts[0]
}

func isTable(pattern string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return k.pattern == pattern && k.table })
}

func sections() []string {
	all := slices.Clone(sectionsFirst)
	for _, k := range keys {
		section := sectionOf(k.pattern)
		if isTable(section + ".*") {
			continue // the heading of each is enough
		}
		if !slices.Contains(all, section) {
			all = append(all, section)
		}
	}
	return all
}

func TestReference_IsTheDocument(t *testing.T) {
	guide, err := os.ReadFile("testdata/guide.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(string(guide), "\n") + "\n")
	for _, section := range sections() {
		writeSection(&b, section)
	}
	golden.Compare(t, "../../../docs/scenario.md", b.String())
}

func writeSection(b *strings.Builder, section string) {
	heading, intro := "Keys above all tables", "These stand before the first table in the file."
	if section != "" {
		a, _ := aboutKey(section)
		heading, intro = "`["+named(section)+"]`", a.says
	}
	fmt.Fprintf(b, "\n### %s\n\n", heading)
	wrap(b, intro)
	if of, is := alike[section]; is {
		var names []string
		for _, k := range keys {
			rest, inside := strings.CutPrefix(k.pattern, section+".")
			if inside && !k.table && !strings.HasPrefix(rest, "steps.") {
				names = append(names, "`"+named(rest)+"`")
			}
		}
		b.WriteString("\n")
		wrap(b, fmt.Sprintf("It has keys of `[%s]`: %s.", named(of), strings.Join(names, ", ")))
		return
	}
	b.WriteString("\n| key | takes | without it | what it does | example |\n|---|---|---|---|---|\n")
	var longer []string
	for _, k := range rowsOf(section) {
		a, _ := aboutKey(k.pattern)
		if of, is := alike[k.pattern]; is {
			fmt.Fprintf(b, "| `%s` | keys of `[%s]` | | %s | |\n", named(strings.TrimPrefix(k.pattern, section+".")),
				named(of), a.says)
			continue
		}
		example := "`" + strings.ReplaceAll(a.example, "|", `\|`) + "`"
		if strings.Contains(a.example, "\n") {
			example, longer = "below", append(longer, a.example)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", named(strings.TrimPrefix(k.pattern, section+".")),
			takesText(a.takes), a.instead, a.says, example)
	}
	for _, example := range longer {
		fmt.Fprintf(b, "\n```toml\n%s\n```\n", example)
	}
}

// rowsFirst is the order of keys in their tables; others follow in the order of the reader's.
var rowsFirst = []string{"title", "application", "target", "weight", "priority", "url", "method", "headers.*", "sql",
	"script", "steps", "steps.*.think", "body", "form.*", "multipart.*", "files.*", "body_file", "expect", "refused",
	"contains", "check.*", "extract.*", "resources"}

// rowsOf a section are its keys with a meaning of their own, and tables of keys like others.
func rowsOf(section string) (rows []key) {
	for _, k := range keys {
		_, own := reference[k.pattern]
		if _, like := alike[k.pattern]; sectionOf(k.pattern) == section && own &&
			(!k.table || like && !strings.HasSuffix(k.pattern, ".*")) {
			rows = append(rows, k)
		}
	}
	place := func(k key) int {
		at := slices.Index(rowsFirst, strings.TrimPrefix(k.pattern, section+"."))
		if at < 0 {
			return len(rowsFirst)
		}
		return at
	}
	slices.SortStableFunc(rows, func(a, b key) int { return place(a) - place(b) })
	return rows
}

// named is a pattern as a person reads it: a list's tables have no name.
func named(pattern string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, "steps.*", "steps"), "*", "NAME")
}

// takesText writes alternatives as values in quotes: a bar would end the cell.
func takesText(takes string) string {
	if words := strings.Split(takes, "|"); len(words) > 1 {
		return "`\"" + strings.Join(words, "\"`, `\"") + "\"`"
	}
	return takes
}

// wrap a paragraph at 120 columns.
func wrap(b *strings.Builder, text string) {
	for _, line := range human.Wrap(text, 120) {
		b.WriteString(line + "\n")
	}
}
