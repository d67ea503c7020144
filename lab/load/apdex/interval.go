package apdex

import (
	"plimsoll/lab/stats"
)

// Interval is the 95 % interval of the score, as far as sampling error goes.
//
// It is Wilson's score interval (stats.Wilson) on the Apdex itself. It stays inside [0, 1] and keeps a width at Apdex 0
// and 1. Wilson's formula is for yes/no samples, while an operation scores 0, ½ or 1. Among all distributions on [0, 1]
// with mean A yes/no has the largest variance (Bhatia and Davis, "A better bound on the variance", 2000: σ² ≤ A(1−A)),
// so the interval is too wide rather than too narrow.
//
// It assumes independent operations, which those of one run are not; tally widens it to what a bootstrap over seconds
// gives.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Interval is [0, 1] without operations.
func (c Counts) Interval() Interval {
	score, ok := c.Score()
	if !ok {
		return Interval{0, 1}
	}
	low, high := stats.Wilson(score, float64(c.N()))
	return Interval{low, high}
}
