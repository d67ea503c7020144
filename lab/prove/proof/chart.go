package proof

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/stats"
)

// group of figures that share a scale: the same series of several sides.
type group struct {
	Title, From, To string // the ends of the scale
	Rows            []strip
}

// strip is one figure: a stroke for each turn.
type strip struct {
	Name, Text string
	SVG        template.HTML
}

// logFrom: a group whose figures differ by more than this factor has a logarithmic scale.
const logFrom = 30

// stripGroups are the strips of all figures, by series.
func stripGroups(found []Found) (all []group) {
	type series struct{ name, unit string }
	type row struct {
		name   string
		values []float64
	}
	rows, order := map[series][]row{}, []series{}
	for _, f := range found {
		for _, figure := range f.Figures {
			if len(figure.Values) == 0 {
				continue
			}
			side, seriesName := sideAndSeries(figure.Name)
			if len(found) > 1 {
				side = strings.TrimSuffix(flavour(f.Engine)+" · "+side, " · ")
			}
			if side == "" {
				side = seriesName
			}
			key := series{seriesName, figure.Unit}
			if rows[key] == nil {
				order = append(order, key)
			}
			rows[key] = append(rows[key], row{side, figure.Values})
		}
	}
	for _, key := range order {
		var values []float64
		for _, r := range rows[key] {
			values = append(values, r.values...)
		}
		s := scaleOf(values)
		g := group{Title: key.name, From: number(s.low), To: number(s.high)}
		if key.unit != "" {
			g.Title += ", " + key.unit
		}
		if s.log {
			g.Title += " (logarithmic scale)"
		}
		for _, r := range rows[key] {
			g.Rows = append(g.Rows, strip{r.name, spread(r.values), s.draw(r.values)})
		}
		all = append(all, g)
	}
	return all
}

// sideAndSeries of a figure "side: series".
func sideAndSeries(name string) (side, series string) {
	if i := strings.LastIndex(name, ": "); i >= 0 {
		return name[:i], name[i+2:]
	}
	return "", name
}

func spread(values []float64) string {
	if len(values) == 1 {
		return number(values[0])
	}
	return fmt.Sprintf("%s (%s to %s)", number(stats.Median(values)), number(slices.Min(values)),
		number(slices.Max(values)))
}

func number(v float64) string {
	if math.Abs(v) >= 10000 {
		return human.Thousands(int64(math.Round(v)))
	}
	return human.Figure(v, 3)
}

// scale from the least to the greatest; linear ones begin at 0.
type scale struct {
	low, high float64
	log       bool
}

func scaleOf(values []float64) scale {
	s := scale{low: slices.Min(values), high: slices.Max(values)}
	s.log = s.low > 0 && s.high/s.low > logFrom
	if !s.log {
		s.low = min(0, s.low)
	}
	if s.high <= s.low {
		s.high = s.low + 1
	}
	return s
}

func (s scale) at(v float64) float64 {
	if s.log {
		return math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

// draw a stroke for each figure and a thick one for the median. Numbers stand next to it, so it is hidden from screen
// readers.
func (s scale) draw(values []float64) template.HTML {
	var b strings.Builder
	b.WriteString(`<svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">`)
	b.WriteString(`<line class="axis" x1="0" x2="1000" y1="10" y2="10"/>`)
	stroke := func(class string, v float64) {
		x := 4 + 992*s.at(v)
		fmt.Fprintf(&b, `<line class="%s" x1="%.1f" x2="%.1f" y1="1" y2="19"/>`, class, x, x)
	}
	for _, v := range values {
		stroke("turn", v)
	}
	stroke("median", stats.Median(values))
	return template.HTML(b.String() + "</svg>")
}

// lines are a chart with the names of its lines, whose strokes differ by more than colour.
type lines struct {
	Title string
	SVG   template.HTML
	Names []legend
}

type legend struct{ Name, Class string }

// A chart is as wide as the page has room for; its text keeps its size. So places to the right are shares of the width
// within the margins, which the style sheet sets, and places downwards are pixels.
const (
	chartHeight, chartTop     = 230.0, 26.0
	lineClasses, ticksOfChart = 6, 5
	chartUnits                = 1000.0 // of the polylines' own width
)

// draw a chart of an experiment.
func draw(c *claims.Chart) lines {
	var xs, ys []float64
	for _, l := range c.Lines {
		for _, p := range l.Points {
			xs, ys = append(xs, p.X), append(ys, p.Low, p.Y, p.High)
		}
	}
	if len(xs) == 0 {
		return lines{}
	}
	sx, sy := scaleOf(xs), scaleOf(ys)
	x := func(v float64) string { return fmt.Sprintf("%.2f%%", 100*sx.at(v)) }
	y := func(v float64) float64 { return chartHeight * (1 - sy.at(v)) }
	drawn := lines{Title: c.Title}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="lines" role="img" aria-label="%s">`, template.HTMLEscapeString(c.Title))
	fmt.Fprintf(&b, `<text x="-48" y="14">%s</text>`, template.HTMLEscapeString(c.Y))
	fmt.Fprintf(&b, `<text x="100%%" y="%g" text-anchor="end">%s</text>`, chartTop+chartHeight+38,
		template.HTMLEscapeString(c.X))
	fmt.Fprintf(&b, `<g transform="translate(0 %g)">`, chartTop)
	for i := range ticksOfChart {
		v := sy.value(float64(i) / (ticksOfChart - 1))
		fmt.Fprintf(&b, `<line class="axis" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/>`, y(v), y(v))
		fmt.Fprintf(&b, `<text x="-6" y="%.1f" text-anchor="end">%s</text>`, y(v)+4, number(v))
	}
	for _, v := range distinct(xs) {
		fmt.Fprintf(&b, `<text x="%s" y="%g" text-anchor="middle">%s</text>`, x(v), chartHeight+18, number(v))
	}
	for i, l := range c.Lines {
		class := fmt.Sprintf("line%d", i%lineClasses)
		drawn.Names = append(drawn.Names, legend{l.Name, class})
		var points []string
		for _, p := range l.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", chartUnits*sx.at(p.X), y(p.Y)))
		}
		fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" width="100%%" height="%g" preserveAspectRatio="none">`, chartUnits,
			chartHeight, chartHeight)
		fmt.Fprintf(&b, `<polyline class="%s" points="%s"/></svg>`, class, strings.Join(points, " "))
		for _, p := range l.Points {
			fmt.Fprintf(&b, `<line class="%s range" x1="%s" x2="%s" y1="%.1f" y2="%.1f"/>`, class, x(p.X), x(p.X),
				y(p.Low), y(p.High))
			fmt.Fprintf(&b, `<circle class="%s" cx="%s" cy="%.1f" r="4"><title>%s</title></circle>`, class, x(p.X),
				y(p.Y), template.HTMLEscapeString(fmt.Sprintf("%s at %s: %s", l.Name, number(p.X), number(p.Y))))
		}
	}
	drawn.SVG = template.HTML(b.String() + "</g></svg>")
	return drawn
}

func (s scale) value(share float64) float64 {
	if s.log {
		return s.low * math.Pow(s.high/s.low, share)
	}
	return s.low + share*(s.high-s.low)
}

func distinct(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
