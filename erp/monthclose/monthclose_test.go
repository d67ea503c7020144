package monthclose_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/erp/monthclose"
	"plimsoll/erp/restoration"
	"plimsoll/lab/prove/backdated"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/jobs"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

const balanceOfSales = `SELECT coalesce(sum(credit - debit), 0) FROM gl_general_totals WHERE account = '90'
	AND period = '2025-05-01'`

// filled is a base of months until the 20th of June 2025.
func filled(t *testing.T, organisations int) *databasetest.Test {
	t.Helper()
	return copied(t, fmt.Sprintf("months of %d", organisations), fill.Options{
		Items: 30, Warehouses: 4, Counterparties: 8, Users: 6, Organisations: organisations, Documents: 150, Seed: 3,
		Until: time.Date(2025, 6, 20, 0, 0, 0, 0, time.UTC),
	})
}

// copied is a copy of a base that is filled once.
func copied(t *testing.T, name string, options fill.Options) *databasetest.Test {
	t.Helper()
	return schematest.Copy(t, name, func(db *database.Database) error {
		_, err := fill.Run(context.Background(), db, options)
		return err
	})
}

// The life of a month: not closed while costs are out of order, closed to the kopeck, found out when something comes
// later, closed again, reopened.
func TestMonth(t *testing.T) {
	db := filled(t, 2)
	w := backgroundtest.Start(t, db.DSN, 4)
	const may = `{"month": "2025-05"}`
	refused := func(arguments, why string) {
		if job := w.Wait(t, w.Submit(t, monthclose.Kind, arguments)); job.State != jobs.Failed ||
			!strings.Contains(job.Error, why) {
			t.Errorf("closed out of order: %+v", job)
		}
	}
	selling := db.Value(t, "SELECT organisation FROM doc_goods_sale WHERE date < '2025-04-01' LIMIT 1")
	refused(`{"month": "2025-04", "organisation": "`+selling+`"}`, "close it first")
	if err := backdated.Late(t.Context(), db.Database, time.Time{}); err != nil {
		t.Fatal(err)
	}
	refused(`{"month": "2025-03"}`, "restore them first")
	w.Do(t, restoration.Kind, `{}`)
	close(t, w, `{"month": "2025-03"}`)
	close(t, w, `{"month": "2025-04"}`)

	before := db.Value(t, balanceOfSales)
	closed := close(t, w, may)
	if len(closed) != 2 || !closed[0].Closed || !closed[1].Closed || closed[0].Result == 0 {
		t.Errorf("closed %+v, want both organisations, with a result", closed)
	}
	if db.Value(t, balanceOfSales) != "0.00" || before == "0.00" {
		t.Errorf("balance of 90: %s, before %s", db.Value(t, balanceOfSales), before)
	}
	erptest.Clean(t, db.Database)
	if again := close(t, w, may); again[0] != closed[0] ||
		db.Value(t, "SELECT sum(version) FROM doc_month_close") != "6" {
		t.Errorf("closed once more: %+v", again)
	}

	// an entry that nobody would make manually stands for a document that came later
	db.Exec(t, `UPDATE gl_general SET amount = amount + 5
		WHERE (recorder, line) = (SELECT recorder, line FROM gl_general
		WHERE credit = '90' AND recorder_type = 'goods_sale' AND period >= '2025-05-02' AND period < '2025-05-30'
		LIMIT 1)`)
	if !violated(t, db, "month_close.result") {
		t.Error("the audit does not see what came later")
	}
	if again := close(t, w, may); again[0].Result+again[1].Result != closed[0].Result+closed[1].Result+500 ||
		violated(t, db, "month_close.result") {
		t.Errorf("closed again: %+v", again)
	}

	if open := close(t, w, `{"month": "2025-05", "reopen": true}`); open[0].Closed || open[1].Closed {
		t.Errorf("reopened %+v, want both open", open)
	}
	if db.Value(t, "SELECT count(*) FROM gl_general WHERE recorder_type = 'month_close' "+
		"AND period >= '2025-05-01'") != "0" {
		t.Error("reopened, and still entered")
	}
	close(t, w, `{"month": "2025-04", "reopen": true}`)
	var months []string
	for _, c := range close(t, w, `{"month": "2025-05", "through": true}`) {
		months = append(months, c.Code+" "+c.Month)
	}
	// the second organisation sold nothing in April
	if got := strings.Join(months, ", "); got != "ORG001 2025-04, ORG001 2025-05, ORG002 2025-05" {
		t.Errorf("closed through May: %s", got)
	}
}

func close(t *testing.T, w *backgroundtest.Worker, arguments string) (done []monthclose.Closed) {
	t.Helper()
	if err := json.Unmarshal(w.Do(t, monthclose.Kind, arguments).Result, &done); err != nil {
		t.Fatal(err)
	}
	return done
}

func violated(t *testing.T, db *databasetest.Test, invariant string) bool {
	t.Helper()
	report, err := audit.Run(t.Context(), db.Database)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Invariant == invariant {
			return c.Violations > 0
		}
	}
	t.Fatalf("no invariant %s", invariant)
	return false
}
