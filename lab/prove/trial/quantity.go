package trial

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"plimsoll/lab/stats"
)

// Interval of a quantity: its confidence interval, or its least and greatest turn.
type Interval struct {
	Low, Middle, High float64
	Unsure            string // why nothing can be said; else empty
}

const tooFewTurns = "too few turns"

// Quantity is something that rules test.
type Quantity interface {
	Value
	Name() string
	Interval(*Measurements) Interval
	// words formats a bound of the quantity: "surely at least ×2".
	words(bound) string
}

// Ratio is the factor between two series, with its confidence interval (package ratio).
type Ratio struct {
	Of, To Ref
	As     string // name; "" makes one up
}

// Name implements Quantity.
func (r Ratio) Name() string {
	switch {
	case r.As != "":
		return r.As
	case r.Of.Series == r.To.Series && r.Of.Part == r.To.Part:
		return Ref{r.Of.Part, quoted(r.Of.Side) + " against " + quoted(r.To.Side), r.Of.Series}.String()
	}
	return r.Of.String() + " against " + r.To.String()
}

func (r Ratio) compute(m *Measurements) (stats.Ratio, error) {
	return stats.RatioOf(m.Figures(r.To), m.Figures(r.Of))
}

// Interval implements Quantity.
func (r Ratio) Interval(m *Measurements) Interval {
	if len(m.Figures(r.Of)) == 0 || len(m.Figures(r.To)) == 0 {
		return Interval{Unsure: tooFewTurns}
	}
	got, err := r.compute(m)
	i := Interval{Low: got.Low, Middle: got.Ratio, High: got.High}
	switch {
	case err != nil:
		i.Unsure = "a ratio needs figures above zero"
	case !got.Sure():
		i.Unsure = tooFewTurns
	}
	return i
}

// Text is ×12.3 (10.1 to 15.0).
func (r Ratio) Text(m *Measurements) string {
	if len(m.Figures(r.Of)) == 0 || len(m.Figures(r.To)) == 0 {
		return notMeasured
	}
	got, _ := r.compute(m) // without confidence where there is none
	return got.String()
}

func (Ratio) words(b bound) string {
	bar := fmt.Sprintf("%s ×%.4g", b.op, b.bar)
	switch b.scope {
	case middle:
		return bar + " on the median"
	case some:
		return "perhaps " + bar
	}
	return "surely " + bar
}

// Every is a series of a side, in every turn.
type Every struct {
	Of   Ref
	As   string
	Unit string
	Map  func(float64) float64 // applied to each figure; nil: none
}

// Name implements Quantity.
func (e Every) Name() string {
	if e.As != "" {
		return e.As
	}
	return e.Of.String()
}

func (e Every) figures(m *Measurements) []float64 {
	figures := slices.Clone(m.Figures(e.Of))
	for i := range figures {
		if e.Map != nil {
			figures[i] = e.Map(figures[i])
		}
	}
	return figures
}

// Interval implements Quantity.
func (e Every) Interval(m *Measurements) Interval {
	figures := e.figures(m)
	if len(figures) == 0 {
		return Interval{Unsure: tooFewTurns}
	}
	return Interval{Low: slices.Min(figures), Middle: stats.Median(figures), High: slices.Max(figures)}
}

// Text is the median and the range.
func (e Every) Text(m *Measurements) string { return spread(e.figures(m), "%.4g") + unit(e.Unit) }

func (e Every) words(b bound) string {
	bar := fmt.Sprintf("%s %g%s", b.op, b.bar, unit(e.Unit))
	switch b.scope {
	case middle:
		return bar + " on the median"
	case some:
		return bar + " in some turn"
	}
	return bar + " in every turn"
}

func unit(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

// Gap is one series minus a factor times another, in every turn: rules compare it with 0.
type Gap struct {
	Of    Ref
	Times float64
	To    Ref
}

// Name implements Quantity.
func (g Gap) Name() string { return g.Of.String() }

// Interval implements Quantity.
func (g Gap) Interval(m *Measurements) Interval {
	base, to := m.Figures(g.Of), m.Figures(g.To)
	if len(base) == 0 || len(to) == 0 {
		return Interval{Unsure: tooFewTurns}
	}
	return Interval{Low: slices.Min(base) - g.Times*slices.Max(to),
		Middle: stats.Median(base) - g.Times*stats.Median(to), High: slices.Max(base) - g.Times*slices.Min(to)}
}

// Text is both series.
func (g Gap) Text(m *Measurements) string {
	return spread(m.Figures(g.Of), "%.4g") + " against " + spread(m.Figures(g.To), "%.4g")
}

func (g Gap) words(b bound) string {
	other := g.To.String()
	if g.Times != 1 {
		other = fmt.Sprintf("%g %% of %s", 100*g.Times, other)
	}
	if b.scope == some {
		return fmt.Sprintf("%s %s, some turn against some turn", b.op, other)
	}
	return fmt.Sprintf("%s %s, every turn against every turn", b.op, other)
}

// Difference of the medians of two series.
type Difference struct {
	Of, To Ref
	Unit   string
}

// Name implements Quantity.
func (d Difference) Name() string {
	return "median " + d.Of.String() + " less that of " + quoted(d.To.Side)
}

// Interval implements Quantity.
func (d Difference) Interval(m *Measurements) Interval {
	base, to := m.Figures(d.Of), m.Figures(d.To)
	if len(base) == 0 || len(to) == 0 {
		return Interval{Unsure: tooFewTurns}
	}
	difference := stats.Median(base) - stats.Median(to)
	return Interval{Low: difference, Middle: difference, High: difference}
}

// Text implements Value.
func (d Difference) Text(m *Measurements) string {
	return fmt.Sprintf("%.4g%s", d.Interval(m).Middle, unit(d.Unit))
}

func (d Difference) words(b bound) string { return fmt.Sprintf("%s %g%s", b.op, b.bar, unit(d.Unit)) }

// Largest is the quantity with the largest certain bound.
type Largest struct {
	Of []Quantity
	As string
}

// Name implements Quantity.
func (l Largest) Name() string { return l.As }

func (l Largest) chosen(m *Measurements) Quantity {
	best := l.Of[0]
	for _, q := range l.Of[1:] {
		if b := best.Interval(m); b.Unsure != "" || q.Interval(m).Unsure == "" && q.Interval(m).Low > b.Low {
			best = q
		}
	}
	return best
}

// Interval implements Quantity.
func (l Largest) Interval(m *Measurements) Interval { return l.chosen(m).Interval(m) }

// Text implements Value.
func (l Largest) Text(m *Measurements) string { return l.chosen(m).Text(m) }

func (l Largest) words(b bound) string { return l.Of[0].words(b) }

// Farthest is the ratio that is farthest from 1 for certain; if none is, the one that could be.
type Farthest struct {
	Of []Ratio
	As string
}

// Name implements Quantity.
func (f Farthest) Name() string { return f.As }

func (f Farthest) chosen(m *Measurements) Ratio {
	certain := func(r Ratio) float64 { // distance of the nearer end; less than 0 if the interval holds 1
		i := r.Interval(m)
		return max(math.Log(i.Low), -math.Log(i.High))
	}
	possible := func(r Ratio) float64 {
		i := r.Interval(m)
		return max(math.Log(i.High), -math.Log(i.Low))
	}
	best := f.Of[0]
	for _, r := range f.Of[1:] {
		switch {
		case best.Interval(m).Unsure != "":
			return best // not all can be judged
		case r.Interval(m).Unsure != "":
			return r
		case max(certain(r), certain(best)) > 0:
			if certain(r) > certain(best) {
				best = r
			}
		case possible(r) > possible(best):
			best = r
		}
	}
	return best
}

// Interval implements Quantity.
func (f Farthest) Interval(m *Measurements) Interval { return f.chosen(m).Interval(m) }

// Text implements Value.
func (f Farthest) Text(m *Measurements) string { return f.chosen(m).Text(m) }

func (f Farthest) words(b bound) string { return f.Of[0].words(b) }

// Known is a number known in advance, such as the size of what is measured.
type Known struct {
	As    string
	Value float64
}

// Name implements Quantity.
func (k Known) Name() string { return k.As }

// Interval implements Quantity.
func (k Known) Interval(*Measurements) Interval {
	return Interval{Low: k.Value, Middle: k.Value, High: k.Value}
}

// Text implements Value.
func (k Known) Text(*Measurements) string { return number(k.Value) }

func (Known) words(b bound) string { return fmt.Sprintf("%s %s", b.op, number(b.bar)) }

// Given is a precondition that holds or not; criteria ask whether it is Measured.
type Given struct {
	As    string
	Holds bool
	Else  string // what is true if it does not hold
}

// Name implements Quantity.
func (g Given) Name() string { return g.As }

// Interval implements Quantity.
func (g Given) Interval(*Measurements) Interval {
	if g.Holds {
		return Interval{}
	}
	return Interval{Unsure: g.Else}
}

// Text says that it holds, or what is true instead.
func (g Given) Text(*Measurements) string {
	if g.Holds {
		return "yes"
	}
	return g.Else
}

func (Given) words(bound) string { return "" }

// Turns is the number of turns in which a side has figures of a series.
type Turns struct{ Of Ref }

// Name implements Quantity.
func (t Turns) Name() string { return "turns with " + t.Of.String() }

// Interval implements Quantity.
func (t Turns) Interval(m *Measurements) Interval {
	return Known{Value: float64(len(m.Figures(t.Of)))}.Interval(m)
}

// Text implements Value.
func (t Turns) Text(m *Measurements) string { return fmt.Sprint(len(m.Figures(t.Of))) }

func (Turns) words(b bound) string { return Known{}.words(b) }

// Computed is a quantity with its own formula.
type Computed struct {
	As      string
	Formula func(*Measurements) float64 // NaN if it cannot be computed
	Unknown string                      // why it cannot; empty: too few turns
	Format  string                      // of the number and of a bound
}

// Name implements Quantity.
func (c Computed) Name() string { return c.As }

// Interval implements Quantity.
func (c Computed) Interval(m *Measurements) Interval {
	v := c.Formula(m)
	if math.IsNaN(v) {
		return Interval{Unsure: cmp.Or(c.Unknown, tooFewTurns)}
	}
	return Interval{Low: v, Middle: v, High: v}
}

// Text implements Value.
func (c Computed) Text(m *Measurements) string { return fmt.Sprintf(c.Format, c.Formula(m)) }

func (c Computed) words(b bound) string { return fmt.Sprintf("%s "+c.Format, b.op, b.bar) }
