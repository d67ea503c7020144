package self

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/ground/human"
)

// Figure is one number or statement: what the plant makes it, and what the lab reported.
type Figure struct {
	Name     string `json:"name"`
	Expected string `json:"expected"`
	Reported string `json:"reported"`
	Holds    bool   `json:"holds"`
	// Shown alone: the report of another program, which says nothing about this one.
	Shown bool `json:"shown,omitempty"`
	// excusable: a machine that is disturbed explains why it does not hold.
	excusable bool
}

// equal counts are exact, whatever else runs.
func equal(name string, expected, reported int64) Figure {
	return Figure{Name: name, Expected: fmt.Sprint(expected), Reported: fmt.Sprint(reported),
		Holds: expected == reported}
}

// resolution of the histograms of latencies, in which a value has three significant digits.
const resolution = 0.001

// atLeast is a time or rate that cannot be less than what was planted, and is more than most only where something
// disturbs.
func atLeast(name, unit string, least, most, reported float64) Figure {
	low := least * (1 - resolution)
	return Figure{Name: name, Expected: fmt.Sprintf("%s to %s%s", short(least), short(most), unit),
		Reported: short(reported) + unit, Holds: reported >= low && reported <= most, excusable: reported >= low}
}

// atMost is one that cannot be more, and is less only where something disturbs.
func atMost(name, unit string, least, most, reported float64) Figure {
	high := most * (1 + resolution)
	return Figure{Name: name, Expected: fmt.Sprintf("%s to %s%s", short(least), short(most), unit),
		Reported: short(reported) + unit, Holds: reported >= least && reported <= high, excusable: reported <= high}
}

// within is a figure that disturbances move either way.
func within(name, unit string, least, most, reported float64) Figure {
	f := atLeast(name, unit, least, most, reported)
	f.Holds, f.excusable = reported >= least && reported <= most, true
	return f
}

// states that something is said; a disturbance excuses nothing.
func states(name, expected, reported string, holds bool) Figure {
	return Figure{Name: name, Expected: expected, Reported: reported, Holds: holds}
}

func (f Figure) excused() Figure {
	f.excusable = true
	return f
}

// shown is what another program reports.
func shown(name, expected, reported string) Figure {
	return Figure{Name: name, Expected: expected, Reported: reported, Holds: true, Shown: true}
}

// checkMentions expects words in one of the texts.
func checkMentions(name, words string, texts []string) Figure {
	reported := strings.Join(texts, "; ")
	if reported == "" {
		reported = "nothing"
	}
	return states(name, fmt.Sprintf("%q", words), reported, strings.Contains(reported, words))
}

// short has three digits, or all before the point.
func short(x float64) string {
	if math.IsNaN(x) {
		return "none"
	}
	return human.Figure(x, 3)
}

// orNone is the value, or what no bound contains.
func orNone(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
