package line

import (
	"fmt"
	"html/template"
	"io"
	"strings"
	"text/tabwriter"

	"plimsoll/lab/apdex"
)

var comparedColumns = []string{"configuration", "users", "operations/s", "ratio of users", "Apdex, least", "trials", "limited by"}

// table has a row for each line.
func (c *Comparison) table() (rows [][]string) {
	for i, one := range c.Lines {
		l := one.Line
		row := []string{l.Plan.Configuration, l.usersText(), "-", one.Ratio.String(), "-", fmt.Sprint(len(l.Trials)), "-"}
		if i == 0 {
			row[3] = "1"
		}
		if a := l.Answer; a != nil {
			row[2] = fmt.Sprintf("%.1f (%.1f to %.1f)", a.OpsPerS, a.OpsPerSMin, a.OpsPerSMax)
			row[4] = apdex.Text(a.ApdexMin)
		}
		if l.Limit != nil {
			row[6] = l.Limit.Resource
		}
		rows = append(rows, row)
	}
	return rows
}

// Text writes the comparison for a terminal.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	first := c.Lines[0].Line
	fmt.Fprintf(&b, "\nLoad lines %s  %s\n", c.ID, c.Started.Format("2006-01-02 15:04:05 MST"))
	fmt.Fprintf(&b, "\n  LINES at Apdex %g, think time %s, from %d trials in turns\n", first.Plan.Target, thinkText(first.Plan.ThinkS), c.Trials())
	if !c.Complete {
		fmt.Fprintf(&b, "  not complete: stopped (%s)\n", c.Stopped)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{comparedColumns}, c.table()...) {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, one := range c.Lines {
		for i, line := range one.Line.evidence() {
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

// evidence for the limit, and what could not be measured.
func (l *Line) evidence() (lines []string) {
	if l.Limit != nil {
		lines = append(lines, l.Limit.Evidence...)
	}
	if void := l.void(); void != "" {
		lines = append(lines, void)
	}
	return lines
}

// conditionLines are what all have in common, then what each has of its own.
func (c *Comparison) conditionLines() []string {
	all := append(c.Lines[0].Line.planLines(), "trials of the configurations in turns, each second round in the opposite order; only one is under load")
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

// HTML writes the comparison as one file.
func (c *Comparison) HTML(w io.Writer) error {
	type search struct {
		Of, Statement string
		Limit         *Limit
		Void          string
		Drawn         drawn
	}
	var searches []search
	for _, one := range c.Lines {
		searches = append(searches, search{one.Line.Plan.Configuration, one.Line.Statement(), one.Line.Limit, one.Line.void(), one.Line.drawn()})
	}
	f, err := newFrame("Load lines · "+c.Statement(), c.Started, "lines", c)
	if err == nil {
		plan := c.Lines[0].Line.Plan
		err = pages.ExecuteTemplate(w, comparisonPage, struct {
			frame
			Comparison       *Comparison
			Statement, Think string
			Target           float64
			Columns          []string
			Last             int // column, which holds a sentence
			Table            [][]string
			Bars             template.HTML
			Searches         []search
			Conditions       []string
		}{f, c, c.Statement(), thinkText(plan.ThinkS), plan.Target, comparedColumns, len(comparedColumns) - 1, c.table(), c.bars(), searches, c.conditionLines()})
	}
	return reportProblem(err)
}

// Size of the bars.
const (
	barHeight, barGap = 20.0, 12.0
	barLeft           = 180.0
	barRight          = 150.0 // room for the figures
)

// bars draws each line up to what passed, and on to what failed.
func (c *Comparison) bars() template.HTML {
	var b strings.Builder
	most := 1.0
	for _, one := range c.Lines {
		if a := one.Line.Answer; a != nil {
			most = max(most, float64(a.upper()))
		}
	}
	height := float64(len(c.Lines))*(barHeight+barGap) + barGap
	x := func(users int) float64 { return (chartWidth - barLeft - barRight) * float64(users) / most }
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="Users of each configuration">`, chartWidth, height)
	for i, one := range c.Lines {
		y := barGap + float64(i)*(barHeight+barGap)
		text, end := one.Line.usersText(), 0.0
		if a := one.Line.Answer; a != nil {
			end = x(a.upper())
			fmt.Fprintf(&b, `<rect class="passes" x="%g" y="%.1f" width="%.1f" height="%g"/>`, barLeft, y, x(a.Users), barHeight)
			fmt.Fprintf(&b, `<rect class="between" x="%.1f" y="%.1f" width="%.1f" height="%g"/>`, barLeft+x(a.Users), y, end-x(a.Users), barHeight)
		}
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`, barLeft-8, y+14, template.HTMLEscapeString(one.Line.Plan.Configuration))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, barLeft+end+8, y+14, text)
	}
	return template.HTML(b.String() + "</svg>")
}

// upper end of the interval, or what passed where nothing failed.
func (a *Answer) upper() int {
	if a.Below != nil {
		return *a.Below
	}
	return a.Users
}
