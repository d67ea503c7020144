package run

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/users"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/patience"
)

func TestReconciliation(t *testing.T) {
	for _, c := range []struct {
		name string
		row  result.Reconciled
		want string // text in the only reason; empty: none
	}{
		{"Equal", result.Reconciled{What: "a", Acknowledged: 7, Found: 7}, ""},
		{"OneLost", result.Reconciled{What: "a", Acknowledged: 7, Found: 6}, "a: 7 were acknowledged"},
		{"OneTooMany", result.Reconciled{What: "a", Acknowledged: 7, Found: 8}, "the database has 8"},
		{"AllOfTheUnknown", result.Reconciled{What: "a", Acknowledged: 7, Unknown: 2, Found: 9}, ""},
		{"MoreThanTheUnknown", result.Reconciled{What: "a", Acknowledged: 7, Unknown: 2, Found: 10},
			"the outcome of 2 is unknown"},
		{"UnknownDoesNotExcuseALoss", result.Reconciled{What: "a", Acknowledged: 7, Unknown: 2, Found: 6}, "has 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v verdict
			judgeReconciliation(&v, &result.Reconciliation{Done: true, Rows: []result.Reconciled{c.row}})
			if got := strings.Join(v.reasons, "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

const countedRows = `
application = "none"
users = 10
[think]
mean = "50ms"
[operations.keep]
target = "1s"
sql = "INSERT INTO kept VALUES (1)"
count = "SELECT count(*) FROM kept"
`

// TestOwnRowsAreReconciled deletes rows after they were acknowledged.
func TestOwnRowsAreReconciled(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		valid      bool
	}{
		{"Kept", "", true},
		{"Lost", "CREATE RULE lose AS ON INSERT TO kept WHERE (SELECT count(*) FROM kept) % 10 = 3 DO INSTEAD NOTHING",
			false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ownRun(t, countedRows)
			o.DSN = clustertest.Database(t).Secret()
			conn := clustertest.Connect(t, o.DSN, "")
			if _, err := conn.Exec(t.Context(),
				"CREATE TABLE kept (n int); INSERT INTO kept VALUES (0); "+c.rule); err != nil {
				t.Fatal(err)
			}
			r := mustRun(t, t.Context(), o)
			right := !slices.Contains(r.InvalidCauses, result.ByBooks)
			if right != c.valid || (len(resulttest.Against(r)) == 0) != c.valid || r.Reconciliation == nil ||
				!r.Reconciliation.Done || r.Reconciliation.Rows[0].Acknowledged < r.OK {
				t.Errorf("valid %v, %q, %+v", r.Valid, r.InvalidReasons, r.Reconciliation)
			}
		})
	}
}

// TestLostOperationsOfTheERPAreFound deletes what the server acknowledged.
func TestLostOperationsOfTheERPAreFound(t *testing.T) {
	o := base(t)
	o.Duration = 5 * time.Second
	conn := clustertest.Connect(t, o.DSN, "")
	if _, err := conn.Exec(t.Context(), `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		DELETE FROM plimsoll_operation WHERE author = NEW.author AND key = NEW.key; RETURN NULL; END $$;
		CREATE TRIGGER lose AFTER INSERT ON plimsoll_operation FOR EACH ROW WHEN (NEW.document_type = 'goods_receipt')
		EXECUTE FUNCTION lose()`); err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, t.Context(), o)
	reasons := strings.Join(r.InvalidReasons, "\n")
	if r.Valid || !strings.Contains(reasons, "operations on goods_receipt: ") ||
		!strings.Contains(reasons, "documents goods_receipt: ") || strings.Contains(reasons, "goods_sale") {
		t.Errorf("valid %v, %q", r.Valid, r.InvalidReasons)
	}
}

// TestDamageIsDated damages books before a run, which leaves them as wrong as they were.
func TestDamageIsDated(t *testing.T) {
	o := base(t)
	conn := clustertest.Connect(t, o.DSN, "")
	if _, err := conn.Exec(t.Context(), "UPDATE doc_goods_sale SET posted = false WHERE id = (SELECT id FROM "+
		"doc_goods_sale WHERE posted ORDER BY id LIMIT 1)"); err != nil {
		t.Fatal(err)
	}
	o.Duration, o.AuditedBefore = 2*time.Second, nil
	r := mustRun(t, t.Context(), o)
	if r.Valid || r.AuditBefore == nil || !r.AuditBefore.Done || r.AuditBefore.Clean || r.Apdex != nil ||
		!strings.Contains(strings.Join(r.InvalidReasons, "\n"), "the books were wrong before the run") {
		t.Errorf("valid %v, %q, before %+v", r.Valid, r.InvalidReasons, r.AuditBefore)
	}
}

// The books of a copy are those of the base: one audit covers all.
func TestBooksThatWereAuditedAreNotAuditedBeforeTheRun(t *testing.T) {
	o := base(t)
	o.Duration = 2 * time.Second
	o.AuditedBefore = &result.Audit{Done: true, Violations: 3}
	r := mustRun(t, t.Context(), o)
	if !r.Audit.Clean || r.AuditBefore != o.AuditedBefore ||
		!strings.Contains(strings.Join(r.InvalidReasons, "\n"), "wrong before the run: 3 violations, 0 after it") {
		t.Errorf("%+v, %q", r.AuditBefore, r.InvalidReasons)
	}
}

// An operation with an answer is in the database, although every process of it was killed during the run; one without
// may be.
func TestReconciliationIsExactThoughTheDatabaseWasKilled(t *testing.T) {
	spec := clustertest.Copied(clustertest.Spec())
	spec.Unsafe = false
	c, err := cluster.Open(clustertest.State(t)).Create(t.Context(), "killed", spec)
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Start(t.Context(), cluster.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := filled(t, c.DSN(""))
	o.Think = &users.Think{Mean: 200 * time.Millisecond}
	control := &LoadControl{}
	o.Control = control
	endless(&o)
	kills, answered := make(chan struct{}, 1), atomic.Int64{}
	o.Snapshot = func(s Snapshot) {
		answered.Add(s.Page.Valid())
		if s.Phase == Steady && s.Page.Valid() > 0 {
			select {
			case kills <- struct{}{}:
			default:
			}
		}
	}
	ended := make(chan *cluster.Postmaster, 1)
	go func() {
		server := first
		defer func() {
			if err := control.End(); err != nil {
				t.Error(err)
			}
			ended <- server
		}()
		for range 2 {
			<-kills
			if err := c.Kill(context.Background()); err != nil {
				t.Error(err)
				return
			}
			_ = server.Stop(context.Background(), cluster.Immediate) // it reports that it is gone
			if server, err = c.Start(context.Background(), cluster.StartOptions{}); err != nil {
				t.Error(err)
				return
			}
			before := answered.Load()
			if !patience.Holds(func() bool { return answered.Load() > before }) {
				t.Error("nothing is answered after the kill")
				return
			}
		}
	}()
	r := mustRun(t, t.Context(), o)
	server := <-ended
	defer func() { _ = server.Stop(context.Background(), cluster.Immediate) }()
	rec := r.Reconciliation
	if rec == nil || !rec.Done {
		t.Fatalf("want a reconciliation, got %+v", rec)
	}
	var acknowledged, unknown int64
	for _, row := range rec.Rows {
		acknowledged, unknown = acknowledged+row.Acknowledged, unknown+row.Unknown
		if row.Differs() || row.ByKey == nil {
			t.Errorf("%+v, %+v", row, row.ByKey)
		}
	}
	t.Logf("%d acknowledged, %d unknown", acknowledged, unknown)
	if acknowledged == 0 || !r.Audit.Clean {
		t.Errorf("%d acknowledged, audit %+v", acknowledged, r.Audit)
	}
	if !strings.Contains(strings.Join(r.InvalidReasons, "\n"), "restarted in mid-run") {
		t.Errorf("want the restart among the reasons, got %q", r.InvalidReasons)
	}
}
