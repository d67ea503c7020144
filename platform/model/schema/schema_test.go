package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func first() *metadata.Application {
	return &metadata.Application{
		Name: "test", Version: 1,
		Catalogs: []metadata.Catalog{{Name: "things",
			Attributes: []metadata.Attribute{{Name: "size", Type: metadata.Text, Length: 10}}}},
	}
}

// second adds an attribute of every type, a catalog, a document and registers.
func second() *metadata.Application {
	app := first()
	app.Version = 2
	thing := metadata.Attribute{Name: "thing", Type: metadata.Reference, Catalog: "things"}
	app.Catalogs[0].Attributes = append(app.Catalogs[0].Attributes, thing,
		metadata.Attribute{Name: "weight", Type: metadata.Quantity},
		metadata.Attribute{Name: "price", Type: metadata.Money},
		metadata.Attribute{Name: "level", Type: metadata.Integer},
		metadata.Attribute{Name: "good", Type: metadata.Boolean},
		metadata.Attribute{Name: "since", Type: metadata.Moment},
		metadata.Attribute{Name: "note", Type: metadata.Text, Length: 5})
	app.Catalogs = append(app.Catalogs, metadata.Catalog{Name: "places", Shared: true})
	app.Accumulation = []metadata.Accumulation{{Name: "stock", Dimensions: []metadata.Attribute{thing},
		Resources: []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity}}}}
	app.Information = []metadata.Information{{Name: "codes", Dimensions: []metadata.Attribute{thing}}}
	app.Accounting = []metadata.Accounting{{Name: "general", Splits: 2, Accounts: []metadata.Account{{Code: "1"}}}}
	app.Documents = []metadata.Document{{Name: "event", Registers: []string{"stock"},
		Sections: []metadata.Section{{Name: "lines", MaxRows: 5, Attributes: []metadata.Attribute{thing}}}}}
	return app
}

func TestMigrateBringsForwardWithoutLoss(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, first()); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, `INSERT INTO cat_things (id, organisation, code, name, size)
		SELECT gen_random_uuid(), gen_random_uuid(), 'c' || n, 'n' || n, 's' FROM generate_series(1, 100) n`)
	before := db.Value(t, "SELECT md5(string_agg(concat(id, organisation, code, name, size), ',' ORDER BY code)) "+
		"FROM cat_things")
	db.Exec(t, "DROP INDEX cat_things_name") // as if it had been added to the description

	for range 2 { // the second time there is nothing to do
		if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
			t.Fatal(err)
		}
	}
	if after := db.Value(t, "SELECT md5(string_agg(concat(id, organisation, code, name, size), ',' ORDER BY code)) "+
		"FROM cat_things"); after != before {
		t.Error("rows have changed")
	}
	if got := db.Value(t, "SELECT count(*) FROM cat_things WHERE weight = 0 AND price = 0 AND level = 0 AND NOT "+
		"good AND note = '' AND thing = '00000000-0000-0000-0000-000000000000' "+
		"AND since < '0002-01-01'"); got != "100" {
		t.Errorf("%s rows have zero values in the new columns", got)
	}
	if got := db.Value(t, "SELECT to_regclass('cat_things_name') IS NOT NULL AND to_regclass('acc_stock_totals') "+
		"IS NOT NULL AND to_regclass('doc_event_lines') IS NOT NULL"); got != "true" {
		t.Error("an index or a table is missing")
	}
	if got := db.Value(t, "SELECT version || ' ' || digest FROM plimsoll_schema"); got != "2 "+schema.Digest(second()) {
		t.Errorf("recorded %s", got)
	}
}

// A ledger of a version without analytics keeps its totals, now by none.
func TestMigrateWidensAKey(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, `ALTER TABLE gl_general_totals DROP analytic_1, DROP analytic_2, DROP analytic_3,
		ADD PRIMARY KEY (organisation, account, period, split)`)
	db.Exec(t, `ALTER TABLE gl_general DROP debit_1, DROP debit_2, DROP debit_3, DROP credit_1, DROP credit_2,
		DROP credit_3`)
	db.Exec(t, `INSERT INTO gl_general_totals (organisation, account, period, split, debit)
		SELECT gen_random_uuid(), '1', 'infinity', n, n FROM generate_series(0, 9) n`)
	db.Exec(t, `UPDATE plimsoll_schema SET platform = 2`)
	if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, "SELECT count(*) || ' ' || sum(debit) FROM gl_general_totals WHERE analytic_1 = "+
		"analytic_3 AND analytic_1 = '00000000-0000-0000-0000-000000000000'"); got != "10 45.00" {
		t.Errorf("got %s", got)
	}
	db.Exec(t, `INSERT INTO gl_general_totals (organisation, account, period, split, analytic_2)
		SELECT organisation, account, period, split, gen_random_uuid() FROM gl_general_totals`)

	narrow := second()
	narrow.Version++
	db.Exec(t, `ALTER TABLE acc_stock_totals DROP CONSTRAINT acc_stock_totals_pkey, ADD other text NOT NULL DEFAULT '',
		ADD PRIMARY KEY (organisation, thing, period, other)`)
	if err := schema.Migrate(t.Context(), db.Database, narrow); err == nil ||
		!strings.Contains(err.Error(), "no longer has other") {
		t.Errorf("got %v for a key that would be narrower", err)
	}
}

// An index that nothing reads any more would still cost each posting a page.
func TestMigrateDropsAnIndexOfMovementsThatNobodyReads(t *testing.T) {
	db := schematest.Open(t)
	indexed := func() string {
		return db.Value(t, "SELECT to_regclass('acc_stock_dimensions') IS NOT NULL")
	}
	for _, wanted := range []bool{true, false, true} {
		app := second()
		app.Accumulation[0].IndexMovements = wanted
		if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
			t.Fatal(err)
		}
		if got := indexed(); got != fmt.Sprint(wanted) {
			t.Errorf("there is an index: %s, wanted: %t", got, wanted)
		}
	}
}

// A drop that a timeout cuts off leaves an index that is not valid. A version that needs it again makes it again.
func TestMigrateMakesAnIndexAgainWhoseDropWasCutOff(t *testing.T) {
	db := schematest.Open(t)
	app := second()
	app.Accumulation[0].IndexMovements = true
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'acc_stock_dimensions'::regclass")
	app.Version++
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'acc_stock_dimensions'::regclass"); got !=
		"true" {
		t.Errorf("valid: %s", got)
	}
}

// Layers of a version that did not note their dates, nor which are open, get both.
func TestMigrateNotesTheDatesOfLayers(t *testing.T) {
	db := schematest.Open(t)
	app := first()
	app.Accumulation = []metadata.Accumulation{{
		Name: "batches", Layered: true, Resources: []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity},
			{Name: "amount", Type: metadata.Money}},
		Dimensions: []metadata.Attribute{
			{Name: "thing", Type: metadata.Reference, Catalog: "things"},
			{Name: "receipt", Type: metadata.Reference, Document: true}, {Name: "receipt_line", Type: metadata.Integer},
		},
	}}
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "ALTER TABLE acc_batches_totals DROP open, DROP brought_at") // and with open its index
	db.Exec(t, `INSERT INTO acc_batches (recorder, line, recorder_type, organisation, period, expense, thing, receipt,
		receipt_line, quantity, amount)
		SELECT r.id, l, 'test', r.id, timestamptz '2025-01-01' + l * interval '1 day', false, r.id, r.id, l, 1, 1
		FROM (SELECT gen_random_uuid() AS id) r, generate_series(1, 3) l`)
	db.Exec(t, `INSERT INTO acc_batches_totals (organisation, period, thing, receipt, receipt_line, quantity, amount)
		SELECT organisation, p, thing, receipt, receipt_line, (receipt_line > 1)::int, 0
		FROM acc_batches, unnest(ARRAY['infinity', '2025-01-01']::date[]) AS p`)
	db.Exec(t, "UPDATE plimsoll_schema SET platform = 3")
	for range 2 {
		if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
			t.Fatal(err)
		}
		got := db.Value(t, "SELECT string_agg(concat_ws(' ', period, receipt_line, brought_at::date, open), ', ' "+
			"ORDER BY period, receipt_line) FROM acc_batches_totals")
		const want = "2025-01-01 1 -infinity f, 2025-01-01 2 -infinity f, 2025-01-01 3 -infinity f, infinity 1 " +
			"2025-01-02 f, infinity 2 2025-01-03 t, infinity 3 2025-01-04 t"
		if got != want {
			t.Errorf("got %s", got)
		}
	}
	if got := db.Value(t, "SELECT pg_get_indexdef('acc_batches_totals_open'::regclass)"); !strings.HasSuffix(got,
		"(organisation, thing, brought_at, receipt, receipt_line) WHERE open") {
		t.Errorf("its index is %s", got)
	}
}

// A ledger of a version without turnovers of whole accounts gets them from its totals, once.
func TestMigrateSumsWholeAccounts(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "DROP TABLE gl_general_accounts")
	db.Exec(t, `INSERT INTO gl_general_totals (organisation, account, period, split, analytic_1, debit, credit)
		SELECT '00000000-0000-0000-0000-000000000001', '1', p, s, gen_random_uuid(), 2, 1
		FROM unnest(ARRAY['2025-01-01', '2025-02-01', 'infinity']::date[]) p, generate_series(0, 1) s,
		generate_series(1, 5)`)
	db.Exec(t, "UPDATE plimsoll_schema SET platform = 5")
	for range 2 {
		if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
			t.Fatal(err)
		}
		const want = "2025-01-01 0 10.00 5.00, 2025-01-01 1 10.00 5.00, 2025-02-01 0 10.00 5.00, 2025-02-01 1 " +
			"10.00 5.00"
		if got := db.Value(t, "SELECT string_agg(concat_ws(' ', period, split, debit, credit), ', ' ORDER BY "+
			"period, split) FROM gl_general_accounts"); got != want {
			t.Errorf("got %s", got)
		}
		db.Exec(t, "UPDATE plimsoll_schema SET platform = 5") // as if it had to be brought forward once more
	}
}

func TestMigrateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testing.T, *databasetest.Test)
		app   func() *metadata.Application
		want  string
	}{
		"ADatabaseOfANewerVersion": {nil, func() *metadata.Application { return first() }, "newer version"},
		"AnotherApplication": {nil, func() *metadata.Application { a := second(); a.Name = "other"; return a },
			`belongs to the application "test"`},
		"AnotherType": {nil, func() *metadata.Application {
			a := second()
			a.Version++
			a.Catalogs[0].Attributes[0].Type = metadata.Integer
			return a
		}, "size is text in the database and bigint here"},
		"AWrongDescription": {nil, func() *metadata.Application {
			a := second()
			a.Catalogs[0].Name = "x y"
			return a
		}, "only lower-case letters"},
		"ATableWithoutItsOwnColumn": {func(t *testing.T,
			db *databasetest.Test) {
			db.Exec(t, "ALTER TABLE cat_things DROP code CASCADE")
		}, func() *metadata.Application { a := second(); a.Version++; return a }, "column code is missing"},
		"ANewerPlatform": {func(t *testing.T, db *databasetest.Test) {
			db.Exec(t, "UPDATE plimsoll_schema SET platform = platform + 1")
		}, second, "newer version"},
	} {
		t.Run(name, func(t *testing.T) {
			db := schematest.Open(t)
			if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
				t.Fatal(err)
			}
			if c.spoil != nil {
				c.spoil(t, db)
			}
			before := db.Value(t, "SELECT string_agg(attrelid::regclass || '.' || attname, ',' ORDER BY 1) FROM "+
				"pg_attribute WHERE attrelid::regclass::text LIKE '%\\_%' AND attnum > 0 AND attrelid > 16000")
			err := schema.Migrate(t.Context(), db.Database, c.app())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want …%s…", err, c.want)
			}
			if strings.Contains(c.want, "newer") && (!errors.Is(err, schema.ErrNewer) || problem.HintOf(err) == "") {
				t.Error("the error cannot be told from others, or gives no hint")
			}
			if after := db.Value(t, "SELECT string_agg(attrelid::regclass || '.' || attname, ',' ORDER BY 1) FROM "+
				"pg_attribute WHERE attrelid::regclass::text LIKE '%\\_%' AND attnum > 0 "+
				"AND attrelid > 16000"); after != before {
				t.Error("something was changed")
			}
		})
	}
}

func TestWorkersThatStartAtOnceMigrateOnce(t *testing.T) {
	db := schematest.Open(t)
	var wait sync.WaitGroup
	for range 8 {
		other := databasetest.Connect(t, db.DSN, database.Options{Connections: 1})
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := schema.Migrate(t.Context(), other, second()); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_schema"); got != "1" {
		t.Errorf("%s versions", got)
	}
}
