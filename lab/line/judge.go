package line

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run"
	"plimsoll/lab/run/result"
)

// trialOf judges a run.
func trialOf(r *result.Result, target float64) Trial {
	late := slices.Contains(r.InvalidCauses, result.ByGenerator)
	t := Trial{
		Users: r.Users, Run: r.ID, Started: r.Started, DurationS: r.DurationS,
		Apdex: r.Apdex, Interval: r.Interval, Operations: r.Ops, Failed: r.Errors, Overload: r.Overload,
		OpsPerS: r.OpsPerS,
		Valid:   r.Valid, GeneratorLate: late, LoadUnmade: late,
		Short: slices.Equal(r.InvalidCauses, []result.Cause{result.ByFewness}), CPU: r.Conditions.CPU,
		LagMSP99: r.Generator.LagMSP99, InFlight: r.Generator.InFlight,
		LatencyMSP50: medianOf(r), Drift: driftOf(r.Series), Outcome: Passes,
		Findings: dearFindings(r),
	}
	switch {
	case !r.Valid:
		if t.Outcome, t.Why = Fails, systemFault(r, target); t.Why == "" {
			t.Outcome, t.Why = Void, strings.Join(r.InvalidReasons, "; ")
		}
	case r.Apdex == nil || *r.Apdex < target:
		t.Outcome, t.Why = Fails, "Apdex below the target"
	case unanswered(r) != "":
		t.Outcome, t.Why = Fails, unanswered(r)
	case t.Drift.Worsening():
		t.Outcome, t.Why = Unsteady, "the queue grew until the end"
	}
	return t
}

// dearFindings took a good part of the operations' time.
func dearFindings(r *result.Result) (dear []result.TimeCause) {
	if r.Diagnosis == nil {
		return nil
	}
	for _, f := range r.Diagnosis.Findings {
		if f.Price != nil && *f.Price >= findingShare {
			dear = append(dear, f)
		}
	}
	return dear
}

func medianOf(r *result.Result) *float64 {
	var sum float64
	var n int64
	for _, op := range r.Operations {
		if answered := op.OK + op.Refused; answered > 0 && op.Latency.P50 != nil {
			sum, n = sum+float64(answered)**op.Latency.P50, n+answered
		}
	}
	if n == 0 {
		return nil
	}
	mean := sum / float64(n)
	return &mean
}

// unanswered names an operation that never got a valid answer; good scores of others do not make up for it.
func unanswered(r *result.Result) string {
	for _, op := range r.Unanswered(result.BrokenFrom) {
		return op.ID + " never got a valid answer" + op.Failing()
	}
	return ""
}

// lateMost is the share of the operations that lies beyond the p99 of the lag.
const lateMost = 0.01

// systemFault says why an invalid run is still a failure of the system; empty: it may not be. A crash, a stalled
// machine or a change by hand excuse the system. A generator that fell behind excuses it too, if its lag may be what
// the users suffered from.
func systemFault(r *result.Result, target float64) string {
	excused := func(c result.Cause) bool {
		return c != result.BySystem && c != result.ByFewness && c != result.ByGenerator
	}
	below := func(score float64) bool { return score < target }
	switch best, ok := scoreAtBest(r); {
	case slices.ContainsFunc(r.InvalidCauses, excused):
		return ""
	case slices.Contains(r.InvalidCauses, result.ByGenerator):
		if ok && below(best) {
			return "Apdex below the target, however late the generator was"
		}
		return ""
	case slices.Contains(r.InvalidCauses, result.BySystem):
		return r.InvalidReasons[slices.Index(r.InvalidCauses, result.BySystem)]
	case r.Apdex != nil && below(*r.Apdex):
		return "Apdex below the target"
	}
	return ""
}

// scoreAtBest is the highest score possible if the load had been sent in time.
//
// At most one operation in 100 was later than the lag's p99. An answer in unit u of its target T took at least u·T, so
// the server took at least u·T − lag. One in 100 counts as satisfied. Failures stay failures: the server refused, or
// let a whole timeout pass. If the generator used too many processors, any answer may have waited for it, and only
// failures count.
func scoreAtBest(r *result.Result) (float64, bool) {
	busy := result.ValueOrZero(r.Generator.CPUShare) > run.GeneratorCPUMax
	var all []apdex.Weighed
	for _, op := range r.Operations {
		w := apdex.Weighed{Priority: op.Priority}
		w.Frustrated = op.Errors + op.Overload
		for unit, n := range op.HistogramT {
			switch least := float64(unit) - r.Generator.LagMSP99/op.TargetMS; { // of T
			case busy || least < 1:
				w.Satisfied += n
			case least < apdex.FrustrationFactor:
				w.Tolerating += n
			default:
				w.Frustrated += n
			}
		}
		all = append(all, w)
	}
	score, _, ok := apdex.Overall(all)
	return score + lateMost, ok
}

// Parameters of the drift test.
const (
	driftLeast = 2.0 // operations: one more under way is no growth
	batches    = 12
)

func driftOf(s result.Series) Drift {
	var inside []float64
	for i, at := range s.T {
		if at >= s.SteadyFromS && at+s.IntervalS <= s.SteadyToS+1e-9 {
			under := float64(s.InFlight[i])
			if i < len(s.Backlog) {
				under += float64(s.Backlog[i])
			}
			inside = append(inside, under)
		}
	}
	if len(inside) < batches {
		return Drift{Growth: 1, P: 1}
	}
	means := batchMeans(inside, batches)
	first, last := stat.Mean(means[:batches/3], nil), stat.Mean(means[batches-batches/3:], nil)
	d := Drift{Growth: last / math.Max(1, first), P: rising(means)}
	if last-first < driftLeast {
		d.Growth = math.Min(d.Growth, 1)
	}
	return d
}

func batchMeans(values []float64, n int) []float64 {
	means := make([]float64, n)
	for i := range means {
		means[i] = stat.Mean(values[i*len(values)/n:(i+1)*len(values)/n], nil)
	}
	return means
}

// rising is the probability of at least as many rising pairs without a trend: the Mann-Kendall test, in its normal
// approximation with ties (H. B. Mann, 1945; M. G. Kendall, 1975).
func rising(x []float64) float64 {
	n, s := float64(len(x)), 0.0
	for i := range x {
		for k := i + 1; k < len(x); k++ {
			switch {
			case x[k] > x[i]:
				s++
			case x[k] < x[i]:
				s--
			}
		}
	}
	variance := n * (n - 1) * (2*n + 5) / 18
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		tied := float64(k - i)
		variance -= tied * (tied - 1) * (2*tied + 5) / 18
		i = k
	}
	if variance <= 0 || s <= 0 {
		return 1
	}
	return math.Erfc((s-1)/math.Sqrt(variance)/math.Sqrt2) / 2
}
