package monthclose_test

import (
	"log/slog"
	"testing"

	"plimsoll/erp/background"
	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/erptest"
	"plimsoll/erp/monthclose"
	"plimsoll/platform/books/group"
	"plimsoll/platform/books/group/grouptest"
	"plimsoll/platform/worker/jobs"
)

// A job that is cancelled in the queue leaves nothing in the books. One that is cancelled while it runs leaves whole
// months, and a group that waits for a decision: it is neither finished nor undone by itself.
func TestCancelledMonthClose(t *testing.T) {
	db := filled(t, 1)
	const through = `{"month": "2025-05", "through": true}`
	const posted = "SELECT count(*) FROM doc_month_close WHERE posted"
	const groups = "SELECT count(*) FROM plimsoll_group"
	quiet := slog.New(slog.DiscardHandler)

	asking := &backgroundtest.Worker{Jobs: backgroundtest.Open(t, db.DSN, 1)}
	queued := asking.Submit(t, monthclose.Kind, through)
	if err := asking.Cancel(t.Context(), "", queued); err != nil {
		t.Fatal(err)
	}
	if job := asking.Wait(t, queued); job.State != jobs.Cancelled {
		t.Errorf("cancelled in the queue: %+v", job)
	}
	w := backgroundtest.Start(t, db.DSN, 2)
	w.Do(t, monthclose.Kind, `{"month": "2020-01", "reopen": true}`) // nothing to reopen: the worker has looked
	if db.Value(t, posted) != "0" || db.Value(t, groups) != "0" {
		t.Errorf("a job that never ran closed %s months, as %s groups", db.Value(t, posted), db.Value(t, groups))
	}

	gate := grouptest.Close(t, db.DSN, 2)
	running := w.Submit(t, monthclose.Kind, through)
	gate.Await(t)
	if err := w.Cancel(t.Context(), "", running); err != nil {
		t.Fatal(err)
	}
	if job := w.Wait(t, running); job.State != jobs.Cancelled {
		t.Errorf("cancelled while it ran: %+v", job)
	}
	gate.Open(t)
	w.Idle(t, running)
	left, err := group.Left(t.Context(), db.Database)
	if err != nil || len(left) != 1 || left[0].Done != 1 || left[0].Why != "cancelled" || left[0].State != group.Doing {
		t.Fatalf("%+v, %v", left, err)
	}
	if db.Value(t, posted) != "1" || !violated(t, db, "groups.whole") {
		t.Errorf("%s months are closed, and the audit must name the group", db.Value(t, posted))
	}
	if err := background.Recover(t.Context(), db.Database, w.Jobs, quiet); err != nil || db.Value(t, posted) != "1" {
		t.Errorf("what was cancelled went on at a start: %s months, %v", db.Value(t, posted), err)
	}
	if g, err := background.Undo(t.Context(), db.Database, w.Jobs, left[0].ID); err != nil || g.State != group.Undone ||
		db.Value(t, posted) != "0" {
		t.Errorf("%+v, %v", g, err)
	}
	erptest.Clean(t, db.Database)

	close(t, w, through)
	if db.Value(t, posted) == "0" || db.Value(t, "SELECT count(DISTINCT date) - count(*) FROM doc_month_close") != "0" {
		t.Error("it cannot be closed afterwards")
	}
	erptest.Clean(t, db.Database)
}
