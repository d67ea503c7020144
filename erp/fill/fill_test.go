package fill_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/metadata"
	"plimsoll/platform/problem"
	"plimsoll/platform/schema"
	"plimsoll/platform/server"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

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

// tables that a fill writes.
var tables = func() (names []string) {
	for _, table := range schema.Tables(erp.Metadata()) {
		names = append(names, table.Name)
	}
	return names
}()

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
	documents := 0
	for _, meta := range erp.Metadata().Documents {
		var some int
		fmt.Sscan(first.Value(t, "SELECT count(*) FROM "+meta.Table()), &some)
		if documents += some; some == 0 && meta.Name != erp.MonthClose { // a month is closed by hand
			t.Errorf("there is no %s", meta.Name)
		}
	}
	if documents != summary.Documents || summary.Documents < small.Documents {
		t.Errorf("%d documents, the summary says %+v", documents, summary)
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
	posted.Exec(t, "TRUNCATE plimsoll_number, "+strings.Join(erptest.Books(), ", "))
	base := erptest.Serve(t, databasetest.Connect(t, posted.DSN, database.Options{}), server.Config{})
	users, became := map[string]*erptest.User{}, []string(nil)
	for _, d := range documents(t, made) {
		if users[d.author] == nil {
			users[d.author] = erptest.Login(t, base, d.author)
		}
		a := users[d.author].Call(t, "POST", "/v1/documents/"+strings.ReplaceAll(d.kind, "_", "-"), "", []byte(strings.NewReplacer(became...).Replace(d.body)))
		if a.Status != 201 {
			t.Fatalf("%s: %d %s", d.body, a.Status, a.Body)
		}
		became = append(became, d.id, a.ID.String())
	}
	for _, table := range tables {
		if got, want := digest(t, posted, rowsOf(t, posted, table)), digest(t, made, rowsOf(t, made, table)); got != want {
			t.Errorf("%s differs", table)
		}
	}
	erptest.Clean(t, posted.Database)
}

// rowsOf a table without the ids of documents, which differ, the splits of the ledger, and what tells nothing of the books.
func rowsOf(t *testing.T, db *databasetest.Test, table string) string {
	switch {
	case strings.HasPrefix(table, "plimsoll_"):
		return "SELECT 1"
	case table == "gl_general_totals":
		return "SELECT organisation, account, analytic_1, analytic_2, analytic_3, period, sum(debit), sum(credit) FROM gl_general_totals GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(debit) <> 0 OR sum(credit) <> 0"
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
	own = append(own, "receipt", "basis", "object", "request")
	where := ""
	if strings.HasSuffix(table, "_totals") { // those at zero need not be there
		where = db.Value(t, "SELECT ' WHERE (' || string_agg(attname || ' <> 0', ' OR ') || ')' FROM pg_attribute WHERE attrelid = $1::regclass AND atttypid = 'numeric'::regtype", table)
	}
	return db.Value(t, "SELECT 'SELECT ' || string_agg(attname, ', ') FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attname <> ALL ($2::text[])", table, own) + " FROM " + table + where
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
				body += fmt.Sprintf(", '%s', (SELECT jsonb_agg(jsonb_build_object('line', 0%s) - 'line' ORDER BY s.line) FROM %s s WHERE s.document = d.id)",
					s.Name, given("s", s.Attributes), meta.SectionTable(s))
			}
			w.Queue("documents", "SELECT d.id::text, u.code, d.date, "+body+")::text FROM "+meta.Table()+" d JOIN cat_users u ON u.id = d.author").Rows(func(r pgx.Rows) error {
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
