package trial

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/stats"
)

// Spread is the median of a series and its range: 0.991 (0.985 to 0.994).
type Spread struct {
	Of     Ref
	Format string
}

// Text implements Value.
func (s Spread) Text(m *Measurements) string { return spread(m.Figures(s.Of), s.Format) }

// Median of a series, optionally transformed.
type Median struct {
	Of     Ref
	Format string
	Map    func(float64) float64
}

// Text implements Value.
func (v Median) Text(m *Measurements) string {
	return point(m.Figures(v.Of), stats.Median, v.Format, v.Map)
}

// Last figure of a series, optionally transformed.
type Last struct {
	Of     Ref
	Format string
	Map    func(float64) float64
}

// Text implements Value.
func (v Last) Text(m *Measurements) string { return point(m.Figures(v.Of), last, v.Format, v.Map) }

func last(figures []float64) float64 { return figures[len(figures)-1] }

// notMeasured stands for a series without figures.
const notMeasured = "(not measured)"

func point(figures []float64, choose func([]float64) float64, format string, change func(float64) float64) string {
	if len(figures) == 0 {
		return notMeasured
	}
	chosen := choose(figures)
	if change != nil {
		chosen = change(chosen)
	}
	return fmt.Sprintf(format, chosen)
}

// Title is the final title of a part.
type Title string

// Text implements Value.
func (t Title) Text(m *Measurements) string { return m.titles[string(t)] }

// Words is a value with a fixed text.
type Words func(*Measurements) string

// Text implements Value.
func (w Words) Text(m *Measurements) string { return w(m) }

func spread(figures []float64, format string) string {
	if len(figures) == 0 {
		return notMeasured
	}
	if len(figures) == 1 {
		return fmt.Sprintf(format, figures[0])
	}
	return fmt.Sprintf(format+" ("+format+" to "+format+")", stats.Median(figures), slices.Min(figures),
		slices.Max(figures))
}

// number formats a whole number in thousands, others unchanged.
func number(v float64) string {
	if v == math.Trunc(v) {
		return human.Thousands(int64(v))
	}
	return fmt.Sprintf("%g", v)
}
