package monthclose_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"plimsoll/erp/background"
	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/erptest"
	"plimsoll/erp/monthclose"
	"plimsoll/platform/books/group"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
)

// Months of which only some could be closed are half-done: the audit names them, nobody starts over, and they are
// undone or finished, each month once.
func TestHalfOfTheMonths(t *testing.T) {
	db := filled(t, 1)
	w := backgroundtest.Start(t, db.DSN, 2)
	const through = `{"month": "2025-05", "through": true}`
	const sales = "SELECT string_agg(period || ' ' || sum, ', ' ORDER BY period) FROM (SELECT period, " +
		"sum(debit - credit) FROM gl_general_totals WHERE account = '90' GROUP BY period) s WHERE sum <> 0"
	before := db.Value(t, sales)
	outOfOrder := func() {
		db.Exec(t, `INSERT INTO acc_batches_boundary (organisation, warehouse, item, moment)
			SELECT organisation, warehouse, item, '2025-05-01' FROM acc_batches LIMIT 1`)
	}
	half := func() id.ID {
		t.Helper()
		outOfOrder()
		job := w.Wait(t, w.Submit(t, monthclose.Kind, through))
		if job.State != jobs.Failed || !strings.Contains(job.Error, "plimsoll groups") {
			t.Errorf("job %+v, want it failed, with the command to go on", job)
		}
		if !violated(t, db, "groups.whole") {
			t.Error("the audit does not see it")
		}
		left, err := group.Left(t.Context(), db.Database)
		if err != nil || len(left) != 1 || left[0].Done == 0 || left[0].Done == left[0].Planned {
			t.Fatalf("%+v, %v", left, err)
		}
		return left[0].ID
	}

	v := half()
	job := w.Wait(t, w.Submit(t, monthclose.Kind, `{"month": "2025-03", "reopen": true}`))
	if job.State != jobs.Failed || !strings.Contains(job.Error, "is half-done") {
		t.Errorf("another one began: %+v", job)
	}
	db.Exec(t, "DELETE FROM acc_batches_boundary")
	// it was refused: a user must decide
	if err := background.Recover(t.Context(), db.Database, w.Jobs, slog.New(slog.DiscardHandler)); err != nil ||
		!violated(t, db, "groups.whole") {
		t.Errorf("recovered: %v", err)
	}
	// Had the worker been killed, its part would be in the queue, and close the months again. The part may be one that
	// went on with the group, and younger than it.
	const queued = "SELECT count(*) FROM river.river_job WHERE kind = 'part' AND state = 'scheduled'"
	const enqueue = `UPDATE river.river_job SET state = 'scheduled', finalized_at = NULL,
		scheduled_at = '2100-01-01', created_at = now()
		WHERE kind = 'part' AND args->'arguments'->>'through' = 'true'`
	db.Exec(t, enqueue)
	if err := w.Drop(t.Context(), monthclose.Kind, "organisation", id.New().String(), time.Now()); err != nil ||
		db.Value(t, queued) != "1" {
		t.Errorf("another organisation's part: %s, %v", db.Value(t, queued), err)
	}
	if g, err := background.Undo(t.Context(), db.Database, w.Jobs, v); err != nil || g.State != group.Undone ||
		db.Value(t, queued) != "0" {
		t.Errorf("%+v, %s parts are queued, %v", g, db.Value(t, queued), err)
	}
	if db.Value(t, "SELECT count(*) FROM doc_month_close WHERE posted") != "0" || db.Value(t, sales) != before {
		t.Error("something of it is left")
	}
	erptest.Clean(t, db.Database)

	// An undo that was killed goes on at the next start, and drops the part as well.
	half()
	db.Exec(t, "DELETE FROM acc_batches_boundary")
	db.Exec(t, enqueue)
	db.Exec(t, "UPDATE plimsoll_group SET state = 'undoing', why = '' WHERE state = 'doing'")
	if err := background.Recover(t.Context(), db.Database, w.Jobs, slog.New(slog.DiscardHandler)); err != nil ||
		db.Value(t, queued) != "0" || db.Value(t, "SELECT count(*) FROM doc_month_close WHERE posted") != "0" {
		t.Errorf("%s parts are queued, %v", db.Value(t, queued), err)
	}

	half()
	db.Exec(t, "DELETE FROM acc_batches_boundary")
	closed := close(t, w, through)
	if len(closed) < 1 || db.Value(t, "SELECT count(*) FROM doc_month_close WHERE NOT posted") != "0" ||
		db.Value(t, "SELECT count(DISTINCT date) - count(*) FROM doc_month_close") != "0" {
		t.Errorf("closed %+v, want every month posted once", closed)
	}
	if again := close(t, w, through); len(again) != 1 || db.Value(t,
		"SELECT string_agg(DISTINCT state, ' ' ORDER BY state) FROM plimsoll_group") != "undone whole" {
		t.Errorf("closed once more: %+v", again)
	}
	erptest.Clean(t, db.Database)
}
