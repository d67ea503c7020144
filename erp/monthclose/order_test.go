package monthclose_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/client"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/erp/restoration"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/shape"
)

// Costs follow the order of time in books that were filled, written in by each shape with late documents, restored and
// closed; and what is moved out of that order is found there, and named.
func TestCostsAreInOrderWhateverWroteThem(t *testing.T) {
	for i, name := range shape.Names {
		t.Run(string(name), func(t *testing.T) {
			db := copied(t, "costs", fill.Options{Items: 20, Warehouses: 2, Counterparties: 8, Users: 4,
				Organisations: 1, Documents: 200, Seed: 5})
			if i == 0 { // all are copies
				ordered(t, db, false)
			}
			trade(t, erptest.Serve(t, db.Database, erptest.Shaped(t, name, shape.Tweaks{})))
			if db.Value(t, "SELECT EXISTS (SELECT FROM acc_batches_boundary)") != "true" {
				t.Fatal("no document came late")
			}
			w := backgroundtest.Start(t, db.DSN, 2)
			arguments := `{}`
			if name == shape.Classic {
				arguments = `{"classic": true}`
			}
			w.Do(t, restoration.Kind, arguments)
			now := time.Now().UTC()
			last := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -1, 0)
			close(t, w, `{"month": "`+last.Format("2006-01")+`", "through": true}`)
			if db.Value(t, "SELECT EXISTS (SELECT FROM doc_month_close WHERE posted)") != "true" {
				t.Error("no month was closed")
			}
			ordered(t, db, true)
			planted(t, db)
		})
	}
}

// trade posts receipts and sales, half of them late.
func trade(t *testing.T, base string) {
	t.Helper()
	c := client.New(client.Options{Transport: http.DefaultTransport, BackdatedShare: 0.5, BackdatedDays: 30})
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	session, err := c.Login(context.Background(), base, client.UserCode(1))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		operation := [...]string{"goods_receipt.post", "goods_sale.post"}[i%2]
		if outcome, err := c.Do(context.Background(), session, operation, rng); outcome > client.Refused {
			t.Fatalf("%s: %v, %v", operation, outcome, err)
		}
	}
}

// ordered wants clean books, and costs in order: all of them, unless some wait to be restored.
func ordered(t *testing.T, db *databasetest.Test, whole bool) {
	t.Helper()
	erptest.Clean(t, db.Database)
	if c := order(t, db); c.Checked == 0 || c.Violations != 0 || whole && c.Underivable != 0 {
		t.Errorf("check %+v, want something checked and nothing wrong", c)
	}
}

func order(t *testing.T, db *databasetest.Test) audit.Check {
	t.Helper()
	report, err := audit.Run(t.Context(), db.Database)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Invariant == "batches.order" {
			return c
		}
	}
	t.Fatal("nobody looks at the order of costs")
	return audit.Check{}
}

// planted has the first goods that were taken come from another layer of the same goods.
func planted(t *testing.T, db *databasetest.Test) {
	t.Helper()
	const layers = `acc_batches r WHERE NOT r.expense AND (r.organisation, r.warehouse, r.item) =
		(e.organisation, e.warehouse, e.item) AND (r.recorder, r.line) <> (e.receipt, e.receipt_line)`
	taken := db.Value(t, "SELECT e.recorder || ' ' || e.line FROM acc_batches e WHERE e.expense AND EXISTS "+
		"(SELECT FROM "+layers+") ORDER BY e.period, e.recorder, e.line LIMIT 1")
	recorder, line, _ := strings.Cut(taken, " ")
	db.Exec(t, "UPDATE acc_batches e SET (receipt, receipt_line) = (SELECT r.recorder, r.line FROM "+layers+
		" ORDER BY r.period DESC, r.recorder, r.line LIMIT 1) WHERE e.recorder = '"+recorder+"' AND e.line = "+line)
	if c := order(t, db); c.Violations == 0 || !strings.HasSuffix(c.Examples[0].Subject, recorder) ||
		c.Examples[0].Field != "batches "+line+".receipt" {
		t.Errorf("the layer of %s was swapped: %+v", taken, c)
	}
}
