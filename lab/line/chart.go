package line

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Size of a chart and its margins.
const (
	chartWidth, chartHeight = 860.0, 280.0
	left, right, top, foot  = 56.0, 16.0, 12.0, 34.0
	lawPoints               = 80
)

// chart draws values over users. Its inputs are our own numbers only.
type chart struct {
	strings.Builder
	users, values float64 // largest
}

func newChart(users, values float64, label string) *chart {
	c := &chart{users: math.Max(1, users) * 1.05, values: math.Max(1e-9, values)}
	fmt.Fprintf(c, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, chartWidth, chartHeight, label)
	for i := range 5 {
		part := float64(i) / 4
		x, y := c.x(part*c.users), c.y(part*c.values)
		fmt.Fprintf(c, `<line class="axis" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, left, y, chartWidth-right, y)
		fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="end">%.3g</text>`, left-6, y+4, part*c.values)
		fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="middle">%.0f</text>`, x, chartHeight-14, part*c.users)
	}
	return c
}

func (c *chart) x(users float64) float64 { return left + (chartWidth-left-right)*users/c.users }
func (c *chart) y(value float64) float64 {
	return chartHeight - foot - (chartHeight-top-foot)*value/c.values
}

// trial draws a point whose form shows the outcome, so that colour alone carries no meaning.
func (c *chart) trial(t Trial, value float64) {
	x, y := c.x(float64(t.Users)), c.y(value)
	switch t.Outcome {
	case Passes:
		fmt.Fprintf(c, `<circle class="passes" cx="%.1f" cy="%.1f" r="4.5">`, x, y)
	case Fails:
		fmt.Fprintf(c, `<path class="fails" d="M%.1f %.1fl9 9m-9 0l9 -9">`, x-4.5, y-4.5)
	default:
		fmt.Fprintf(c, `<rect class="unsteady" x="%.1f" y="%.1f" width="8" height="8">`, x-4, y-4)
	}
	tag := map[Outcome]string{Passes: "circle", Fails: "path", Unsteady: "rect", Void: "rect"}[t.Outcome]
	fmt.Fprintf(c, `<title>%d users: %.4g</title></%s>`, t.Users, value, tag)
}

func (c *chart) end() template.HTML {
	return template.HTML(c.String() + "</svg>")
}

func (l *Line) largest() (users, rate float64) {
	for _, t := range l.Trials {
		users, rate = math.Max(users, float64(t.Users)), math.Max(rate, t.OpsPerS)
	}
	return users, rate
}

func (l *Line) scoreChart() template.HTML {
	users, _ := l.largest()
	c := newChart(users, 1, "Apdex of each trial by its number of users")
	fmt.Fprintf(c, `<line class="target" x1="%g" y1="%.1f" x2="%g" y2="%.1f"/>`, left, c.y(l.Plan.Target),
		chartWidth-right, c.y(l.Plan.Target))
	for _, t := range l.Trials {
		if t.Apdex == nil {
			continue
		}
		if t.Interval != nil {
			x := c.x(float64(t.Users))
			fmt.Fprintf(c, `<line class="interval" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, c.y(t.Interval.Low),
				x, c.y(t.Interval.High))
		}
		c.trial(t, *t.Apdex)
	}
	return c.end()
}

func (l *Line) rateChart() template.HTML {
	users, rate := l.largest()
	c := newChart(users, rate*1.1, "Operations per second of each trial by its number of users")
	if l.Fit != nil {
		c.WriteString(`<path class="law" d="`)
		for i := range lawPoints {
			n := 1 + (users-1)*float64(i)/(lawPoints-1)
			fmt.Fprintf(c, "%c%.1f %.1f", "ML"[min(1, i)], c.x(n), c.y(math.Min(c.values, l.Fit.At(n))))
		}
		c.WriteString(`"/>`)
	}
	for _, t := range l.Trials {
		c.trial(t, t.OpsPerS)
	}
	return c.end()
}
