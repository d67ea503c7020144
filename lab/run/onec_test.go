package run

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/patience"
)

// A 1C load needs no workers; its totals are audited before and after.
func TestOneC_IsPlayedAndAudited(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	if _, err := onec.Fill(patience.Context(t), dsn, onec.FillOptions{Plain: true,
		Sizes: onec.Sizes{Documents: 240, Items: 40, Partners: 12, Warehouses: 8}}); err != nil {
		t.Fatal(err)
	}
	l := load.Default()
	l.Scenario, l.Users, l.Ramp, l.Duration = scenario.Of1C(), 40, 0, 4*time.Second
	l.Think = &users.Think{Mean: 300 * time.Millisecond}
	r := mustRun(t, t.Context(), Options{Load: l, LagLimit: time.Minute, Software: "test", DSN: dsn})
	if len(resulttest.Against(r)) > 0 || !r.Audit.Done || !r.Audit.Clean || r.Audit.Checks < 10 ||
		r.AuditBefore == nil {
		t.Errorf("%q, %+v, %+v", r.InvalidReasons, r.Audit, r.AuditBefore)
	}
	if r.Errors+r.Overload > 0 || r.OK < 100 || len(r.Conditions.Workers) != 0 {
		t.Errorf("%d answers, %d errors: %+v", r.OK, r.Errors, r.Operations)
	}
	if s := r.Conditions.Load.Scenario; s.Application != "1c" || s.Connections != l.Scenario.Own.Connections {
		t.Errorf("%+v", s)
	}
	clustertest.Exec(t, dsn, "UPDATE _AccumRgT78 SET _Fld74 = _Fld74 + 1")
	l.Duration = time.Second
	if r = mustRun(t, t.Context(), Options{Load: l, LagLimit: time.Minute, Software: "test", DSN: dsn,
		AuditedBefore: &result.Audit{Done: true, Clean: true}}); r.Valid || r.Audit.Clean ||
		len(r.Audit.Findings) == 0 {
		t.Errorf("wrong totals are taken for right: %+v", r.Audit)
	}
}
