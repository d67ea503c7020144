package rewriting_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/erp/recalculation"
	"plimsoll/erp/rewriting"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// Every record set is rewritten and the books stay the same, whatever the sizes, also while totals are recalculated.
func TestRewrittenBooksAreTheSame(t *testing.T) {
	db := schematest.Open(t)
	_, err := fill.Run(t.Context(), db.Database,
		fill.Options{Items: 30, Warehouses: 4, Counterparties: 8, Users: 6, Organisations: 2, Documents: 200})
	if err != nil {
		t.Fatal(err)
	}
	all := backgroundtest.Start(t, db.DSN, 10)
	const digests = `SELECT (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_stock r)
		|| (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_batches r)
		|| (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM gl_general r)
		|| (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_batches_totals r)`
	before := db.Value(t, digests)
	sales := db.Value(t, "SELECT count(*) FROM doc_goods_sale WHERE posted")
	rows := db.Value(t, "SELECT "+rowsOfSales(t, db)) // each deleted and inserted
	for _, arguments := range []string{`{}`, `{"parts": 10, "documents": 100}`,
		`{"parts": 3, "documents": 20, "rows": 7, "asynchronous": true}`} {
		db.Exec(t, "DROP TABLE IF EXISTS was; CREATE TABLE was AS SELECT recorder, line, xmin::text AS by FROM "+
			"acc_batches WHERE recorder_type = 'goods_sale'")
		number := all.Submit(t, rewriting.Kind, arguments)
		totals := all.Submit(t, recalculation.Kind, `{}`)
		job := all.Wait(t, number)
		if other := all.Wait(t, totals); job.State != jobs.Done || other.State != jobs.Done {
			t.Errorf("%+v, %+v", job, other)
		}
		var done struct{ Documents, Rows json.Number }
		if err := json.Unmarshal(job.Result, &done); err != nil || string(done.Documents) != sales ||
			string(done.Rows) != rows {
			t.Errorf("%s: %s of %s documents and %s rows, %v", arguments, job.Result, sales, rows, err)
		}
		onceEach(t, all, number)
		if db.Value(t, digests) != before {
			t.Errorf("%s: the books are others", arguments)
		}
		if left := db.Value(t, "SELECT count(*) FROM was w JOIN acc_batches m USING (recorder, line) WHERE "+
			"m.xmin::text = w.by"); left != "0" {
			t.Errorf("%s: %s movements were not rewritten", arguments, left)
		}
	}
	erptest.Clean(t, db.Database)
	// for a time: what is counted is whole record sets
	job := all.Do(t, rewriting.Kind, `{"parts": 2, "documents": 3, "seconds": 1, "asynchronous": true}`)
	var done struct{ Documents, Rows int64 }
	if json.Unmarshal(job.Result, &done) != nil || done.Documents == 0 || done.Rows < done.Documents {
		t.Errorf("in a second %s", job.Result)
	}
	// again and again: more than there are, however long that takes
	least, _ := strconv.ParseInt(sales, 10, 64)
	ctx, enough := context.WithCancel(patience.Context(t))
	defer enough()
	if _, err := rewriting.Job(db.Database).Work(ctx, jobs.Task{
		Arguments: []byte(`{"type": "goods_sale", "parts": 1, "documents": 3, "seconds": 3600, "asynchronous": true}`),
		Progress: func(rewritten int64) {
			if rewritten > least {
				enough()
			}
		},
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("rewriting again and again ended: %v", err)
	}
	if db.Value(t, digests) != before {
		t.Error("the books are others after rewriting again and again")
	}
	erptest.Clean(t, db.Database)
	for kind, arguments := range map[string]string{
		rewriting.Kind: `{"type": "none"}`, recalculation.Kind: `{"registers": ["none"]}`,
	} {
		if _, _, err := all.Jobs.Submit(t.Context(), kind, "", json.RawMessage(arguments)); err == nil {
			t.Errorf("%s %s is accepted", kind, arguments)
		}
	}
	if _, _, err := all.Jobs.Submit(t.Context(), recalculation.Kind, "019a0000-0000-7000-8000-000000000000",
		nil); err == nil {
		t.Error("an organisation may recalculate the totals of all")
	}
}

// rowsOfSales is an expression: what the record sets of sales hold, twice.
func rowsOfSales(t *testing.T, db *databasetest.Test) string {
	t.Helper()
	var sums []string
	for _, table := range strings.Fields(db.Value(t,
		`SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind IN ('r', 'p')
			AND (relname ^@ 'acc_' OR relname ^@ 'gl_')
		AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'recorder_type')`)) {
		sums = append(sums, "(SELECT count(*) FROM "+table+" WHERE recorder_type = '"+books.GoodsSale+"')")
	}
	return "2 * (" + strings.Join(sums, " + ") + ")"
}

func onceEach(t *testing.T, all *backgroundtest.Worker, number int64) {
	t.Helper()
	parts, err := all.Carried(t.Context(), number)
	if err != nil || len(parts) == 0 {
		t.Fatal(parts, err)
	}
	for n, p := range parts {
		if p.N != n || len(p.Workers) != 1 || !p.Done || p.Began.IsZero() || p.Ended.Before(p.Began) ||
			len(p.Result) == 0 {
			t.Errorf("part %+v, want it done once, by one worker", p)
		}
	}
}
