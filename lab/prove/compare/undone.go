package compare

import (
	"math"

	"plimsoll/lab/load"
	"plimsoll/lab/run/result"
)

// latencies of an operation. One that failed counts with the timeout: a user who gets nothing has waited for nothing,
// however soon the system says no. No answer comes later than the timeout, so among ranks it is as good as for ever.
func (f figures) latencies(op result.Operation, timeoutMS float64) {
	if timeoutMS <= 0 {
		timeoutMS = float64(load.TimeoutDefault.Milliseconds())
	}
	failed := op.Errors + op.Overload
	forEver := math.Max(timeoutMS, result.ValueOrZero(op.Latency.Max))
	answered := float64(op.Ops - failed)
	mean := (answered*result.ValueOrZero(op.Latency.Mean) + float64(failed)*forEver) / float64(op.Ops)
	f.set(op.ID, MetricDefault, &mean)
	all := op.LatencyAll
	if all == nil { // an older program
		all = &op.Latency
	}
	for _, p := range []struct {
		name  string
		rank  float64
		value *float64
	}{{"latency_ms_p50", 0.50, all.P50}, {"latency_ms_p95", 0.95, all.P95}, {"latency_ms_p99", 0.99, all.P99}} {
		if p.value == nil || answered < math.Ceil(p.rank*float64(op.Ops)) {
			p.value = &forEver
		}
		f.set(op.ID, p.name, p.value)
	}
}

// outcomes of operations: who fails or refuses has less to do for the rest.
func (f figures) outcomes(operation string, t result.Totals) {
	if t.Ops > 0 {
		failed := float64(t.Errors+t.Overload) / float64(t.Ops)
		f.set(operation, failedShare, &failed)
	}
	f.set(operation, refusedShare, t.Refusals())
}

// offMix is how many of the operations would have to be others for the mix to be the planned one.
func (f figures) offMix(operations []result.Operation) {
	done, planned, off := 0.0, 0.0, 0.0
	for _, op := range operations {
		done, planned = done+float64(op.Ops), planned+op.Weight
	}
	if done == 0 || planned == 0 {
		return
	}
	for _, op := range operations {
		off += math.Abs(float64(op.Ops)/done-op.Weight/planned) / 2
	}
	f.set("", offMixShare, &off)
}
