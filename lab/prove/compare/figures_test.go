package compare

import (
	"testing"

	"plimsoll/lab/diagnose"
	"plimsoll/lab/run/result"
)

func TestSampledFigures(t *testing.T) {
	ran := result.LedgerLine{Class: diagnose.OnCPU, S: 0.3}
	waited := result.LedgerLine{Class: "wal", S: 5}
	outside := result.LedgerLine{Class: result.Outside, S: 9}
	for name, c := range map[string]struct {
		answers     int64
		ledger      []result.LedgerLine
		cpu, waited float64 // -1: unknown
	}{
		"Sampled":     {100, []result.LedgerLine{waited, ran, outside}, 3, 50},
		"NeverSeen":   {100, []result.LedgerLine{waited}, 0, 50},
		"NotSampled":  {100, nil, -1, -1},
		"NotAnswered": {0, []result.LedgerLine{ran}, -1, -1},
		"OrInQueue":   {100, []result.LedgerLine{waited, {Class: diagnose.Unsplit, S: 5}}, -1, -1},
	} {
		f := figures{}
		f.setSampled("op", c.ledger, c.answers)
		for metric, want := range map[string]float64{sampledCPU: c.cpu, sampledWaits: c.waited} {
			if got, known := f["op"][metric]; known != (want >= 0) || known && got != want {
				t.Errorf("%s: %s is %g (%v), want %g", name, metric, got, known, want)
			}
		}
	}
}

// The log of an operation is that of its traced requests; that of all is what the server wrote.
func TestFigures_LogOfEachOperation(t *testing.T) {
	all, one := 900.0, 700.0
	f := figuresOf(&result.Result{Cost: result.Cost{WALBytes: &all, Requests: []result.Request{
		{ID: "traced", Count: 10, WALBytes: &one, Traced: 1}, {ID: "not", Count: 10}}}})
	if f[""][wal] != all || f["traced"][wal] != one {
		t.Errorf("all %g, traced %g", f[""][wal], f["traced"][wal])
	}
	if got, known := f["not"][wal]; known {
		t.Errorf("the log of what was not traced is %g", got)
	}
}
