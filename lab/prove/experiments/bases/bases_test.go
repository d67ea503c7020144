package bases

import (
	"testing"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/experiments/sitetest"
	"plimsoll/lab/prove/loopdisk"
	"plimsoll/test/thorough"
)

// Both experiments measure all that they declare, on servers of their own, which are gone afterwards.
func TestExperiments_OnARealServer(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("it fills and restores a base: make test-full")
	}
	clusters := cluster.Open(clustertest.State(t))
	for _, e := range Experiments() {
		if e.Claim == "C38" {
			if why := loopdisk.Impossible(t.TempDir(), false); why != "" {
				t.Logf("NOT TESTED: C38 cannot be had here, because %s", why)
				continue
			}
		}
		f, err := e.Run(t.Context(), site.Bench{Clusters: clusters, Engine: clustertest.Engine(), Repetitions: 1,
			Documents: 1000, Serve: sitetest.Program(t)})
		if err != nil {
			t.Fatalf("%s: %v", e.Claim, err)
		}
		lost := 0.0
		for _, figure := range f.Figures {
			for _, v := range figure.Values {
				if figure.Name == powerCut+", "+fsyncOn+": "+baseLost {
					lost += v
				} else if figure.Unit != "" && v <= 0 {
					t.Errorf("%s: %s is %v", e.Claim, figure.Name, v)
				}
			}
		}
		if f.Verdict == claims.Confirmed || lost > 0 {
			t.Errorf("%s: %s, %v bases lost although all was flushed: %s", e.Claim, f.Verdict, lost, f.Measured)
		}
	}
	if left, err := clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
