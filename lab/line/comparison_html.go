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
		Details       []string
		Limit         *Limit
		Void          string
		Drawn         drawn
	}
	var searches []search
	for _, one := range c.Lines {
		searches = append(searches, search{one.Line.Plan.Configuration, one.Line.Statement(),
			one.details(), one.Line.Limit,
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

// bars draws each line filled up to the lower end of its interval, and open up to the upper end.
func (c *Comparison) bars() template.HTML {
	var b strings.Builder
	most := 1.0
	for _, one := range c.Lines {
		if a := one.Line.Answer; a != nil {
			_, upper := a.bar()
			most = max(most, upper)
		}
	}
	height := float64(len(c.Lines))*(barHeight+barGap) + barGap
	x := func(users float64) float64 { return (chartWidth - barLeft - barRight) * users / most }
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="Users of each configuration">`,
		chartWidth, height)
	for i, one := range c.Lines {
		y := barGap + float64(i)*(barHeight+barGap)
		text, end := one.Line.brief(), 0.0
		if a := one.Line.Answer; a != nil {
			lower, upper := a.bar()
			end = x(upper)
			fmt.Fprintf(&b, `<rect class="passes" x="%g" y="%.1f" width="%.1f" height="%g"/>`, barLeft, y, x(lower),
				barHeight)
			fmt.Fprintf(&b, `<rect class="between" x="%.1f" y="%.1f" width="%.1f" height="%g"/>`, barLeft+x(lower), y,
				end-x(lower), barHeight)
		}
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`, barLeft-8, y+14,
			template.HTMLEscapeString(one.Line.Plan.Configuration))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`, barLeft+end+8, y+14, text)
	}
	return template.HTML(b.String() + "</svg>")
}

// bar is how far the interval is filled and open: an end that no trial bounds stands where the bracket has it.
func (a *Answer) bar() (lower, upper float64) {
	lower = float64(a.Users)
	upper = lower
	if a.Below != nil {
		upper = float64(*a.Below)
	}
	if i := a.Interval; i != nil {
		if i.Low != nil {
			lower = *i.Low
		}
		if i.High != nil {
			upper = *i.High
		}
	}
	return lower, max(lower, upper)
}
