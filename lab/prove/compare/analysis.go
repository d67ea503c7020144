package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"plimsoll/lab/prove/compare/verdict"
)

// data are the valid runs of one phase, by side, in the order of their rounds.
type data [][]Replica

// dataOf returns the runs of a phase up to a round; 0 means all rounds.
func (c *Comparison) dataOf(phase Phase, until int) data {
	d := make(data, len(c.Plan.Sides))
	for i := range d {
		for _, r := range c.Runs {
			if r.Phase == phase && r.Side == Letter(i) && r.Void == "" && (until == 0 || r.Round <= until) {
				d[i] = append(d[i], r)
			}
		}
	}
	return d
}

// rounds counts the rounds that all sides have completed.
func (d data) rounds() int {
	least := len(d[0])
	for _, side := range d {
		least = min(least, len(side))
	}
	return least
}

// series is one figure of a side, run by run; NaN is that of a run which has none.
func (d data) series(side int, operation string, m Metric) []float64 {
	common, all := d.common(m), make([]float64, len(d[side]))
	for i, r := range d[side] {
		value, known := r.figure(operation, m, common)
		if !known {
			value = math.NaN()
		}
		all[i] = value
	}
	return all
}

func isKnown(v float64) bool { return !math.IsNaN(v) }

// common lists the operations that occur in every run, so that means cover the same operations.
func (d data) common(m Metric) (all []string) {
	if !m.average || len(d[0]) == 0 {
		return nil
	}
	for operation := range d[0][0].Figures {
		in := operation != ""
		for _, side := range d {
			for _, r := range side {
				_, found := r.Figures[operation][m.Name]
				in = in && found
			}
		}
		if in {
			all = append(all, operation)
		}
	}
	return slices.Sorted(slices.Values(all))
}

func (r Replica) figure(operation string, m Metric, common []string) (value float64, known bool) {
	value, known = r.Figures[operation][m.Name]
	if known || operation != "" || !m.average {
		return value, known
	}
	sum, weights := 0.0, 0.0
	for _, one := range common {
		w, found := r.Figures[one][weight]
		if !found || w <= 0 {
			w = 1e-6
		}
		figure := r.Figures[one][m.Name]
		if figure <= 0 {
			return 0, false
		}
		sum, weights = sum+w*math.Log(figure), weights+w
	}
	return math.Exp(sum / weights), weights > 0
}

// metrics lists the metrics that any run has, those of runs first.
func (d data) metrics() (all []Metric) {
	names, higher := map[string]bool{}, []string{}
	for _, side := range d {
		for _, r := range side {
			higher = append(higher, r.HigherBetter...)
			for _, values := range r.Figures {
				for name := range values {
					names[name] = true
				}
			}
		}
	}
	delete(names, weight)
	for _, m := range Metrics {
		if names[m.Name] {
			all = append(all, m)
			delete(names, m.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, metricOf(name, higher))
	}
	return all
}

func (d data) operations() []string {
	all := map[string]bool{}
	for _, side := range d {
		for _, r := range side {
			for operation := range r.Figures {
				all[operation] = true
			}
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// tables compares one side with the first. Holm's correction covers the operations of one metric.
func (c *Comparison) tables(d data, side int, alpha float64) (all []Table) {
	all = []Table{}
	for _, m := range d.metrics() {
		t := Table{Metric: m}
		for _, operation := range append([]string{""}, d.operations()...) {
			a, b := d.series(0, operation, m), d.series(side, operation, m)
			if slices.ContainsFunc(a, isKnown) || slices.ContainsFunc(b, isKnown) {
				t.Rows = append(t.Rows, OperationRow{operation, verdict.Of(a, b, c.rule(m, alpha))})
			}
		}
		var family []*verdict.Row
		for i := range t.Rows {
			if t.Rows[i].Operation != "" {
				family = append(family, &t.Rows[i].Row)
			}
		}
		verdict.Holm(family)
		all = append(all, t)
	}
	return all
}

// leastWait is the smallest share of a session's time that counts as a wait.
const leastWait = 0.005

// waits compares the waits of one side with those of the first.
func (c *Comparison) waits(d data, side int, alpha float64) (all []Wait) {
	type event struct{ kind, name string }
	events := map[event][2]float64{} // sessions, on average over the runs
	values := func(at int, e event) (series []float64, sessions float64) {
		for _, r := range d[at] {
			ops := r.Figures[""]["ops_per_s"]
			if r.Waits == nil || r.Waits.Samples == 0 || ops <= 0 {
				series = append(series, math.NaN())
				continue
			}
			found := 0.0
			for _, w := range r.Waits.Events {
				if w.Type == e.kind && w.Event == e.name {
					found = w.Sessions
				}
			}
			series, sessions = append(series, 1000*found/ops), sessions+found/float64(len(d[at]))
		}
		return series, sessions
	}
	for _, at := range []int{0, side} {
		for _, r := range d[at] {
			if r.Waits != nil {
				for _, w := range r.Waits.Events {
					events[event{w.Type, w.Event}] = [2]float64{}
				}
			}
		}
	}
	for e := range events {
		a, inA := values(0, e)
		b, inB := values(side, e)
		if max(inA, inB) < leastWait {
			continue
		}
		w := Wait{Type: e.kind, Event: e.name, Row: verdict.Of(a, b, verdict.Rule{Margin: c.Plan.Margin, Alpha: alpha})}
		switch {
		case inB == 0 && slices.ContainsFunc(b, isKnown) && seenInMostRuns(a):
			w.OnlyIn = Letter(0)
		case inA == 0 && slices.ContainsFunc(a, isKnown) && seenInMostRuns(b):
			w.OnlyIn = Letter(side)
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(x, y Wait) int {
		return cmp.Or(cmp.Compare(max(y.Base, y.Variant), max(x.Base, x.Variant)),
			cmp.Compare(x.Type+x.Event, y.Type+y.Event))
	})
	family := make([]*verdict.Row, len(all))
	for i := range all {
		family[i] = &all[i].Row
	}
	verdict.Holm(family)
	return all
}

// seenInMostRuns reports whether a wait was seen in at least half of the runs; in fewer it may be chance.
func seenInMostRuns(series []float64) bool {
	seen, looked := 0, 0
	for _, v := range series {
		if isKnown(v) {
			looked++
		}
		if v > 0 {
			seen++
		}
	}
	return looked > 0 && 2*seen >= looked
}
