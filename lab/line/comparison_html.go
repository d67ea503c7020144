package line

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"plimsoll/web"
)

// HTML writes the comparison as one file.
func (c *Comparison) HTML(w io.Writer) error {
	type search struct {
		Of, Statement string
		Confidence    []string
		Limit         *Limit
		Void          string
		Drawn         drawn
	}
	var searches []search
	for _, one := range c.Lines {
		searches = append(searches, search{one.Line.Plan.Configuration, one.Line.Statement(),
			one.Line.confidence(), one.Line.Limit,
			one.Line.voidText(), one.Line.drawn()})
	}
	f, err := web.NewFrame("Load lines · "+c.Statement(), c.Started, "lines", c, web.Drawn())
	if err == nil {
		plan := c.Lines[0].Line.Plan
		err = pages.ExecuteTemplate(w, comparisonPage, struct {
			web.Frame
			Comparison       *Comparison
			Statement, Think string
			NothingFailed    string
			Control          string
			Target           float64
			Columns          []string
			Last             int // column, which holds a sentence
			Table            [][]string
			Bars             template.HTML
			Searches         []search
			Conditions       []string
		}{f, c, c.Statement(), thinkText(plan.ThinkS), c.NothingFailed(), c.controlText(), plan.Target, comparedColumns,
			len(comparedColumns) - 1,
			c.table(), c.bars(), searches, c.conditionLines()})
	}
	return reportProblem(err)
}

// Size of the bars.
const (
	barHeight, barGap = 20.0, 12.0
	barLeft           = 180.0
	barRight          = 150.0 // room for the figures
)

// bars draws each line up to the number that passed, and in another colour up to the one that failed.
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
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="Users of each configuration">`,
		chartWidth, height)
	for i, one := range c.Lines {
		y := barGap + float64(i)*(barHeight+barGap)
		text, end := one.Line.usersText(), 0.0
		if a := one.Line.Answer; a != nil {
			end = x(a.upper())
			fmt.Fprintf(&b, `<rect class="passes" x="%g" y="%.1f" width="%.1f" height="%g"/>`, barLeft, y, x(a.Users),
				barHeight)
			fmt.Fprintf(&b, `<rect class="between" x="%.1f" y="%.1f" width="%.1f" height="%g"/>`, barLeft+x(a.Users), y,
				end-x(a.Users), barHeight)
		}
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`, barLeft-8, y+14,
			template.HTMLEscapeString(one.Line.Plan.Configuration))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, barLeft+end+8, y+14, text)
	}
	return template.HTML(b.String() + "</svg>")
}

// upper end of the bracket, or the number that passed if nothing failed.
func (a *Answer) upper() int {
	if a.Below != nil {
		return *a.Below
	}
	return a.Users
}
