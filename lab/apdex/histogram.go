package apdex

import "time"

// Histogram is how answered operations fall into units of their target:
// 0-T, T-2T, 2T-3T, 3T-4T, over 4T. Lower edges belong to their unit, as in the
// zones. Operations without a valid answer have no time and are not in it.
type Histogram [5]int64

// Units names the parts of a Histogram.
var Units = [5]string{"0-T", "T-2T", "2T-3T", "3T-4T", ">4T"}

// Time counts an answer after latency, against target T.
func (h *Histogram) Time(latency, target time.Duration) {
	unit := len(h) - 1
	if target > 0 && latency < FrustrationFactor*target {
		unit = max(0, int(latency/target))
	}
	h[unit]++
}

// Add merges a histogram taken elsewhere.
func (h *Histogram) Add(other Histogram) {
	for i := range h {
		h[i] += other[i]
	}
}
