package apdex

import "math"

// Confidence of reported intervals, and its normal quantile.
const (
	Confidence  = 0.95
	normalAt975 = 1.959963984540054
)

// Interval is the 95 % interval of the score, as far as sampling error goes.
//
// It is Wilson's score interval (E. B. Wilson, "Probable inference, the law of
// succession, and statistical inference", JASA 22, 1927) on the Apdex itself:
//
//	centre ± half = ( A + z²/2N  ±  z·sqrt( A(1−A)/N + z²/4N² ) ) / ( 1 + z²/N )
//
// It stays inside [0, 1] and keeps a width at A = 0 and A = 1, where the usual A ± z·s/√N has none. Wilson's formula is
// for yes/no samples, while an operation scores 0, ½ or 1. Among all distributions on [0, 1] with mean A yes/no has the
// largest variance (Bhatia and Davis, "A better bound on the variance", 2000: σ² ≤ A(1−A)), so the interval is too wide
// rather than too narrow.
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
	return ShareInterval(score, float64(c.N()))
}

// ShareInterval is Wilson's for a share that n independent samples saw.
func ShareInterval(share, n float64) Interval {
	z2 := normalAt975 * normalAt975
	centre := share + z2/(2*n)
	half := normalAt975 * math.Sqrt(share*(1-share)/n+z2/(4*n*n))
	scale := 1 + z2/n
	return Interval{math.Max(0, (centre-half)/scale), math.Min(1, (centre+half)/scale)}
}
