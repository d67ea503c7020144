package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/lab/run/store"
)

// storeRun stores a valid run whose operations take so many ms, made so many minutes after noon.
func storeRun(t *testing.T, minute int, ms float64) string {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
	id, err := store.Default().Begin(at, 5)
	if err != nil {
		t.Fatal(err)
	}
	r := resulttest.Overloaded(t)
	r.ID, r.Started, r.Finished = id, at, at.Add(time.Minute)
	r.Valid, r.InvalidReasons, r.InvalidCauses, r.Totals = true, nil, nil, result.Totals{}
	for i := range r.Operations {
		op := &r.Operations[i]
		mean := ms * (1 + 0.001*float64(minute%3))
		op.Totals, op.Latency.Mean, op.LatencyAll = result.Totals{Ops: 1000, OK: 1000}, &mean, &op.Latency
		r.Ops, r.OK = r.Ops+1000, r.OK+1000
	}
	if err := store.Default().Save(r); err != nil {
		t.Fatal(err)
	}
	return id
}

// Stored runs against an archive of others: as good, slower, and too few.
func TestCompare_Baseline(t *testing.T) {
	freshState(t)
	for i := range 8 {
		storeRun(t, i, 100)
	}
	archive := filepath.Join(t.TempDir(), "main.zip")
	if o := plimsoll(t, "export", "--archive", archive, "latest:8"); o.code != ExitOK ||
		!strings.Contains(o.stdout, "8 runs") {
		t.Fatalf("%+v", o)
	}
	for i := range 4 {
		storeRun(t, 60+i, 101)
	}
	o := plimsoll(t, "compare", "--baseline", archive, "latest:4", "--json")
	var p compare.Past
	o.decode(t, &p)
	if o.code != ExitOK || p.Verdict != verdict.NotWorse || len(p.Stored) != 8 || len(p.New) != 4 {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	for i := range 4 {
		storeRun(t, 120+i, 130)
	}
	markdown := filepath.Join(t.TempDir(), "summary.md")
	o = plimsoll(t, "compare", "--baseline", filepath.Dir(archive), "latest:4", "--markdown", markdown)
	o.want(t, ExitThreshold, "worse than the baseline: mean latency +")
	if !fileExists(markdown) || strings.Count(o.stdout, "\n") > 25 {
		t.Errorf("want a summary, and one screen:\n%s", o.stdout)
	}
	plimsoll(t, "compare", "--baseline", archive).want(t, ExitThreshold,
		"1 new run against 8 stored cannot show a difference", "hint: ")
	plimsoll(t, "compare", "--baseline", archive, "latest:99").want(t, ExitUsage, "16 runs are stored")
	plimsoll(t, "report", archive).want(t, ExitUsage, "8 runs: at most 4 fit side by side")
}
