package line

import (
	"fmt"
	"strings"
	"testing"
)

// A control approves only what it could have refused: a closed interval that holds 1 and is narrow.
func TestControl_ApprovesAnIntervalThatWouldShowADifference(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		ratio *Ratio
		want  string
	}{
		"NoSecondLine":  {nil, "not approved, a has no second line"},
		"NothingFailed": {&Ratio{Users: 1}, "not approved, the trials of a do not bound its ratio to itself"},
		"NoDifference": {&Ratio{Users: 1, IntervalLow: at(0.9), IntervalHigh: at(1.1)},
			": approved, a against itself ×0.9 to 1.1, no difference shown, as it should be"},
		"BoundedFromOne": {&Ratio{Users: 1, IntervalLow: at(0.9)},
			"not approved, the trials of a do not bound its ratio to itself: ×0.9 or more"},
		"TooWide": {&Ratio{Users: 1, IntervalLow: at(0.4), IntervalHigh: at(1.2)},
			// (ln 2.5 / ln 1.5)² = 5.1 times as many trials as the four
			"not approved, the interval of a against itself is too wide: ×0.4 to 1.2, no difference shown, where " +
				"×0.667 to 1.5 is needed; make about 17 more trials in each search: --confirmations 12"},
		"Differs": {&Ratio{Users: 2, IntervalLow: at(1.5), IntervalHigh: at(3), Differs: true},
			"do not trust the differences of this session"},
	} {
		first := &Line{Plan: Plan{Configuration: "a", Bounds: Bounds{Confirmations: 3}}, Trials: []Trial{
			{Users: 100, Outcome: Passes}, {Users: 100, Outcome: Passes}, {Users: 110, Outcome: Fails},
			{Users: 110, Outcome: Fails}}}
		both := &Comparison{Lines: []Compared{{Line: first}, {Line: first, Control: true, Ratio: c.ratio}}}
		if got := both.controlText(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the control asks for is enough: with so many more trials the interval is narrow.
func TestControl_AsksForEnoughTrials(t *testing.T) {
	trials := func(each int) (all []Trial) {
		for range each {
			all = append(all, Trial{Users: 100, Outcome: Passes}, Trial{Users: 150, Outcome: Fails})
		}
		return all
	}
	of := func(each int) (*Ratio, *Line) {
		l := &Line{Plan: Plan{Bounds: Bounds{Confirmations: each}}, Trials: trials(each)}
		r := &Ratio{Users: 1}
		r.addInterval(posteriorOf(l.Trials), posteriorOf(l.Trials))
		return r, l
	}
	r, l := of(2)
	if r.beyond() <= controlMost {
		t.Fatalf("%s is narrow with four trials", r)
	}
	more, _ := of(r.confirmations(l))
	if t.Log(fmt.Sprint(r), "with", r.confirmations(l), "at each end:", more); more.beyond() > controlMost {
		t.Errorf("%s with %d confirmations", more, r.confirmations(l))
	}
}
