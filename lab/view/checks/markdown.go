package checks

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/web"
)

// Markdown writes a summary: the answer, the checks with those that did not pass first, and the figures folded up.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	verdict := "passed"
	if r.Bad() {
		verdict = "**not passed**"
	}
	fmt.Fprintf(&b, "### %s: %s\n\n%s\n", escaped(r.Command), verdict, escaped(r.Headline))
	if rows := r.checkRows(); len(rows) > 0 {
		writeTable(&b, web.Table{Names: true, Says: true, Columns: []string{"check", "verdict", "measured"},
			Rows: rows})
	}
	for _, t := range r.Tables {
		if len(t.Rows) > 0 {
			fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n", escaped(t.Title))
			writeTable(&b, t)
			b.WriteString("\n</details>\n")
		}
	}
	if len(r.Facts) > 0 {
		b.WriteString("\n<details><summary>Conditions</summary>\n\n")
		for _, fact := range r.Facts {
			fmt.Fprintf(&b, "- %s\n", escaped(fact))
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// checkRows has what did not pass first. What was skipped says nothing.
func (r Report) checkRows() (rows [][]string) {
	for _, outcome := range []Outcome{Failed, Undecided, Passed} {
		for _, c := range r.Checks {
			if c.Outcome == outcome {
				text := string(outcome)
				if outcome != Passed {
					text = "\x00" + text
				}
				rows = append(rows, []string{c.Name, text, c.Says})
			}
		}
	}
	return rows
}

func writeTable(b *strings.Builder, t web.Table) {
	align := make([]string, len(t.Columns))
	for i := range t.Columns {
		align[i] = "---:"
		if i == 0 && t.Names || t.Says {
			align[i] = "---"
		}
	}
	b.WriteString("\n")
	for _, row := range slices.Concat([][]string{t.Columns, align}, t.Rows) {
		cells := make([]string, len(row))
		for i, cell := range row {
			bold, strong := strings.CutPrefix(cell, "\x00")
			if cells[i] = escaped(bold); strong {
				cells[i] = "**" + cells[i] + "**"
			}
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

// special characters of Markdown and HTML that would change what is around a text.
var special = strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "~", "\\~", "#", "\\#")

// escaped is a text in one line in which nothing is markup, and nobody is mentioned.
func escaped(text string) string { return special.Replace(human.PlainLine(text)) }
