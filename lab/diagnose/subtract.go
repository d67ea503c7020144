package diagnose

import (
	"math"
	"slices"
)

// Difference is what a transaction of one system waits for more than one of another, by class.
type Difference struct {
	Class string `json:"class"`
	Name  string `json:"name"`
	// Milliseconds of a transaction; 0: none was sampled.
	FastMS float64 `json:"fast_ms"`
	SlowMS float64 `json:"slow_ms"`
	MoreMS float64 `json:"more_ms"`
}

// Subtract the ledger of a fast system from that of a slow one with the same load, transaction by transaction: shares
// add up to 100 % on both and hide what has grown. The class that grew most comes first. Nil: transactions were not
// counted.
func Subtract(slow, fast *Diagnosis) (all []Difference) {
	of := func(d *Diagnosis) map[string]float64 {
		for _, r := range d.Rates {
			if r.Name == transactionsRate && r.PerS != nil && *r.PerS > 0 {
				each := map[string]float64{}
				for _, line := range d.Ledger.Lines {
					each[line.Class] = 1000 * line.Share * d.Ledger.Sessions / *r.PerS
				}
				return each
			}
		}
		return nil
	}
	a, b := of(slow), of(fast)
	if a == nil || b == nil {
		return nil
	}
	for _, d := range []map[string]float64{a, b} {
		for class := range d {
			if !slices.ContainsFunc(all, func(one Difference) bool { return one.Class == class }) {
				all = append(all, Difference{class, nonEmpty(lineNames[class], class), b[class], a[class],
					a[class] - b[class]})
			}
		}
	}
	slices.SortFunc(all, func(a, b Difference) int {
		return compareDown(math.Abs(a.MoreMS), math.Abs(b.MoreMS), a.Class, b.Class)
	})
	return all
}
