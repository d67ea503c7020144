package verdict

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Look is a point at which a comparison may stop: after so many pairs, with its part of the error.
type Look struct {
	Pairs int     `json:"pairs"`
	Alpha float64 `json:"alpha"`
}

const (
	// firstLook is after the pairs that show a clear difference on a quiet machine.
	firstLook = 8
	// looksEvery is the number of pairs in two blocks ABBA. More looks would leave each a smaller part of the error.
	looksEvery = 4
)

// Looks returns the looks of a comparison with at most so many pairs; together they spend Alpha. Up to a share t of the
// pairs the error spent is α·t² (K. Kim and D. L. DeMets, 1987). Each look gets what it adds; the sum bounds the error
// however the looks depend on each other (Bonferroni). That costs some power and needs no assumption. A look at which
// even complete separation would decide nothing is left out, and the next one gets its error.
func Looks(pairs int) (all []Look) {
	spent := 0.0
	for n := max(RunsMin, min(firstLook, (pairs+1)/2)); n < pairs; n += looksEvery {
		share := float64(n) / float64(pairs)
		if alpha := Alpha*share*share - spent; separated(n) <= alpha {
			all = append(all, Look{n, alpha})
			spent += alpha
		}
	}
	return append(all, Look{pairs, Alpha - spent})
}

// Extended are the looks of a comparison whose number of pairs changes after so many were made. Looks that were made
// stay; later ones spend what is left of the error. Where nothing is left, because all looks were made, each extension
// adds half of what the one before added: however often a comparison is extended, its error stays below twice Alpha,
// and Spent says how much it is.
func Extended(looks []Look, made, pairs int) (all []Look) {
	spent := 0.0
	for _, l := range looks {
		if l.Pairs <= made {
			all = append(all, l)
			spent += l.Alpha
		}
	}
	left := Spent(looks) - spent
	if left < 1e-9 && pairs > made {
		left = Alpha - Spent(looks)/2
	}
	from, spent := made, 0.0
	for n := max(RunsMin, made+looksEvery); n < pairs; n += looksEvery {
		share := float64(n-from) / float64(pairs-from)
		if alpha := left*share*share - spent; separated(n) <= alpha {
			all = append(all, Look{n, alpha})
			spent += alpha
		}
	}
	switch last := len(all) - 1; {
	case left-spent < 1e-9:
	case last >= 0 && all[last].Pairs == pairs: // the same look, judged by more
		all[last].Alpha += left - spent
	default:
		all = append(all, Look{pairs, left - spent})
	}
	return all
}

// Spent is the error of all looks together.
func Spent(looks []Look) (sum float64) {
	for _, l := range looks {
		sum += l.Alpha
	}
	return sum
}

// AlphaAt is the error of a comparison that ends after so many pairs: that of the next look, which it replaces.
func AlphaAt(looks []Look, pairs int) float64 {
	for _, l := range looks {
		if l.Pairs >= pairs {
			return l.Alpha
		}
	}
	return looks[len(looks)-1].Alpha
}

// Passed is the last look of a comparison after so many pairs; 0: there was none.
func Passed(looks []Look, pairs int) (last int) {
	for _, l := range looks {
		if l.Pairs <= pairs {
			last = l.Pairs
		}
	}
	return last
}

const (
	// efficiency of the rank test relative to Student's t for normal figures: 3/π.
	efficiency = 3 / math.Pi
	// power80 is the normal quantile for a power of 80 %.
	power80 = 0.8416
	// moreMost is the largest number of pairs worth reporting.
	moreMost = 1000
)

// more returns how many more pairs would decide an inconclusive row with a probability of 80 % if effect and spread
// stay as they are: to show the difference, or that it is within the margin, whichever needs fewer. A row of a family
// has only the part of the error that Holm leaves at its place in the order.
func (r *Row) more(margin float64) int {
	size := math.Abs(r.move)
	differ, equal := r.rule.alpha()/max(1, r.factor), r.rule.alpha()/max(1, r.factorEqual)
	need := min(r.needs(size, differ/2), r.needs(margin-size, equal))
	if math.IsInf(need, 1) || need > moreMost {
		return moreMost
	}
	return max(1, int(math.Ceil(need))-min(r.Runs[0], r.Runs[1]))
}

// separatesAny is the number of pairs from which complete separation is significant at any error in use.
const separatesAny = 20

// needs is how many pairs show a distance, with so much error in one tail. However far apart the figures are, the exact
// test needs enough of them for a small error.
func (r *Row) needs(distance, tail float64) float64 {
	if distance <= 0 {
		return math.Inf(1)
	}
	need := 2 * math.Pow(r.spread*(distuv.UnitNormal.Quantile(1-tail)+power80)/distance, 2) / efficiency
	if need >= separatesAny {
		return need
	}
	n := max(RunsMin, int(math.Ceil(need)))
	for n < separatesAny && separated(n) > 2*tail {
		n++
	}
	return float64(n)
}
