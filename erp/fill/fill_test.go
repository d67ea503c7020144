package fill_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/problem"
	"plimsoll/platform/server"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var small = fill.Options{
	Items: 30, Warehouses: 4, Counterparties: 8, Users: 6, Organisations: 2, Documents: 60, Seed: 7,
	Until: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC),
}

func filled(t *testing.T, options fill.Options) (*databasetest.Test, fill.Summary) {
	db := databasetest.Open(t)
	summary, err := fill.Run(t.Context(), db.Database, options)
	if err != nil {
		t.Fatal(err)
	}
	return db, summary
}

var tables = []string{
	"cat_organisations", "cat_users", "cat_warehouses", "cat_counterparties", "cat_items", "doc_goods_receipt", "doc_goods_receipt_lines", "doc_goods_sale",
	"doc_goods_sale_lines", "acc_stock", "acc_stock_totals", "acc_batches", "acc_batches_totals", "acc_batches_boundary", "gl_general", "gl_general_totals", "plimsoll_number",
}

// digest of all rows of a table, whatever their order.
func digest(t *testing.T, db *databasetest.Test, query string) string {
	return db.Value(t, "SELECT coalesce(md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))), '') FROM ("+query+") r")
}

func TestTheSameOptionsMakeTheSameBase(t *testing.T) {
	first, summary := filled(t, small)
	second, _ := filled(t, small)
	other := small
	other.Seed++
	third, _ := filled(t, other)
	for _, table := range tables {
		a, b := digest(t, first, "TABLE "+table), digest(t, second, "TABLE "+table)
		if a != b {
			t.Errorf("%s differs", table)
		}
		if table == "acc_stock" && a == digest(t, third, "TABLE "+table) {
			t.Error("the seed changes nothing")
		}
	}
	if got := first.Value(t, "SELECT (SELECT count(*) FROM doc_goods_sale) + (SELECT count(*) FROM doc_goods_receipt)"); got != fmt.Sprint(summary.Documents) || summary.Documents < small.Documents {
		t.Errorf("%s documents, the summary says %+v", got, summary)
	}
	if got := first.Value(t, "SELECT count(DISTINCT o) FROM (SELECT organisation o FROM cat_users UNION ALL SELECT organisation FROM cat_warehouses) x"); got != "2" {
		t.Errorf("%s organisations have something", got)
	}
	erptest.Clean(t, first.Database)
}

// The same documents, posted one by one through the API, make the same books.
func TestTheHistoryIsWhatPostingWouldHaveMade(t *testing.T) {
	made, _ := filled(t, small)
	posted := databasetest.Open(t)
	options := small
	options.Documents = -1
	if _, err := fill.Run(t.Context(), posted.Database, options); err != nil { // for its catalogs: the seed is the same
		t.Fatal(err)
	}
	for _, table := range tables[5:] {
		posted.Exec(t, "TRUNCATE "+table)
	}
	base := erptest.Serve(t, databasetest.Connect(t, posted.DSN, database.Options{}), server.Config{})
	users := map[string]*erptest.User{}
	for _, d := range documents(t, made) {
		if users[d.author] == nil {
			users[d.author] = erptest.Login(t, base, d.author)
		}
		if a := users[d.author].Call(t, "POST", "/v1/documents/"+d.kind, "", []byte(d.body)); a.Status != 201 {
			t.Fatalf("%s: %d %s", d.body, a.Status, a.Body)
		}
	}
	for _, query := range []string{
		"TABLE acc_stock_totals",
		"SELECT organisation, account, period, sum(debit), sum(credit) FROM gl_general_totals GROUP BY 1, 2, 3",
		"SELECT line, recorder_type, organisation, period, expense, warehouse, item, quantity, amount FROM acc_stock",
		"SELECT line, recorder_type, organisation, period, expense, warehouse, item, receipt_line, quantity, amount FROM acc_batches",
		"SELECT line, recorder_type, organisation, period, debit, credit, amount FROM gl_general",
		"SELECT line, organisation, item, quantity, price, amount, vat_rate, vat, cost FROM doc_goods_sale_lines",
		"SELECT organisation, number, date, posted, warehouse, counterparty, amount, vat, total, supplier_number FROM doc_goods_receipt",
		"SELECT organisation, number, date, posted, warehouse, counterparty, amount, vat, total, cost FROM doc_goods_sale",
	} {
		if digest(t, made, query) != digest(t, posted, query) {
			t.Errorf("differs: %s", query)
		}
	}
	erptest.Clean(t, posted.Database)
}

type request struct{ kind, author, body string }

// documents of a base as requests, in the order of time.
func documents(t *testing.T, db *databasetest.Test) (requests []request) {
	const query = `SELECT kind, u.code, (jsonb_build_object('warehouse', d.warehouse, 'counterparty', d.counterparty, 'date', d.date, 'comment', d.comment, 'lines', lines) ||
	CASE WHEN kind = 'goods-sale' THEN '{}' ELSE jsonb_build_object('supplier_number', supplier_number) END)::text
FROM (SELECT 'goods-receipt' AS kind, id, author, warehouse, counterparty, date, comment, supplier_number,
	(SELECT json_agg(json_build_object('item', item, 'quantity', quantity::text) ORDER BY line) FROM doc_goods_receipt_lines WHERE document = id) AS lines FROM doc_goods_receipt
UNION ALL SELECT 'goods-sale', id, author, warehouse, counterparty, date, comment, '',
	(SELECT json_agg(json_build_object('item', item, 'quantity', quantity::text) ORDER BY line) FROM doc_goods_sale_lines WHERE document = id) FROM doc_goods_sale) d
JOIN cat_users u ON u.id = d.author ORDER BY d.date, d.id`
	err := db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("documents", query).Rows(func(r pgx.Rows) error {
			var d request
			err := r.Scan(&d.kind, &d.author, &d.body)
			requests = append(requests, d)
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

func TestFillRefuses(t *testing.T) {
	t.Run("ADatabaseThatIsNotEmpty", func(t *testing.T) {
		db, _ := filled(t, small)
		before := digest(t, db, "TABLE acc_stock")
		_, err := fill.Run(t.Context(), db.Database, small)
		if !errors.Is(err, fill.ErrNotEmpty) || problem.ClassOf(err) != problem.Usage || digest(t, db, "TABLE acc_stock") != before {
			t.Errorf("got %v", err)
		}
	})
	t.Run("AnOrganisationWithoutAWarehouse", func(t *testing.T) {
		options := small
		options.Warehouses = 1
		if _, err := fill.Run(t.Context(), databasetest.Open(t).Database, options); problem.ClassOf(err) != problem.Usage {
			t.Errorf("got %v", err)
		}
	})
}

func TestAStoppedFillLeavesNothingAndCanBeRepeated(t *testing.T) {
	db := databasetest.Open(t)
	ctx, stop := context.WithCancel(t.Context())
	options := small
	options.Progress = func(p fill.Progress) {
		if p.Stage == "totals" {
			stop()
		}
	}
	if _, err := fill.Run(ctx, db.Database, options); problem.ClassOf(err) != problem.Interrupted {
		t.Fatalf("got %v", err)
	}
	for _, table := range tables {
		if got := db.Value(t, "SELECT count(*) FROM "+table); got != "0" {
			t.Errorf("%s has %s rows", table, got)
		}
	}
	if _, err := fill.Run(t.Context(), db.Database, small); err != nil {
		t.Error(err)
	}
}

func TestProgressComesToItsEnd(t *testing.T) {
	last := map[string]fill.Progress{}
	options := small
	options.Progress = func(p fill.Progress) {
		if before := last[p.Stage]; p.Done < before.Done || p.Done > p.Total {
			t.Errorf("%+v after %+v", p, before)
		}
		last[p.Stage] = p
	}
	_, summary := filled(t, options)
	if p := last["documents"]; p.Done != p.Total || p.Done != int64(summary.Documents) {
		t.Errorf("%+v, summary %+v", p, summary)
	}
}
