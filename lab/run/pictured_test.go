package run

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/live"
)

// showsTheLedger: the ledger and its causes come while the run goes on, and the picture keeps no more of them than a
// page shows.
func showsTheLedger(t *testing.T, d *live.Diagnosis) {
	if d == nil || d.Samples == 0 || len(d.All.Lines) == 0 || d.Findings == nil {
		t.Fatalf("want ledger and findings, got %+v", d)
	}
	sum := 0.0
	for _, line := range d.All.Lines {
		sum += line.Share
	}
	if sum < 0.999 || sum > 1.001 {
		t.Errorf("the ledger adds up to %v", sum)
	}
}

func TestRunWithoutSamplingHasNoDiagnosis(t *testing.T) {
	for sampling, diagnosed := range map[int]bool{0: true, SamplingOff: false} {
		o := ownRun(t, none1)
		o.DSN, o.Duration, o.Sampling = clustertest.Database(t).Secret(), time.Second, sampling
		if r := mustRun(t, t.Context(), o); (r.Diagnosis != nil) != diagnosed || r.Ops == 0 {
			t.Errorf("sampling %v: %d operations, %+v", sampling, r.Ops, r.Diagnosis)
		}
	}
}
