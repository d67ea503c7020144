package loss

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/audit/damage"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/run/worker/workertest"
	"plimsoll/test/thorough"
)

// The damages of the experiment are of the right kind, and need nothing that only the books of tests have.
func TestDamages_AreThoseThatABaseCanHave(t *testing.T) {
	for backup, names := range map[bool][]string{false: staleRegisters, true: lostDocuments} {
		for _, name := range names {
			d, is := damage.All[name]
			if !is || damage.BackupOnly(name) != backup {
				t.Errorf("%s: known %v, for a backup alone %v", name, is, !backup)
			}
			if left := strings.NewReplacer("{id}", "", "{type}", "").Replace(d.SQL); strings.Contains(left, "{") {
				t.Errorf("%s needs more than a document: %s", name, d.SQL)
			}
		}
	}
}

// The small forms measure on servers of their own, which are gone afterwards; what must not be lost is not.
func TestExperiments_OnARealServer(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: it fills bases, cuts power and stops servers (make test-full)")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	clusters := cluster.Open(clustertest.State(t))
	for _, e := range Experiments() {
		f, err := e.Run(t.Context(), site.Bench{Clusters: clusters, Engine: clustertest.Engine(),
			Serve: workertest.Command(), Repetitions: 1, Duration: time.Second})
		if err != nil {
			t.Fatalf("%s: %v", e.Claim, err)
		}
		t.Logf("%s: %s: %s", e.Claim, f.Verdict, f.Measured)
		if f.Verdict != claims.Inconclusive {
			t.Errorf("%s: %s below its scale", e.Claim, f.Verdict)
		}
	}
	if left, err := clusters.List(); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
