package fill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/metadata"
	"plimsoll/platform/problem"
	"plimsoll/platform/schema"
	"plimsoll/platform/server"
	"plimsoll/test/patience"
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
	db := databasetest.Open(t)
	summary, err := fill.Run(t.Context(), db.Database, options)
	if err != nil {
		t.Fatal(err)
	}
	return db, summary
}

// copied is a copy of the small base, which is filled once for all tests that only look at one.
func copied(t *testing.T) *databasetest.Test {
	t.Helper()
	return databasetest.Copy(t, "small", func(db *database.Database) error {
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
	documents := 0
	for _, meta := range erp.Metadata().Documents {
		some := first.Count(t, "SELECT count(*) FROM "+meta.Table())
		if documents += some; some == 0 && meta.Name != books.MonthClose { // a month is closed by hand
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

// The same documents, posted one by one through the API, make the same books.
func TestTheHistoryIsWhatPostingWouldHaveMade(t *testing.T) {
	made := copied(t)
	posted := databasetest.Open(t)
	options := small
	options.Documents = -1
	if _, err := fill.Run(t.Context(), posted.Database, options); err != nil { // for its catalogs: the seed is the same
		t.Fatal(err)
	}
	posted.Exec(t, "TRUNCATE plimsoll_number, "+strings.Join(erptest.Books(), ", "))
	base := erptest.Serve(t, databasetest.Connect(t, posted.DSN, database.Options{}), server.Config{})
	users, became := map[string]*erptest.User{}, []string(nil)
	for _, d := range documents(t, made) {
		if users[d.author] == nil {
			users[d.author] = erptest.Login(t, base, d.author)
		}
		a := users[d.author].Call(t, "POST", "/v1/documents/"+strings.ReplaceAll(d.kind, "_", "-"), "",
			[]byte(strings.NewReplacer(became...).Replace(d.body)))
		if a.Status != 201 {
			t.Fatalf("%s: %d %s", d.body, a.Status, a.Body)
		}
		became = append(became, d.id, a.ID.String())
	}
	for _, table := range tables {
		if got, want := digest(t, posted, rowsOf(t, posted, table)),
			digest(t, made, rowsOf(t, made, table)); got != want {
			t.Errorf("%s differs", table)
		}
	}
	erptest.Clean(t, posted.Database)
}

// rowsOf a table without the ids of documents, which differ, the splits of the ledger, and what tells nothing of the
// books.
func rowsOf(t *testing.T, db *databasetest.Test, table string) string {
	switch {
	case strings.HasPrefix(table, "plimsoll_"):
		return "SELECT 1"
	case table == "gl_general_totals":
		return "SELECT organisation, account, analytic_1, analytic_2, analytic_3, period, sum(debit), sum(credit) " +
			"FROM gl_general_totals GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(debit) <> 0 OR sum(credit) <> 0"
	case table == "gl_general_accounts":
		return "SELECT organisation, account, period, sum(debit), sum(credit) FROM gl_general_accounts GROUP BY 1, " +
			"2, 3 HAVING sum(debit) <> 0 OR sum(credit) <> 0"
	}
	own := []string{"id", "recorder", "document"}
	if strings.HasPrefix(table, "cat_") {
		own = nil
	}
	for _, meta := range erp.Metadata().Documents {
		for _, a := range meta.Attributes {
			if a.Documents != nil {
				own = append(own, a.Name)
			}
		}
	}
	own = append(own, "receipt", "basis", "object", "request", "payment")
	where := ""
	if strings.HasSuffix(table, "_totals") { // those at zero need not be there
		where = db.Value(t, "SELECT ' WHERE (' || string_agg(attname || ' <> 0', ' OR ') || ')' FROM pg_attribute "+
			"WHERE attrelid = $1::regclass AND atttypid = 'numeric'::regtype", table)
	}
	return db.Value(t, "SELECT 'SELECT ' || string_agg(attname, ', ') FROM pg_attribute WHERE attrelid = "+
		"$1::regclass AND attnum > 0 AND attname <> ALL ($2::text[])", table, own) + " FROM " + table + where
}

type request struct {
	kind, id, author, body string
	date                   time.Time
}

// documents of a base as requests, in the order of time.
func documents(t *testing.T, db *databasetest.Test) (requests []request) {
	app := erp.Metadata()
	err := db.Read(t.Context(), func(w *database.Work) error {
		for _, meta := range app.Documents {
			body := "jsonb_build_object('date', d.date, 'comment', d.comment" + given("d", meta.Attributes)
			for i := range meta.Sections {
				s := &meta.Sections[i]
				body += fmt.Sprintf(", '%s', (SELECT jsonb_agg(jsonb_build_object('line', 0%s) - 'line' ORDER BY "+
					"s.line) FROM %s s WHERE s.document = d.id)",
					s.Name, given("s", s.Attributes), meta.SectionTable(s))
			}
			w.Queue("documents", "SELECT d.id::text, u.code, d.date, "+body+")::text FROM "+meta.Table()+
				" d JOIN cat_users u ON u.id = d.author").Rows(func(r pgx.Rows) error {
				d := request{kind: meta.Name}
				err := r.Scan(&d.id, &d.author, &d.date, &d.body)
				requests = append(requests, d)
				return err
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(requests, func(a, b request) int { return a.date.Compare(b.date) })
	return requests
}

// given are the attributes that a request has, as their JSON is: decimals are strings.
func given(table string, attributes []metadata.Attribute) (fields string) {
	for _, a := range attributes {
		value := table + "." + a.Name
		if a.Type == metadata.Quantity || a.Type == metadata.Money {
			value += "::text"
		}
		if !a.Computed {
			fields += fmt.Sprintf(", '%s', %s", a.Name, value)
		}
	}
	return fields
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
		if _, err := fill.Run(t.Context(), databasetest.Open(t).Database,
			options); problem.ClassOf(err) != problem.Usage {
			t.Errorf("got %v", err)
		}
	})
}

// A process is killed while it fills; what it has done stays, the rest comes, and the base is the one that a fill in
// one go makes.
func TestAKilledFillGoesOn(t *testing.T) {
	whole, _ := filled(t, killed)
	db := databasetest.Open(t)
	for _, at := range []string{"0.3", "0.55", "0.8"} {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), killedVariable+"="+db.DSN, killedAtVariable+"="+at)
		if out, err := command.CombinedOutput(); err == nil || command.ProcessState.ExitCode() != -1 {
			t.Fatalf("it was to be killed: %v\n%s", err, out)
		}
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_fill WHERE finished IS NULL"); got != "1" {
		t.Fatal("the journal does not say that it is unfinished")
	}
	if err := fill.Finished(t.Context(), db.Database); !errors.Is(err, fill.ErrUnfinished) ||
		problem.ClassOf(err) != problem.Usage {
		t.Errorf("got %v", err)
	}
	half := db.Value(t, "SELECT count(*) FROM plimsoll_fill_unit")
	db.Exec(t, "CREATE TABLE plimsoll_half AS SELECT organisation, count(*) AS parts FROM plimsoll_fill_unit "+
		"WHERE part >= 0 GROUP BY organisation")
	other := killed
	other.Seed++
	if _, err := fill.Run(t.Context(), db.Database, other); !errors.Is(err, fill.ErrUnfinished) ||
		problem.HintOf(err) == "" {
		t.Errorf("another fill on top: %v", err)
	}
	later := killed
	later.Until, later.Streams = time.Time{}, 4
	summary, err := fill.Run(t.Context(), db.Database, later)
	if err != nil {
		t.Fatal(err)
	}
	if half == "0" || half == db.Value(t, "SELECT count(*) FROM plimsoll_fill_unit") {
		t.Errorf("%s units were done when it was killed: nothing was gone on with", half)
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_half h WHERE parts < (SELECT count(*) "+
		"FROM plimsoll_fill_unit u WHERE u.organisation = h.organisation AND part >= 0)"); got == "0" {
		t.Error("no organisation had some of its parts and not others: nothing had to be made once more")
	}
	if err := fill.Finished(t.Context(), db.Database); err != nil {
		t.Error(err)
	}
	same(t, whole, db)
	report, err := fill.Check(t.Context(), db.Database, fill.Options{})
	if err != nil || !report.Clean() || report.Rows != summary.Rows {
		t.Errorf("%+v, %v; summary %+v", report, err, summary)
	}
	erptest.Clean(t, db.Database)
}

var killed = fill.Options{
	Items: 200, Warehouses: 9, Counterparties: 300, Users: 6, Organisations: 3, Documents: thorough.Or(16_000, 2000),
	Seed: 5, Streams: 2, Until: small.Until,
}

// fillUntilKilled kills itself without a word when it has made a share of the documents.
func fillUntilKilled(dsn, at string) {
	share, err := strconv.ParseFloat(at, 64)
	if err != nil {
		panic(err)
	}
	db, err := database.Open(context.Background(), dsn, database.Options{})
	if err != nil {
		panic(err)
	}
	options := killed
	options.Progress = func(p fill.Progress) {
		if p.Stage == "documents" && float64(p.Done) >= share*float64(p.Total) {
			process, _ := os.FindProcess(os.Getpid())
			_ = process.Kill()
			select {}
		}
	}
	_, err = fill.Run(context.Background(), db, options)
	panic(fmt.Sprint("it came to its end: ", err))
}

// same fails when two bases differ in a table, a row, an index or a key.
func same(t *testing.T, one, other *databasetest.Test) {
	t.Helper()
	for _, table := range tables {
		if digest(t, one, "TABLE "+table) != digest(t, other, "TABLE "+table) {
			t.Errorf("%s differs", table)
		}
	}
	for what, query := range map[string]string{"indexes or keys": indexes, "settings of tables": settings} {
		if one.Value(t, query) != other.Value(t, query) {
			t.Error(what + " differ")
		}
	}
}

// indexes and keys of a database, in one text.
const indexes = `SELECT string_agg(pg_get_indexdef(indexrelid) || indisprimary || indisvalid,
		';' ORDER BY indexrelid::regclass::text)
	FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE relnamespace = 'public'::regnamespace
	AND relname NOT LIKE 'plimsoll_fill%'`

// settings of tables that have any, in one text.
const settings = `SELECT string_agg(relname || reloptions::text, ';' ORDER BY relname) FROM pg_class
	WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reloptions IS NOT NULL`

// The number of streams, and whether indexes were put off, change nothing.
func TestStreamsMakeTheSameBase(t *testing.T) {
	one := killed
	one.Streams = 1
	four := killed
	four.Streams = 4
	first, _ := filled(t, one)
	second, _ := filled(t, four)
	same(t, first, second)
	if got := first.Value(t, "SELECT count(*) FILTER (WHERE organisation = 0) > count(*) FILTER (WHERE "+
		"organisation = 1) FROM plimsoll_fill_unit"); got != "true" {
		t.Error("the months of a large organisation are not cut")
	}
	plain := databasetest.Open(t)
	if err := erp.Migrate(t.Context(), plain.Database); err != nil {
		t.Fatal(err)
	}
	if first.Value(t, indexes) != plain.Value(t, indexes) || first.Value(t, settings) != plain.Value(t, settings) {
		t.Error("the indexes, or settings of tables, are not those of a base that was not filled")
	}
	if got := first.Value(t, "SELECT count(*) FROM plimsoll_fill_index"); got != "0" {
		t.Errorf("%s indexes are still missing", got)
	}
	// Pages that a COPY has added and not used are no part of it: they are empty, and nobody is told that they are
	// seen by all.
	for _, table := range tables {
		if got := first.Value(t, "SELECT count(DISTINCT (ctid::text::point)[0]) - (SELECT relallvisible FROM "+
			"pg_class WHERE oid = $1::regclass) FROM "+table, table); got[0] != '-' && got != "0" {
			t.Errorf("%s: %s pages with rows are not known to be seen by all", table, got)
		}
	}
}

func TestAStoppedFillCanBeDiscarded(t *testing.T) {
	db := databasetest.Open(t)
	ctx, stop := context.WithCancel(t.Context())
	options := killed
	options.Progress = func(p fill.Progress) {
		if p.Stage == "totals" {
			stop()
		}
	}
	if _, err := fill.Run(ctx, db.Database, options); problem.ClassOf(err) != problem.Interrupted {
		t.Fatalf("got %v", err)
	}
	patience.Until(t, "the server has noticed that the connections are gone", func() bool {
		return db.Value(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+
			"application_name = 'plimsoll fill'") == "0"
	})
	another := small
	another.Discard = true
	if _, err := fill.Run(t.Context(), db.Database, another); err != nil {
		t.Fatal(err)
	}
	same(t, copied(t), db)
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
