package report

import (
	"fmt"
	"html/template"
	"strings"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

func unitClass(i int) string { return fmt.Sprintf("unit%d", i) }

// bar is a histogram in units of T as shares of the whole. Its inputs are our own numbers only.
func bar(h apdex.Histogram) template.HTML {
	var all int64
	for _, n := range h {
		all += n
	}
	var b strings.Builder
	b.WriteString(`<svg preserveAspectRatio="none" viewBox="0 0 100 1">`)
	x := 0.0
	for i, n := range h {
		if n == 0 {
			continue
		}
		width := 100 * float64(n) / float64(all)
		fmt.Fprintf(&b, `<rect class="%s" x="%.3f" width="%.3f" height="1"/>`, unitClass(i), x, width)
		x += width
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// gauge is the scale from 0 to 1 with its bands, the score and its interval. The
// heading says the same in words, so it is hidden from screen readers.
func gauge(r *result.Result) template.HTML {
	if r.Apdex == nil {
		return ""
	}
	const width = 1000.0
	limits := []float64{0, apdex.PoorFrom, apdex.FairFrom, apdex.GoodFrom, apdex.ExcellentFrom, 1}
	names := []apdex.Band{apdex.Unacceptable, apdex.Poor, apdex.Fair, apdex.Good, apdex.Excellent}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="gauge" viewBox="-12 0 %v 58" preserveAspectRatio="xMidYMid meet" aria-hidden="true">`,
		width+24)
	for i, name := range names {
		from, to := width*limits[i], width*limits[i+1]
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="16" width="%.1f" height="16"/>`, name, from+1, to-from-2)
		fmt.Fprintf(&b, `<text x="%.1f" y="50" text-anchor="middle">%.2f</text>`, from, limits[i])
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="50" text-anchor="middle">1</text>`, width)
	fmt.Fprintf(&b, `<line class="range" x1="%.1f" x2="%.1f" y1="24" y2="24"/>`, width*r.Interval.Low,
		width*r.Interval.High)
	at := width * *r.Apdex
	fmt.Fprintf(&b, `<path class="needle" d="M%.1f 18 l-9 -15 h18 z"/>`, at)
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}
