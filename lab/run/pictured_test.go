package run

import (
	"context"
	"testing"
	"time"

	"plimsoll/lab/run/live"
	"plimsoll/test/patience"
)

// The ledger and its causes come while the run goes on, and the picture keeps no more of them than a page shows.
func TestLivePictureShowsTheLedger(t *testing.T) {
	o := base(t)
	endless(&o)
	o.Live = live.New(nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	shown := make(chan *live.Diagnosis, 1)
	go func() {
		defer stop()
		var d *live.Diagnosis
		patience.Holds(func() bool {
			delta, _ := o.Live.Since(0)
			d = delta.Diagnosis
			return d != nil && d.All.TotalS > 0 && len(d.Operations) > 0
		})
		shown <- d
	}()
	mustRun(t, ctx, o)
	d := <-shown
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
	o := base(t)
	o.Duration, o.Sampling = time.Second, SamplingOff
	if r := mustRun(t, t.Context(), o); r.Diagnosis != nil || r.Ops == 0 {
		t.Errorf("%d operations, %+v", r.Ops, r.Diagnosis)
	}
}
