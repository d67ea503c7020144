package line

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"plimsoll/ground/human"
)

// A chart is as wide as the page has room for; its text keeps its size. So places to the right are shares of the width
// within the margins, which the style sheet sets, and places downwards are pixels.
const (
	chartHeight, chartTop = 230.0, 8.0
	chartUnits            = 1000.0 // of a curve's own width
	ticksMost             = 6      // on an axis: that many fit on a telephone
	lawPoints             = 80
)

// chart draws values over users. Its inputs are our own numbers only.
type chart struct {
	strings.Builder
	users, values float64 // at the ends of the axes
}

// newChart for values and users up to these.
func newChart(users, values float64, label string) *chart {
	c := &chart{users: math.Max(1, users) * 1.05, values: math.Max(1e-9, values)}
	fmt.Fprintf(c, `<svg class="chart" role="img" aria-label="%s"><g transform="translate(0 %g)">`, label, chartTop)
	for _, t := range ticks(c.values) {
		fmt.Fprintf(c, `<line class="axis" x1="0" y1="%.1f" x2="100%%" y2="%.1f"/>`, c.y(t.at), c.y(t.at))
		fmt.Fprintf(c, `<text x="-6" y="%.1f" text-anchor="end">%s</text>`, c.y(t.at)+4, t.text)
	}
	for _, t := range ticks(c.users) {
		fmt.Fprintf(c, `<text x="%s" y="%g" text-anchor="middle">%s</text>`, c.x(t.at), chartHeight+20, t.text)
	}
	return c
}

// tick of an axis.
type tick struct {
	at   float64
	text string
}

// ticks are round numbers from 0 to the end of an axis: steps of 1, 2 or 5 times a power of ten.
func ticks(end float64) (all []tick) {
	step := math.Pow(10, math.Floor(math.Log10(end/(ticksMost-1))))
	for _, longer := range []float64{2, 2.5, 2} { // 2, 5, 10
		if end/step >= ticksMost {
			step *= longer
		}
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	for i := 0; float64(i)*step <= end*(1+1e-9); i++ {
		at := float64(i) * step
		text := fmt.Sprintf("%.*f", decimals, at)
		if decimals == 0 {
			text = human.Thousands(int64(math.Round(at)))
		}
		all = append(all, tick{at, text})
	}
	return all
}

func (c *chart) share(users float64) float64 { return users / c.users }
func (c *chart) x(users float64) string      { return fmt.Sprintf("%.2f%%", 100*c.share(users)) }
func (c *chart) y(value float64) float64     { return chartHeight * (1 - value/c.values) }

// trial draws a point whose form shows the outcome, so that colour alone carries no meaning.
func (c *chart) trial(t Trial, value float64) {
	mark := map[Outcome]string{
		Passes: `<circle class="passes" r="4.5">%s</circle>`,
		Fails:  `<path class="fails" d="M-4.5 -4.5l9 9m-9 0l9 -9">%s</path>`,
	}[t.Outcome]
	if mark == "" {
		mark = `<rect class="unsteady" x="-4" y="-4" width="8" height="8">%s</rect>`
	}
	title := fmt.Sprintf("<title>%d users: %.4g, %s</title>", t.Users, value, t.Outcome)
	fmt.Fprintf(c, `<svg x="%s" y="%.1f" overflow="visible">`+mark+`</svg>`, c.x(float64(t.Users)), c.y(value), title)
}

// curve through values that are given by the number of users; to the right it stretches with the chart.
func (c *chart) curve(users float64, value func(users float64) float64) {
	fmt.Fprintf(c, `<svg viewBox="0 0 %g %g" width="100%%" height="%g" preserveAspectRatio="none">`, chartUnits,
		chartHeight, chartHeight)
	c.WriteString(`<path class="law" d="`)
	for i := range lawPoints {
		n := 1 + (users-1)*float64(i)/(lawPoints-1)
		fmt.Fprintf(c, "%c%.1f %.1f", "ML"[min(1, i)], chartUnits*c.share(n), c.y(math.Min(c.values, value(n))))
	}
	c.WriteString(`"/></svg>`)
}

func (c *chart) end() template.HTML { return template.HTML(c.String() + "</g></svg>") }

func (l *Line) largest() (users, rate float64) {
	for _, t := range l.Trials {
		users, rate = math.Max(users, float64(t.Users)), math.Max(rate, t.OpsPerS)
	}
	return users, rate
}

func (l *Line) scoreChart() template.HTML {
	users, _ := l.largest()
	c := newChart(users, 1, "Apdex of each trial by its number of users")
	fmt.Fprintf(c, `<line class="target" x1="0" y1="%.1f" x2="100%%" y2="%.1f"/>`, c.y(l.Plan.Target),
		c.y(l.Plan.Target))
	for _, t := range l.Trials {
		if t.Apdex == nil {
			continue
		}
		if t.Interval != nil {
			x := c.x(float64(t.Users))
			fmt.Fprintf(c, `<line class="interval" x1="%s" y1="%.1f" x2="%s" y2="%.1f"/>`, x, c.y(t.Interval.Low), x,
				c.y(t.Interval.High))
		}
		c.trial(t, *t.Apdex)
	}
	return c.end()
}

func (l *Line) rateChart() template.HTML {
	users, rate := l.largest()
	c := newChart(users, rate*1.1, "Operations per second of each trial by its number of users")
	if l.Fit != nil {
		c.curve(users, l.Fit.At)
	}
	for _, t := range l.Trials {
		c.trial(t, t.OpsPerS)
	}
	return c.end()
}
