package trial

import (
	"slices"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/stats"
)

// Chart is what is drawn of the figures.
type Chart struct {
	Title, X, Y string
	Lines       []Line
}

// Line of a chart.
type Line struct {
	Name string
	At   []Place
}

// Place is a series at a place on the axis.
type Place struct {
	X  float64
	Of Ref
}

// draw leaves out what was not measured.
func (c *Chart) draw(m *Measurements) *claims.Chart {
	if c == nil {
		return nil
	}
	drawn := &claims.Chart{Title: c.Title, X: c.X, Y: c.Y}
	for _, l := range c.Lines {
		line := claims.Line{Name: l.Name}
		for _, p := range l.At {
			if f := m.Figures(p.Of); len(f) > 0 {
				line.Points = append(line.Points, claims.Point{X: p.X, Y: stats.Median(f), Low: slices.Min(f),
					High: slices.Max(f)})
			}
		}
		if len(line.Points) > 0 {
			drawn.Lines = append(drawn.Lines, line)
		}
	}
	if len(drawn.Lines) == 0 {
		return nil
	}
	return drawn
}
