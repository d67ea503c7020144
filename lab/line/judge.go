package line

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/lab/stats"
)

// trialOf judges a run.
func trialOf(r *result.Result, target float64) Trial {
	t := Trial{
		Users: r.Users, Run: r.ID, Started: r.Started, DurationS: r.DurationS,
		Apdex: r.Apdex, Interval: r.Interval, Operations: r.Ops, Failed: r.Errors, Overload: r.Overload,
		OpsPerS: r.OpsPerS,
		Valid:   r.Valid, GeneratorLate: slices.Contains(r.InvalidCauses, result.ByGenerator),
		Short: slices.Equal(r.InvalidCauses, []result.Cause{result.ByFewness}), CPU: r.Conditions.CPU,
		LagMSP99: r.Generator.LagMSP99, InFlight: r.Generator.InFlight,
		LatencyMSP50:  meanOver(r, func(l result.Latency) *float64 { return l.P50 }),
		LatencyMSMean: meanOver(r, func(l result.Latency) *float64 { return l.Mean }), Drift: driftOf(r.Series),
		AllPerS:  r.AllPerS,
		Findings: costlyFindings(r),
	}
	t.Outcome, t.Why = outcomeOf(r, t.Drift, target)
	return t
}

// outcomeOf a run. It fails on evidence alone: where the whole interval of its score lies below the target, or an
// operation was tried often and never got a valid answer.
func outcomeOf(r *result.Result, d Drift, target float64) (Outcome, string) {
	switch {
	case !r.Valid:
		if why := systemFault(r, target); why != "" {
			return Fails, why
		}
		return Void, strings.Join(r.InvalidReasons, "; ")
	case r.Apdex == nil:
		return Void, "no score"
	case *r.Apdex < target && highest(r) < target:
		return Fails, "Apdex below the target"
	case unanswered(r) != "":
		return Fails, unanswered(r)
	case *r.Apdex < target:
		return Undecided, fmt.Sprintf("Apdex below the target, but its interval reaches it, %s to %s",
			apdex.Text(r.Interval.Low), apdex.Text(r.Interval.High))
	case d.Worsening():
		return Unsteady, "the queue grew until the end"
	}
	return Passes, ""
}

// highest score that the run's operations allow.
func highest(r *result.Result) float64 {
	if r.Interval == nil {
		return *r.Apdex
	}
	return r.Interval.High
}

// costlyFindings took a good part of the operations' time.
func costlyFindings(r *result.Result) (costly []result.TimeCause) {
	if r.Diagnosis == nil {
		return nil
	}
	for _, f := range r.Diagnosis.Findings {
		if f.Price != nil && *f.Price >= findingShare && f.Name != diagnose.NoReason {
			costly = append(costly, f)
		}
	}
	return costly
}

// meanOver all answers of a figure that each key operation has; nil without answers, or in older results.
func meanOver(r *result.Result, figure func(result.Latency) *float64) *float64 {
	var sum float64
	var n int64
	for _, op := range r.Operations {
		if answered, x := op.OK+op.Refused, figure(op.Latency); answered > 0 && x != nil {
			sum, n = sum+float64(answered)**x, n+answered
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

// systemFault says why an invalid run is still a failure of the system; empty: it may not be. A crash, a stalled
// machine or a change by the user excuse the system. A generator that fell behind excuses it too, if its lag may have
// caused the result. What only a few operations show may be chance.
func systemFault(r *result.Result, target float64) string {
	excused := func(c result.Cause) bool {
		return c != result.BySystem && c != result.ByFewness && c != result.ByGenerator
	}
	switch best, ok := highestAtBest(r); {
	case slices.ContainsFunc(r.InvalidCauses, excused), r.Ops < result.BrokenFrom:
		return ""
	case slices.Contains(r.InvalidCauses, result.ByGenerator):
		if ok && best < target {
			return "Apdex below the target, however late the generator was"
		}
		return ""
	case slices.Contains(r.InvalidCauses, result.BySystem):
		return r.InvalidReasons[slices.Index(r.InvalidCauses, result.BySystem)]
	case r.Apdex != nil && highest(r) < target:
		return "Apdex below the target"
	}
	return ""
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
	d := Drift{Growth: last / math.Max(1, first), P: stats.Rising(means)}
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
