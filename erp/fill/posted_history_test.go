package fill_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/server"
)

// The same documents, posted one by one through the API, make the same books.
func TestTheHistoryIsWhatPostingWouldHaveMade(t *testing.T) {
	made := copied(t)
	posted := schematest.Open(t)
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
