package fill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/test/thorough"
)

// killedVariable has the connection string of the database that a process of a test is to fill until it is killed,
// killedAtVariable how much of the documents it makes until then.
const (
	killedVariable   = "PLIMSOLL_FILL_UNTIL_KILLED"
	killedAtVariable = "PLIMSOLL_FILL_KILLED_AT"
)

func TestMain(m *testing.M) {
	if !thorough.Asked() {
		fill.Divide()
	}
	if dsn := os.Getenv(killedVariable); dsn != "" {
		fillUntilKilled(dsn, os.Getenv(killedAtVariable))
	}
	databasetest.Main(m)
}

var small = fill.Options{
	Items: 30, Warehouses: 6, Counterparties: 8, Users: 6, Organisations: 2, Documents: 600, Seed: 7,
	Until: time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC),
}

func filled(t *testing.T, options fill.Options) (*databasetest.Test, fill.Summary) {
	db := schematest.Open(t)
	summary, err := fill.Run(t.Context(), db.Database, options)
	if err != nil {
		t.Fatal(err)
	}
	return db, summary
}

// copied is a copy of the small base, which is filled once for all tests that only look at one.
func copied(t *testing.T) *databasetest.Test {
	t.Helper()
	return schematest.Copy(t, "small", func(db *database.Database) error {
		_, err := fill.Run(context.Background(), db, small)
		return err
	})
}

// tables that a fill writes.
var tables = func() (names []string) {
	for _, table := range schema.Tables(erp.Metadata()) {
		names = append(names, table.Name)
	}
	return names
}()

// digest of all rows of a table, whatever their order.
func digest(t *testing.T, db *databasetest.Test, query string) string {
	return db.Value(t, "SELECT coalesce(md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))), '') FROM ("+query+
		") r")
}

func TestTheSameOptionsMakeTheSameBase(t *testing.T) {
	first := copied(t)
	second, summary := filled(t, small)
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
	documents := 0
	for _, meta := range erp.Metadata().Documents {
		some := first.Count(t, "SELECT count(*) FROM "+meta.Table())
		if documents += some; some == 0 && meta.Name != books.MonthClose { // a month is closed separately
			t.Errorf("there is no %s", meta.Name)
		}
	}
	if documents != summary.Documents || summary.Documents < small.Documents {
		t.Errorf("%d documents, the summary says %+v", documents, summary)
	}
	if got := first.Value(t, "SELECT count(DISTINCT o) FROM (SELECT organisation o FROM cat_users UNION ALL SELECT "+
		"organisation FROM cat_warehouses) x"); got != "2" {
		t.Errorf("%s organisations have something", got)
	}
	erptest.Clean(t, first.Database)
}

func TestFillRefuses(t *testing.T) {
	t.Run("ADatabaseThatIsNotEmpty", func(t *testing.T) {
		db := copied(t)
		before := digest(t, db, "TABLE acc_stock")
		_, err := fill.Run(t.Context(), db.Database, small)
		if !errors.Is(err, fill.ErrNotEmpty) || problem.ClassOf(err) != problem.Usage ||
			digest(t, db, "TABLE acc_stock") != before {
			t.Errorf("got %v", err)
		}
	})
	t.Run("AnOrganisationWithoutAWarehouse", func(t *testing.T) {
		options := small
		options.Warehouses = 1
		if _, err := fill.Run(t.Context(), schematest.Open(t).Database,
			options); problem.ClassOf(err) != problem.Usage {
			t.Errorf("got %v", err)
		}
	})
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

// The counts are those of claim C02, in the database and not only in the plan.
func TestScaleKeepsTheProportions(t *testing.T) {
	db, _ := filled(t, fill.Options{Scale: 0.001, Seed: 1, Until: small.Until})
	for table, want := range map[string]int{
		"cat_contracts": 28_000, "cat_counterparties": 2_500, "cat_fixed_assets": 1_000, "cat_employees": 700,
		"cat_partners": 90, "cat_items": 80, "cat_users": 25,
		"cat_warehouses": 4, "cat_departments": 2, "cat_organisations": 1,
		"doc_settlement_registrar": 1_622, "doc_payment_request": 1_068, "doc_bank_payment": 1_067,
		"doc_supplier_order": 779, "doc_goods_receipt": 778, "doc_customer_order": 724,
		"doc_bank_receipt": 537, "doc_warehouse_issue_order": 339, "doc_goods_sale": 334,
		"doc_warehouse_receipt_order": 286, "doc_service_purchase": 207, "doc_internal_consumption": 158,
		"doc_other_goods_receipt": 137, "doc_service_sale": 136, "doc_asset_commissioning": 129,
		"doc_invoice_issued": 567, "doc_invoice_received": 1_028,
	} {
		if got := db.Value(t, "SELECT count(*) FROM "+table); got != fmt.Sprint(want) {
			t.Errorf("%s has %s rows, %d wanted", table, got, want)
		}
	}
	report, err := fill.Check(t.Context(), db.Database, fill.Options{Streams: 2})
	if err != nil || !report.Clean() {
		t.Errorf("%+v, %v", report, err)
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_fill_unit WHERE organisation = 0 AND part < 0"); got == "1" {
		t.Error("all catalogs of an organisation are one unit")
	}
	for what, query := range map[string]string{
		"sales without an invoice": "SELECT count(*) FROM (SELECT id FROM doc_goods_sale UNION ALL SELECT id " +
			"FROM doc_service_sale EXCEPT SELECT basis FROM doc_invoice_issued) s",
		"purchases without an invoice": "SELECT count(*) FROM (SELECT id FROM doc_goods_receipt UNION ALL SELECT " +
			"id FROM doc_service_purchase EXCEPT SELECT basis FROM doc_invoice_received) s",
	} { // those of the last days
		if got := db.Value(t, query); len(got) > 2 {
			t.Errorf("%s %s", got, what)
		}
	}
	for table, least := range map[string]int{"doc_invoice_issued": 5, "doc_invoice_received": 2} {
		if off := db.Count(t, "SELECT count(*) FROM "+table+" WHERE set_off > 0"); off < least {
			t.Errorf("%d of %s set an advance off", off, table)
		}
	}
	hot := db.Value(t, "SELECT max(n) > 3 * avg(n) FROM (SELECT count(*) AS n FROM doc_goods_receipt_lines GROUP "+
		"BY item) s")
	if hot != "true" {
		t.Error("no item is hot")
	}
	erptest.Clean(t, db.Database)
}

// Trade alone is as dense as it can be: claim C31 restores the batches of all these sales.
func TestTradeIsOfReceiptsAndSalesAlone(t *testing.T) {
	db, _ := filled(t, fill.Options{Items: 1000, Documents: 1000, Trade: true, Seed: 3, Until: small.Until})
	for _, meta := range erp.Metadata().Documents {
		want := map[string]string{books.GoodsSale: "800", books.GoodsReceipt: "200"}[meta.Name]
		if want == "" {
			want = "0"
		}
		if got := db.Value(t, "SELECT count(*) FROM "+meta.Table()+
			" WHERE comment <> 'Ввод начальных остатков'"); got != want {
			t.Errorf("%s %s, %s wanted", got, meta.Name, want)
		}
	}
	if lines := db.Count(t, "SELECT count(*) FROM doc_goods_sale_lines"); lines < 6*800 {
		t.Errorf("%d lines of sales: too few to be of any weight", lines)
	}
	erptest.Clean(t, db.Database)
}

// A row that is lost, changed or doubled is found, and documents that came later are not taken for damage.
func TestCheckFindsWhatIsNotAsItWasWritten(t *testing.T) {
	for _, damage := range []string{
		"DELETE FROM acc_stock WHERE (recorder, line) = (SELECT recorder, line FROM acc_stock LIMIT 1)",
		"UPDATE cat_items SET price = price + 0.01 WHERE id = (SELECT id FROM cat_items LIMIT 1)",
		"UPDATE gl_general SET period = period + interval '1 microsecond' WHERE (recorder, line) = (SELECT " +
			"recorder, line FROM gl_general LIMIT 1)",
		"INSERT INTO doc_goods_sale_lines SELECT document, line + 100, organisation, item, quantity, price, " +
			"amount, vat_rate, vat, cost FROM doc_goods_sale_lines LIMIT 1",
	} {
		t.Run(strings.Fields(damage)[0]+strings.Fields(damage)[2], func(t *testing.T) {
			db := copied(t)
			before, err := fill.Check(t.Context(), db.Database, fill.Options{Streams: 2})
			if err != nil || !before.Clean() || before.Later != 0 {
				t.Fatalf("%+v, %v", before, err)
			}
			db.Exec(t, damage)
			after, err := fill.Check(t.Context(), db.Database, fill.Options{})
			if err != nil || len(after.Differences) != 1 || after.Digest == before.Digest {
				t.Errorf("%+v, %v", after, err)
			}
		})
	}
}

func TestRawCopyLeavesNothing(t *testing.T) {
	db, summary := filled(t, small)
	raw, err := fill.RawCopy(t.Context(), db.Database, t.TempDir(), fill.Options{Streams: 2})
	if err != nil {
		t.Fatal(err)
	}
	paces, err := fill.PacesOf(t.Context(), db.Database)
	if err != nil || raw.Plain.Rows < summary.Rows || raw.Indexed.Rows != raw.Plain.Rows ||
		raw.Built.Elapsed < raw.Plain.Elapsed || paces.Whole.Elapsed < paces.Indexed.Elapsed ||
		paces.Indexed.Elapsed < paces.Loading.Elapsed || paces.Loading.Rows != summary.Rows {
		t.Errorf("%+v, fill %+v, %v", raw, paces, err)
	}
	if got := db.Value(t, "SELECT count(*) FROM pg_namespace WHERE nspname = 'plimsoll_raw'"); got != "0" {
		t.Error("the schema is still there")
	}
}
