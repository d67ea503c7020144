package trial

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/lab/stats"
)

// Shown is how many of several operations show a factor. Each is tested in all its ratios, one of which is enough; the
// error of all tests together is bounded by Holm's method.
type Shown struct {
	As  string
	Bar float64
	Of  []Operation
}

// Operation is what is tested, in several circumstances.
type Operation struct {
	Name   string
	Ratios []Ratio
}

// Name implements Quantity.
func (s Shown) Name() string { return s.As }

// Interval reaches from the operations that surely show the factor to those that do not surely lack it.
func (s Shown) Interval(m *Measurements) Interval {
	surely, unsure := s.surely(m, stats.RatioAtLeast)
	lack, _ := s.surely(m, stats.RatioBelow)
	i := Interval{Unsure: unsure}
	for n, operation := range s.Of {
		if slices.Contains(surely[n], true) {
			i.Low++
		}
		if slices.Contains(lack[n], false) {
			i.High++
		}
		if slices.ContainsFunc(operation.Ratios, func(r Ratio) bool { return r.Interval(m).Middle >= s.Bar }) {
			i.Middle++
		}
	}
	return i
}

// tested is one ratio of an operation.
type tested struct {
	operation, ratio int
}

// surely says of each ratio of each operation whether the test holds, by Holm.
func (s Shown) surely(m *Measurements, test func(base, variant []float64, bar float64) (float64, error)) (
	holds [][]bool, unsure string) {
	var all []tested
	var p []float64
	holds = make([][]bool, len(s.Of))
	for n, operation := range s.Of {
		holds[n] = make([]bool, len(operation.Ratios))
		for k, r := range operation.Ratios {
			if i := r.Interval(m); i.Unsure != "" {
				return holds, i.Unsure
			}
			chance, _ := test(m.Figures(r.To), m.Figures(r.Of), s.Bar)
			all, p = append(all, tested{n, k}), append(p, chance)
		}
	}
	corrected, _ := stats.Holm(p)
	for k, one := range all {
		holds[one.operation][one.ratio] = corrected[k] <= stats.Tail
	}
	return holds, ""
}

// Text names the operations: 2 of 8 (ANALYZE, DROP TABLE).
func (s Shown) Text(m *Measurements) string {
	surely, unsure := s.surely(m, stats.RatioAtLeast)
	if unsure != "" {
		return notMeasured
	}
	var names []string
	for n, operation := range s.Of {
		if slices.Contains(surely[n], true) {
			names = append(names, operation.Name)
		}
	}
	text := fmt.Sprintf("%d of %d", len(names), len(s.Of))
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	return text
}

func (s Shown) words(b bound) string { return fmt.Sprintf("%s %g", b.op, b.bar) }
