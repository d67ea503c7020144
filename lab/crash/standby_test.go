package crash_test

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/crash"
	"plimsoll/test/thorough"
)

// promoting is run with a standby that takes the primary's place.
func promoting(t *testing.T, change func(*crash.Options)) *crash.Report {
	t.Helper()
	requireCopies(t)
	return run(t, func(o *crash.Options) {
		o.Promote, o.Duration, o.Seeds = true, 500*time.Millisecond, thorough.Or(100, 4)
		change(o)
	})
}

func requireCopies(t *testing.T) {
	t.Helper()
	server, err := installation.Find(t.Context(), clustertest.Engine())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Program("pg_basebackup"); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
}

func TestPromotion_ASynchronousStandbyHasAllThatWasAcknowledged(t *testing.T) {
	if r := promoting(t, func(o *crash.Options) { o.PerLoad = 50 }); r.Broken() {
		t.Error("the power of both was cut, and the standby's disk lacks an acknowledged commit")
	}
	if !thorough.Asked() {
		return
	}
	for _, way := range []crash.Ending{crash.All, crash.Immediate, crash.Orderly} {
		if r := promoting(t, func(o *crash.Options) { o.Ending, o.Seeds = way, 30 }); r.Broken() {
			t.Errorf("%s: the standby lacks an acknowledged commit", way)
		}
	}
}

// The standby's disk is slow, and nobody waits for it: what the load acknowledges is ahead of it. A cut that loses
// nothing would mean that the test looks at the wrong server.
func TestPromotion_AnAsynchronousStandbyLoses(t *testing.T) {
	r := promoting(t, func(o *crash.Options) {
		o.Asynchronous = true
		o.FlushLatency = 20 * time.Millisecond
		o.Seeds = thorough.Or(100, 6) // each may fall right behind a flush, or keep what was not flushed
	})
	if r.Lost() == 0 {
		t.Error("nothing is lost")
	}
	if r.Broken() {
		t.Error("an asynchronous standby promises nothing, and data must be whole")
	}
}

func TestPromotion_ErpUsersGoOnAtThePromotedServer(t *testing.T) {
	if !thorough.Asked() {
		t.Skip("NOT TESTED: each promotion copies a base (make test-full)")
	}
	for _, durability := range []crash.Durability{crash.Sync, crash.DurableAck} {
		r := promoting(t, func(o *crash.Options) {
			o.Ending, o.Load, o.Durability, o.Seeds = crash.All, crash.ERP, durability, 10
		})
		if r.Broken() {
			t.Errorf("%s: an acknowledged operation is lost or done twice after a promotion", durability)
		}
	}
}
