package score

import (
	"maps"
	"slices"
	"time"

	"plimsoll/lab/load/apdex"
)

// durations of one operation in one hour, counted by their first four digits: memory grows with the different values,
// not with the calls. A target has at most three significant digits, four times as much has four: zones are exact.
type durations map[int64]int64

// shortened leaves the first digits of a duration.
func shortened(d time.Duration) int64 {
	n, unit := max(d.Microseconds(), 0), int64(1)
	for n/unit >= 10_000 { // four digits
		unit *= 10
	}
	return n / unit * unit
}

func (d durations) add(other durations) {
	for value, n := range other {
		d[value] += n
	}
}

func (d durations) n() (sum int64) {
	for _, n := range d {
		sum += n
	}
	return sum
}

// percentiles by the nearest rank, of p ascending (0..100).
func (d durations) percentiles(p ...float64) []time.Duration {
	found := make([]time.Duration, 0, len(p))
	values, total, seen := slices.Sorted(maps.Keys(d)), float64(d.n()), int64(0)
	for _, value := range values {
		seen += d[value]
		for len(found) < len(p) && float64(seen) >= p[len(found)]/100*total {
			found = append(found, time.Duration(value)*time.Microsecond)
		}
	}
	return found
}

// zones by a target.
func (d durations) zones(target time.Duration) (c apdex.Counts) {
	limit, end := shortened(target), shortened(apdex.FrustrationFactor*target)
	for value, n := range d {
		switch {
		case value < limit:
			c.Satisfied += n
		case value < end:
			c.Tolerating += n
		default:
			c.Frustrated += n
		}
	}
	return c
}
