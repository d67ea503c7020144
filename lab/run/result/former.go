package result

import "encoding/json"

// former has the names of latencies as results had them while latency_ms was that of answered operations.
type former struct {
	Answered          *json.RawMessage  `json:"latency_answered_ms"`
	Latency           Latency           `json:"latency_ms"`
	All               *Latency          `json:"latency_all_ms"`
	AnsweredIntervals *LatencyIntervals `json:"latency_ms_intervals"`
	AllIntervals      *LatencyIntervals `json:"latency_all_ms_intervals"`
}

// UnmarshalJSON also reads older stored results, by what their names meant then.
func (op *Operation) UnmarshalJSON(text []byte) error {
	type plain Operation
	if err := json.Unmarshal(text, (*plain)(op)); err != nil {
		return err
	}
	var old former
	if err := json.Unmarshal(text, &old); err != nil || old.Answered != nil {
		return err
	}
	op.Latency, op.LatencyAll, op.LatencyRepeated = old.Latency, old.All, old.All
	op.LatencyIntervals, op.LatencyAllIntervals = old.AnsweredIntervals, old.AllIntervals
	if op.LatencyAllIntervals == nil && op.Errors+op.Overload == 0 {
		op.LatencyAllIntervals = old.AnsweredIntervals
	}
	return nil
}
