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
		Configuration, Statement string
		Details                  []string
		Limit                    *Limit
		Void                     string
		Drawn                    pageSearch
	}
	var searches []search
	for _, one := range c.Lines {
		searches = append(searches, search{one.Line.Plan.Configuration, one.Line.Statement(),
			one.details(), one.Line.Limit,
			one.Line.voidText(), one.Line.forPage()})
	}
	f, err := web.NewFrame("Load lines · "+c.Statement(), c.Started, "lines", c, web.ChartStyle())
	if err == nil {
		plan, table := c.Lines[0].Line.Plan, c.table()
		table.Title = "From trials in turns, in one session on one machine; users at a think time of " +
			thinkText(plan.ThinkS)
		table.Label = "Table of lines"
		err = pages.ExecuteTemplate(w, comparisonPage, struct {
			web.Frame
			Comparison    *Comparison
			Statement     string
			NothingFailed string
			Control       string
			Target        float64
			Table         web.Table
			Bars          template.HTML
			Searches      []search
			Conditions    []string
		}{f, c, c.Statement(), c.NothingFailed(), c.controlText(), plan.Target, table, c.bars(), searches,
			c.conditionLines()})
	}
	return reportProblem(err)
}

// Size of the bars, in pixels; to the right they are shares of the chart's width.
const (
	barHeight, barText = 16.0, 18.0 // the text stands above its bar
	barGap             = 12.0
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
	const row = barText + barHeight + barGap
	fmt.Fprintf(&b, `<svg class="chart bars" height="%g" role="img" aria-label="Users of each configuration">`,
		float64(len(c.Lines))*row)
	bar := func(class string, y, from, to float64) {
		fmt.Fprintf(&b, `<rect class="%s" x="%.2f%%" y="%.1f" width="%.2f%%" height="%g"/>`, class, 100*from/most, y,
			100*(to-from)/most, barHeight)
	}
	for i, one := range c.Lines {
		y := float64(i) * row
		fmt.Fprintf(&b, `<text x="0" y="%.1f">%s: %s</text>`, y+barText-5,
			template.HTMLEscapeString(one.Line.Plan.Configuration), one.Line.brief())
		if a := one.Line.Answer; a != nil {
			lower, upper := a.bar()
			bar("passes", y+barText, 0, lower)
			bar("between", y+barText, lower, upper)
		}
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
