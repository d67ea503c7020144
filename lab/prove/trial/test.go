package trial

import "strings"

// Test is what a criterion requires of an interval: all of several bounds, or any.
type Test struct {
	bounds []bound
	any    bool
	sure   bool // requires only that a quantity was measured
}

// bound is one comparison.
type bound struct {
	op    operator
	bar   float64
	scope scope
}

type operator string

const (
	atLeast operator = "at least"
	above   operator = "more than"
	atMost  operator = "at most"
	below   operator = "less than"
)

// scope is the point of the interval that is compared.
type scope int

const (
	every  scope = iota // the whole interval
	some                // any of it
	middle              // its middle
)

// AtLeast requires the whole interval at or above a limit.
func AtLeast(bar float64) Test { return one(atLeast, bar, every) }

// Above requires the whole interval above a limit.
func Above(bar float64) Test { return one(above, bar, every) }

// AtMost requires the whole interval at or below a limit.
func AtMost(bar float64) Test { return one(atMost, bar, every) }

// Below requires the whole interval below a limit.
func Below(bar float64) Test { return one(below, bar, every) }

// SomeBelow requires a part of the interval below a limit.
func SomeBelow(bar float64) Test { return one(below, bar, some) }

// MiddleAtLeast requires the middle at or above a limit.
func MiddleAtLeast(bar float64) Test { return one(atLeast, bar, middle) }

// Within requires the whole interval between two limits.
func Within(low, high float64) Test { return AtLeast(low).And(AtMost(high)) }

// Outside requires the whole interval on one side of two limits.
func Outside(low, high float64) Test {
	t := Below(low).And(Above(high))
	t.any = true
	return t
}

// Measured requires only that there is an interval.
func Measured() Test { return Test{sure: true} }

// And requires both.
func (t Test) And(other Test) Test {
	t.bounds = append(append([]bound{}, t.bounds...), other.bounds...)
	return t
}

func one(op operator, bar float64, s scope) Test { return Test{bounds: []bound{{op, bar, s}}} }

func (t Test) empty() bool { return len(t.bounds) == 0 && !t.sure }

// holds is false for an unknown interval.
func (t Test) holds(i Interval) bool {
	if t.empty() || i.Unsure != "" {
		return false
	}
	for _, b := range t.bounds {
		if b.holds(i) == t.any {
			return t.any
		}
	}
	return !t.any
}

func (b bound) holds(i Interval) bool {
	low, high := i.Low, i.High // for bounds reached from below and from above
	switch b.scope {
	case some:
		low, high = i.High, i.Low
	case middle:
		low, high = i.Middle, i.Middle
	}
	switch b.op {
	case atLeast:
		return low >= b.bar
	case above:
		return low > b.bar
	case atMost:
		return high <= b.bar
	default:
		return high < b.bar
	}
}

// text of the test for a quantity: "surely at least ×2".
func (t Test) text(quantity Quantity) string {
	if _, given := quantity.(Given); given {
		return ""
	}
	if t.sure {
		return "measured in enough turns"
	}
	var all []string
	for _, b := range t.bounds {
		all = append(all, quantity.words(b))
	}
	if t.any {
		return strings.Join(all, " or ")
	}
	return strings.Join(all, " and ")
}
