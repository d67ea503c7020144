package trial

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/lab/prove/claims"
)

// Ref names a series of a side; Part is empty in a part without a name.
type Ref struct{ Part, Side, Series string }

// At names the series of a side.
func At(side, series string) Ref { return Ref{Side: side, Series: series} }

// In is the same series of the same side in another part.
func (r Ref) In(part string) Ref {
	r.Part = part
	return r
}

func (r Ref) String() string {
	name := r.Series
	if r.Side != "" {
		name += " of " + quoted(r.Side)
	}
	if r.Part != "" {
		name += " (" + r.Part + ")"
	}
	return name
}

// quoted is a name in quotes if a reader could not see its end otherwise.
func quoted(name string) string {
	if strings.Contains(name, ",") && !strings.HasPrefix(name, "'") {
		return "'" + name + "'"
	}
	return name
}

// Measurements holds what a trial has measured so far.
type Measurements struct {
	figures    map[Ref][]float64
	titles     map[string]string // of parts
	played     map[string]bool
	failures   []failure
	conditions []claims.Condition
	turns      map[Ref]int    // in which the series was measured
	void       map[string]int // turns, by part
	stopped    bool           // before all judged turns were made
	partial    bool           // before all turns were made
}

// failure of a turn in a check.
type failure struct{ check, detail string }

func (t Trial) nothingMade(conditions []claims.Condition) *Measurements {
	m := &Measurements{figures: map[Ref][]float64{}, titles: map[string]string{}, played: map[string]bool{},
		turns: map[Ref]int{}, void: map[string]int{}, conditions: conditions}
	for _, p := range t.Parts {
		m.titles[p.Name] = p.Title
	}
	return m
}

// Figures of a series of a side, one per turn.
func (m *Measurements) Figures(r Ref) []float64 { return m.figures[r] }

func (m *Measurements) add(r Ref, figure float64) { m.figures[r] = append(m.figures[r], figure) }

// listed are all figures of a part, for the record.
func (m *Measurements) listed(p Part) (all []claims.Figure) {
	for _, s := range p.Series {
		if s.Hidden {
			continue
		}
		for _, side := range m.sidesOf(p, s.Name) {
			all = append(all, claims.Figure{Name: m.figureName(p, side, s.Name), Unit: s.Unit,
				Values: m.figures[Ref{p.Name, side, s.Name}]})
		}
	}
	slices.SortFunc(all, func(a, b claims.Figure) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// sidesOf a part with figures of a series: those that take turns, and those that Record.Figure has added.
func (m *Measurements) sidesOf(p Part, series string) (names []string) {
	for _, side := range p.Sides {
		names = append(names, side.Name)
	}
	for r := range m.figures {
		if r.Part == p.Name && r.Series == series && !slices.Contains(names, r.Side) {
			names = append(names, r.Side)
		}
	}
	return names
}

func (m *Measurements) figureName(p Part, side, series string) string {
	name := series
	if side != "" {
		name = side + ": " + name
	}
	if title := m.titles[p.Name]; title != "" {
		name = title + ", " + name
	}
	return name
}

// Record is where sides report their findings.
type Record struct {
	made    *Measurements
	part    Part
	round   string // the current turn: "turn 3 of 12"
	say     func(format string, args ...any)
	within  func(share float64, note string)
	void    []string // why the current turn is
	closers []func() error
}

// AtEnd runs a function when the part is over, however it ended; the last one first.
func (r *Record) AtEnd(do func() error) { r.closers = append(r.closers, do) }

// Close is AtEnd for what cannot fail.
func (r *Record) Close(do func()) { r.AtEnd(func() error { do(); return nil }) }

// Call sets the title of the part's figures.
func (r *Record) Call(title string) { r.made.titles[r.part.Name] = title }

// Title of a part, as last set.
func (r *Record) Title(part string) string { return r.made.titles[part] }

// Figure adds a figure that was not measured in a turn.
func (r *Record) Figure(side, series string, figure float64) {
	r.made.add(Ref{r.part.Name, side, series}, figure)
}

// Figures of this part, measured so far.
func (r *Record) Figures(side, series string) []float64 {
	return r.made.Figures(Ref{r.part.Name, side, series})
}

// Fail reports that the current turn fails a check of the rules.
func (r *Record) Fail(check, detail string) {
	if r.round != "" {
		detail = r.round + ": " + detail
	}
	r.made.failures = append(r.made.failures, failure{check, detail})
}

// Void says that the current turn is no data, and why: it is made again.
func (r *Record) Void(why string) { r.void = append(r.void, why) }

// Condition records what the figures depend on; a second one with the same name replaces the first.
func (r *Record) Condition(name, text string) {
	for i := range r.made.conditions {
		if r.made.conditions[i].Name == name {
			r.made.conditions[i].Text = text
			return
		}
	}
	r.made.conditions = append(r.made.conditions, claims.Condition{Name: name, Text: text})
}

// Say prints a permanent line.
func (r *Record) Say(format string, args ...any) { r.say(format, args...) }

// Within reports how much of the turn is done (0..1).
func (r *Record) Within(share float64, note string) { r.within(share, note) }
