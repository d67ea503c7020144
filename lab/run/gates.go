package run

import (
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
)

// notEnded is what is said of gates while nothing has been measured.
const notEnded = "the run did not end"

// gates of the scenario and of the command line; one that is meant for each operation is one for each that is done.
func (r *record) gates() (all []gate.Gate) {
	given := r.Gates
	if r.Scenario != nil {
		given = slices.Concat(r.Scenario.Gates, r.Gates)
	}
	for _, g := range given {
		if g.Operation != gate.Each {
			all = append(all, g)
			continue
		}
		for _, op := range r.crowd.Operations {
			if op.Weight > 0 { // not one that only stands in for others
				all = append(all, g.For(op.ID))
			}
		}
	}
	return all
}

// plannedGates stand in a result until they are judged, and in that of a run whose process died.
func (r *record) plannedGates() (all []result.Gate) {
	for _, g := range r.gates() {
		one := describe(g)
		one.Verdict, one.Because = result.GateUndecided, notEnded
		all = append(all, one)
	}
	return all
}

func describe(g gate.Gate) result.Gate {
	return result.Gate{Gate: g.String(), Operation: g.Operation, Figure: g.FigureText(), Unit: g.Figure.Unit(),
		Limit: g.Limit}
}

// judgeGates compares what was measured with the limits. What lies beyond a limit has failed. To pass, enough must have
// been measured, by a run that is valid.
func (r *record) judgeGates(all *result.Result) {
	if r.Scenario == nil { // that of a run whose process died is not known
		return
	}
	all.Gates = nil
	for _, g := range r.gates() {
		one := describe(g)
		one.Verdict = r.judgeGate(all, g, &one)
		if one.Verdict == result.GatePassed && !all.Valid {
			one.Verdict, one.Because = result.GateUndecided, "the run is not valid"
		}
		all.Gates = append(all.Gates, one)
	}
}

func (r *record) judgeGate(all *result.Result, g gate.Gate, one *result.Gate) result.GateVerdict {
	at := slices.IndexFunc(r.crowd.Operations, func(op users.Operation) bool { return op.ID == g.Operation })
	switch {
	case g.Operation == "":
		ofRun(all, r.made.Tally, g, one)
	case at < 0:
		one.Because = "nobody does it in this load"
		return result.GateUndecided
	default:
		ofOperation(all, r.made.Tally, at, g, one)
	}
	least := g.Least()
	switch {
	case one.Measured != nil && g.Fails(*one.Measured):
		return result.GateFailed
	case one.Measured == nil && one.Because != "": // a failed operation is longer than any limit
		return result.GateFailed
	case one.Operations == 0:
		one.Because = "nothing was measured"
	case one.Measured == nil:
		one.Because = "there is no score"
	case one.Operations < least:
		one.Because = fmt.Sprintf("%s, at least %s are needed", human.Count(one.Operations, "operation"),
			human.Thousands(least))
	default:
		return result.GatePassed
	}
	return result.GateUndecided
}

// ofRun has the figures that a run has as a whole.
func ofRun(all *result.Result, counts *tally.Tally, g gate.Gate, one *result.Gate) {
	one.Operations = all.Ops
	switch g.Figure {
	case gate.Apdex:
		one.Measured = all.Apdex
		if i := all.Interval; i != nil {
			one.Interval = &result.Range{Low: i.Low, High: &i.High}
		}
	case gate.Throughput:
		if all.DurationS > 0 {
			one.Measured, one.Interval = &all.OpsPerS, all.OpsPerSInterval
		}
	default:
		outcomeShare(all.Totals, counts, tally.AllOperations, g, one)
	}
}

func ofOperation(all *result.Result, counts *tally.Tally, at int, g gate.Gate, one *result.Gate) {
	op, counted := all.Operations[at], counts.Operations[at]
	one.Operations = op.Ops
	switch g.Figure {
	case gate.Apdex:
		one.Measured = op.Apdex
		if i := op.Interval; i != nil {
			one.Interval = &result.Range{Low: i.Low, High: &i.High}
		}
	case gate.Throughput:
		if all.DurationS > 0 && op.Ops > 0 {
			rate := float64(op.OK+op.Refused) / all.DurationS
			one.Measured = &rate
		}
	case gate.Mean:
		one.Measured, one.Operations = op.Latency.Mean, op.OK+op.Refused
	case gate.Percentile, gate.Max:
		percent := g.Percent
		if g.Figure == gate.Max {
			percent = 100
		}
		longest(counted, counts, at, percent, one)
	default:
		outcomeShare(op.Totals, counts, at, g, one)
	}
}

// longest is a percentile of all operations, failed ones being the longest.
func longest(counted *tally.Operation, counts *tally.Tally, at int, percent float64, one *result.Gate) {
	d, known := counted.Latency.PercentileWith(counted.N()-counted.Latency.N(), percent)
	if !known {
		if counted.N() > 0 {
			one.Because = "it is an operation that failed"
		}
		return
	}
	ms := human.MS(d)
	one.Measured = &ms
	if percent == 100 { // the longest of a run says nothing of the next one
		return
	}
	if low, high, ok := counts.PercentileIntervalOfAll(at, percent); ok {
		one.Interval = &result.Range{Low: human.MS(low)}
		if high > 0 {
			ms := human.MS(high)
			one.Interval.High = &ms
		}
	}
}

// outcomeShare is that of operations that failed or were refused.
func outcomeShare(t result.Totals, counts *tally.Tally, operation int, g gate.Gate, one *result.Gate) {
	if g.Figure == gate.Refused {
		one.Operations, one.Measured = t.OK+t.Refused, t.Refusals()
		return
	}
	if t.Ops == 0 {
		return
	}
	failed := float64(t.Errors+t.Overload) / float64(t.Ops)
	one.Measured = &failed
	if low, high, ok := counts.FailedInterval(operation); ok {
		one.Interval = &result.Range{Low: low, High: &high}
	}
}
