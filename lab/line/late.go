package line

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// lateMost is the share of the operations that lies beyond the p99 of the lag.
const lateMost = 0.01

// highestAtBest is the upper end of the score's interval if the load had been sent in time.
//
// At most one operation in 100 was later than the lag's p99. An answer in unit u of its target T took at least u·T, so
// the server took at least u·T − lag. Those in 100 that were later may have been those whose improvement raises the
// score most: of the most important operations. Failures stay failures: the server refused, or let a whole timeout
// pass. If the generator used too many processors, any answer may have waited for it, and only failures count.
func highestAtBest(r *result.Result) (float64, bool) {
	busy := result.ValueOrZero(r.Generator.CPUShare) > run.GeneratorCPUMax
	var all []apdex.Weighed
	var slow []slowAnswers
	for i, op := range r.Operations {
		w := apdex.Weighed{Priority: op.Priority}
		weight := 0.0
		if op.Priority > 0 {
			weight = 1 / float64(op.Priority)
		}
		w.Frustrated = op.Errors + op.Overload
		for unit, n := range op.HistogramT {
			switch least := float64(unit) - r.Generator.LagMSP99/op.TargetMS; { // of T
			case busy || least < 1:
				w.Satisfied += n
			case least < apdex.FrustrationFactor:
				w.Tolerating += n
				slow = append(slow, slowAnswers{i, n, weight / 2, true})
			default:
				w.Frustrated += n
				slow = append(slow, slowAnswers{i, n, weight, false})
			}
		}
		all = append(all, w)
	}
	satisfyLatest(all, slow, int64(math.Ceil(lateMost*float64(r.Ops))))
	score, least, ok := apdex.Overall(all)
	high := least.High
	if r.Apdex != nil && r.Interval != nil { // operations of one moment share its luck
		high = max(high, score+r.Interval.High-*r.Apdex)
	}
	return high, ok
}

// slowAnswers of an operation that would raise the score if they had satisfied.
type slowAnswers struct {
	operation  int
	n          int64
	gain       float64 // of each, in points by priority
	tolerating bool    // else frustrated
}

// satisfyLatest counts the latest slow answers as satisfied, first those that raise the score most.
func satisfyLatest(all []apdex.Weighed, slow []slowAnswers, late int64) {
	slices.SortStableFunc(slow, func(a, b slowAnswers) int { return cmp.Compare(b.gain, a.gain) })
	for _, s := range slow {
		n, w := min(late, s.n), &all[s.operation]
		late -= n
		w.Satisfied += n
		if s.tolerating {
			w.Tolerating -= n
		} else {
			w.Frustrated -= n
		}
	}
}
