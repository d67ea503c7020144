package ratio

import "github.com/aclements/go-moremath/stats"

// Tail of a test is half of what an interval of Confidence leaves out.
const Tail = (1 - Confidence) / 2

// AtLeast tests that variant/base is at least so much: p is the chance of figures like these if it were less, by the
// same exact Mann-Whitney test that Of inverts. Below tests that it is less.
func AtLeast(base, variant []float64, bar float64) (p float64, err error) {
	return tail(base, variant, func(quotient float64) bool { return quotient >= bar })
}

// Below is the other test of AtLeast.
func Below(base, variant []float64, bar float64) (p float64, err error) {
	return tail(base, variant, func(quotient float64) bool { return quotient < bar })
}

// tail is P(U ≤ u), where u of the quotients speak against it.
func tail(base, variant []float64, speaksFor func(quotient float64) bool) (p float64, err error) {
	all, err := quotients(base, variant)
	if err != nil {
		return 1, err
	}
	against := 0
	for _, q := range all {
		if !speaksFor(q) {
			against++
		}
	}
	return stats.UDist{N1: len(base), N2: len(variant)}.CDF(float64(against)), nil
}
