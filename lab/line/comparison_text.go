package line

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/lab/load/apdex"
	"plimsoll/web"
)

// table has one row per line. The bracket that the search ended with is a detail below it.
func (c *Comparison) table() web.Table {
	t := web.Table{Names: true, Says: true, Columns: []string{"configuration", "users, 95 %", "ratio of users, 95 %",
		"operations/s", "lowest Apdex", "trials", "limited by"}}
	for i, one := range c.Lines {
		l := one.Line
		row := []string{l.Plan.Configuration, l.brief(), one.Ratio.String(), "-", "-",
			fmt.Sprint(len(l.Trials)), "-"}
		if i == 0 {
			row[2] = "1"
		}
		if a := l.Answer; a != nil {
			row[3] = fmt.Sprintf("%.1f (%.1f to %.1f)", a.OpsPerS, a.OpsPerSMin, a.OpsPerSMax)
			row[4] = apdex.Text(a.ApdexMin)
		}
		if l.Limit != nil {
			row[6] = l.Limit.Resource
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Text writes the comparison for a terminal.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	first := c.Lines[0].Line
	fmt.Fprintf(&b, "\nLoad lines %s  %s\n", c.ID, c.Started.Format("2006-01-02 15:04:05 MST"))
	fmt.Fprintf(&b, "\n  LINES at Apdex %g, think time %s, from %d trials in turns\n", first.Plan.Target,
		thinkText(first.Plan.ThinkS), c.Trials())
	if !c.Complete {
		fmt.Fprintf(&b, "  not complete: stopped (%s)\n", c.StoppedBy())
	}
	b.WriteString("\n")
	if err := c.table().Text(&b, ""); err != nil {
		return err
	}
	if open := c.NothingFailed(); open != "" {
		fmt.Fprintf(&b, "\n  %s\n", open)
	}
	if control := c.controlText(); control != "" {
		fmt.Fprintf(&b, "\n  %s\n", control)
	}
	for _, one := range c.Lines {
		for i, line := range one.evidence() {
			if i == 0 {
				fmt.Fprintf(&b, "\n  %s\n", one.Line.Plan.Configuration)
			}
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	b.WriteString("\n")
	for _, line := range c.conditionLines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// evidence for the answer, its ratio and the limit, and what could not be measured.
func (one Compared) evidence() (lines []string) {
	l := one.Line
	lines = append(lines, one.details()...)
	if l.Limit != nil {
		lines = append(lines, l.Limit.Evidence...)
	}
	if void := l.voidText(); void != "" {
		lines = append(lines, void)
	}
	return lines
}

// details say what the answer and its ratio rest on.
func (one Compared) details() []string {
	lines := one.Line.details()
	if one.Ratio != nil {
		lines = append(lines, "users of its bracket to those of the first: "+one.Ratio.bracketText())
	}
	return lines
}

// conditionLines are the conditions that all share, then each system's own.
func (c *Comparison) conditionLines() []string {
	all := append(c.Lines[0].Line.planLines(),
		"trials of the configurations in turns, each second round in the opposite order; only one is under load")
	if machine := c.Lines[0].Line.machineLine(); machine != "" {
		all = append(all, machine)
	}
	for _, one := range c.Lines {
		for _, line := range one.Line.systemLines() {
			all = append(all, one.Line.Plan.Configuration+": "+line)
		}
	}
	return all
}
