package rewriting

import (
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/test/thorough"
)

// Real workers and a real server are killed; what is half-done is named and ended.
func TestGroups_AreFoundAfterRealKills(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("it fills a base and kills servers: make test-full")
	}
	serve := sitetest.Program(t)
	clusters := cluster.Open(clustertest.State(t))
	for _, e := range Experiments() {
		if e.Claim != "C26" {
			continue
		}
		f, err := e.Run(t.Context(), site.Bench{Clusters: clusters, Engine: clustertest.Engine(), Serve: serve,
			Repetitions: 4})
		if err != nil {
			t.Fatal(err)
		}
		if f.Verdict == claims.Refuted { // how many are hit is chance
			t.Errorf("%s: %s %+v", f.Verdict, f.Measured, f.Figures)
		}
		t.Log(f.Measured)
	}
}
