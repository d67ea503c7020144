package result

import (
	"encoding/json"
	"testing"
)

// An older stored result has answered operations under latency_ms.
func TestFormerLatenciesAreReadAsWhatTheyWere(t *testing.T) {
	for name, c := range map[string]struct {
		text          string
		answered, all float64 // p95; 0: none
	}{
		"Before": {`{"errors":5,"latency_ms":{"p95":2},"latency_all_ms":{"p95":7},
			"latency_ms_intervals":{"p95":{"low":1}},
			"latency_all_ms_intervals":{"p95":{"low":6}}}`, 2, 7},
		"BeforeFailuresWereCounted": {`{"errors":5,"latency_ms":{"p95":2},"latency_ms_intervals":{"p95":{"low":1}}}`,
			2, 0},
		"Today": {`{"errors":5,"latency_ms":{"p95":7},"latency_answered_ms":{"p95":2},"latency_all_ms":{"p95":7},
			"latency_ms_intervals":{"p95":{"low":6}},"latency_answered_ms_intervals":{"p95":{"low":1}}}`, 2, 7},
	} {
		t.Run(name, func(t *testing.T) {
			var op Operation
			if err := json.Unmarshal([]byte(c.text), &op); err != nil {
				t.Fatal(err)
			}
			if *op.Latency.P95 != c.answered || op.LatencyIntervals.P95.Low != c.answered-1 {
				t.Errorf("answered %v in %+v", *op.Latency.P95, op.LatencyIntervals)
			}
			if (op.LatencyAll == nil) != (c.all == 0) || c.all != 0 && (*op.LatencyAll.P95 != c.all ||
				op.LatencyAllIntervals.P95.Low != c.all-1) {
				t.Errorf("all %+v in %+v", op.LatencyAll, op.LatencyAllIntervals)
			}
		})
	}
}
