package apdex

import "time"

// Histogram counts answered operations by units of their target: 0-T, T-2T, 2T-3T, 3T-4T, over 4T. A lower edge belongs
// to its unit, as in the zones. Operations without a valid answer have no latency and are left out.
type Histogram [5]int64

// Units names the bins of a Histogram.
var Units = [5]string{"0-T", "T-2T", "2T-3T", "3T-4T", ">4T"}

// Time counts an answer after latency, with target T.
func (h *Histogram) Time(latency, target time.Duration) {
	unit := len(h) - 1
	if target > 0 && latency < FrustrationFactor*target {
		unit = max(0, int(latency/target))
	}
	h[unit]++
}

// Add merges another histogram.
func (h *Histogram) Add(other Histogram) {
	for i := range h {
		h[i] += other[i]
	}
}
