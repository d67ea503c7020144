package compare

import (
	"testing"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/result"
)

func TestOnProcessor(t *testing.T) {
	ran := result.LedgerLine{Class: diagnose.OnCPU, S: 0.3}
	waited := result.LedgerLine{Class: "wal", S: 5}
	for name, c := range map[string]struct {
		answers int64
		ledger  []result.LedgerLine
		want    float64 // -1: unknown
	}{
		"Sampled":     {100, []result.LedgerLine{waited, ran}, 3},
		"NeverSeen":   {100, []result.LedgerLine{waited}, 0},
		"NotSampled":  {100, nil, -1},
		"NotAnswered": {0, []result.LedgerLine{ran}, -1},
		"OrInQueue":   {100, []result.LedgerLine{{Class: diagnose.Unsplit, S: 5}}, -1},
	} {
		got := onProcessor(c.ledger, c.answers)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v, want %g", name, got, c.want)
		}
	}
}
