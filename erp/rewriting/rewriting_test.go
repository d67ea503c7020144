package rewriting_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"plimsoll/erp/background"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/erp/recalculation"
	"plimsoll/erp/rewriting"
	"plimsoll/platform/database"
	"plimsoll/platform/database/databasetest"
	"plimsoll/platform/jobs"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// Every record set is written anew and the books are what they were, whatever the sizes, also when totals are made anew meanwhile.
func TestRewrittenBooksAreTheSame(t *testing.T) {
	db := databasetest.Open(t)
	_, err := fill.Run(t.Context(), db.Database, fill.Options{Items: 30, Warehouses: 4, Counterparties: 8, Users: 6, Organisations: 2, Documents: 200})
	if err != nil {
		t.Fatal(err)
	}
	working := databasetest.Connect(t, db.DSN, database.Options{Connections: jobs.Connections(10)})
	all, err := background.New(working, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- all.Work(ctx, 10) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	const digests = `SELECT (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_stock r) || (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_batches r)
		|| (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM gl_general r) || (SELECT md5(string_agg(md5(r::text), '' ORDER BY md5(r::text))) FROM acc_batches_totals r)`
	before := db.Value(t, digests)
	sales := db.Value(t, "SELECT count(*) FROM doc_goods_sale WHERE posted")
	for _, arguments := range []string{`{}`, `{"parts": 10, "documents": 100}`, `{"parts": 3, "documents": 20, "rows": 7, "asynchronous": true}`} {
		db.Exec(t, "DROP TABLE IF EXISTS was; CREATE TABLE was AS SELECT recorder, line, xmin::text AS by FROM acc_batches WHERE recorder_type = 'goods_sale'")
		number := submit(t, all, rewriting.Kind, arguments)
		totals := submit(t, all, recalculation.Kind, `{}`)
		job := wait(t, all, number)
		wait(t, all, totals)
		var done struct{ Documents json.Number }
		if err := json.Unmarshal(job.Result, &done); err != nil || string(done.Documents) != sales {
			t.Errorf("%s: %s of %s documents, %v", arguments, job.Result, sales, err)
		}
		if db.Value(t, digests) != before {
			t.Errorf("%s: the books are others", arguments)
		}
		if left := db.Value(t, "SELECT count(*) FROM was w JOIN acc_batches m USING (recorder, line) WHERE m.xmin::text = w.by"); left != "0" {
			t.Errorf("%s: %s movements were not written anew", arguments, left)
		}
	}
	erptest.Clean(t, db.Database)
	for kind, arguments := range map[string]string{
		rewriting.Kind: `{"type": "none"}`, recalculation.Kind: `{"registers": ["none"]}`,
	} {
		if _, _, err := all.Submit(t.Context(), kind, "", json.RawMessage(arguments)); err == nil {
			t.Errorf("%s %s is accepted", kind, arguments)
		}
	}
	if _, _, err := all.Submit(t.Context(), recalculation.Kind, "019a0000-0000-7000-8000-000000000000", nil); err == nil {
		t.Error("an organisation may recalculate the totals of all")
	}
}

func submit(t *testing.T, all *jobs.Jobs, kind, arguments string) int64 {
	t.Helper()
	number, _, err := all.Submit(t.Context(), kind, "", json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return number
}

func wait(t *testing.T, all *jobs.Jobs, number int64) jobs.Job {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		job, err := all.Show(t.Context(), "", number)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("%+v %v", job, err)
		}
		if job.State.Ended() {
			if job.State != jobs.Done {
				t.Errorf("%+v", job)
			}
			return job
		}
	}
}
