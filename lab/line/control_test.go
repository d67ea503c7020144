package line

import (
	"strings"
	"testing"
)

func TestControl_DescribesWhatIsKnown(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for name, c := range map[string]struct {
		ratio *Ratio
		want  string
	}{
		"NoSecondLine":  {nil, "not known, a has no second line"},
		"NothingFailed": {&Ratio{Users: 1}, "not known, the trials of a give no bounds for a ratio"},
		"NoDifference": {&Ratio{Users: 1, IntervalLow: at(0.9), IntervalHigh: at(1.1)},
			"no difference, as it should be"},
		"BoundedFromOne": {&Ratio{Users: 1, IntervalLow: at(0.9)}, "no difference, as it should be"},
		"Differs": {&Ratio{Users: 2, IntervalLow: at(1.5), IntervalHigh: at(3), Differs: true},
			"do not trust the differences of this session"},
	} {
		first := &Line{Plan: Plan{Configuration: "a"}}
		both := &Comparison{Lines: []Compared{{Line: first}, {Line: first, Control: true, Ratio: c.ratio}}}
		if got := both.controlText(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
