package rewriting

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	"plimsoll/ground/host/cpu"
	"plimsoll/lab/prove/backdated"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// applicationServer is where jobs compute. It waits in place of computing, or it would take the processors from the
// database; with a number of slots it can fill up, and jobs queue for it.
type applicationServer struct {
	work  time.Duration // of an object, on average
	slots chan struct{} // its processors; nil: as many as there are jobs
	busy  atomic.Int64  // time of all slots in the measured part of the turn
}

// applicationSlots are the processors of one working server of the report.
const applicationSlots = 16

// Figures of an application server that can fill up.
const (
	applicationWork = "application's work on an object"
	applicationBusy = "application server busy"
)

// compute a share of an object's work.
func (a *applicationServer) compute(ctx context.Context, share float64, measured time.Time, length time.Duration) {
	if a.slots != nil {
		select {
		case <-ctx.Done():
			return
		case a.slots <- struct{}{}:
		}
		defer func() { <-a.slots }()
	}
	began, took := time.Now(), time.Duration(share*float64(a.work))
	if a.slots == nil {
		select {
		case <-ctx.Done():
		case <-time.After(took):
		}
		return
	}
	// The runtime's timers are late by as much as this may be short.
	pause := unix.NsecToTimespec(int64(took))
	for errors.Is(unix.Nanosleep(&pause, &pause), unix.EINTR) { // a signal of the runtime: what is left is slept again
		continue
	}
	a.busy.Add(int64(within(began, time.Now(), measured, measured.Add(length))))
}

// within is how much of a time lies between two moments.
func within(began, ended, from, to time.Time) time.Duration {
	if began.Before(from) {
		began = from
	}
	if ended.After(to) {
		ended = to
	}
	return max(0, ended.Sub(began))
}

// busyShare of the slots in a turn of that length that is over; the next one begins anew.
func (a *applicationServer) busyShare(length time.Duration) float64 {
	return float64(a.busy.Swap(0)) / float64(length) / float64(cap(a.slots))
}

const (
	// erpDocuments are in the base in which our ERP's work is measured, about half of them sales; erpWarm come first.
	erpDocuments = 1000
	erpWarm      = 20
)

// ourApplication does what our ERP takes to rewrite an object: the processor time of this process, which is the
// application alone, while it does so one by one as the report's does, row by row.
func ourApplication(ctx context.Context, r *trial.Record, disk *site.SlowDisk) (*applicationServer, error) {
	r.Say("measuring the work of our ERP on an object")
	a := &applicationServer{slots: make(chan struct{}, applicationSlots)}
	objects, err := a.measure(ctx, r, disk)
	if err != nil {
		return nil, fmt.Errorf("measure the work of our ERP: %w", err)
	}
	r.Condition(applicationWork, fmt.Sprintf("our ERP takes %.2f ms of a processor to rewrite a sale's record sets "+
		"row by row, measured over %d of them before the turns; a server of %d processors does that for the jobs, "+
		"which queue when it is full (report: 50/1,459 s less the flushes, %d ms)", a.work.Seconds()*1000, objects,
		applicationSlots, recordSetPause.Milliseconds()))
	return a, nil
}

func (a *applicationServer) measure(ctx context.Context, r *trial.Record, disk *site.SlowDisk) (objects int,
	err error) {
	base, err := backdated.Make(ctx, disk.Cluster(), fill.Options{Documents: erpDocuments}, r.Say)
	if err != nil {
		return 0, err
	}
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	db, err := database.Open(ctx, dsn, database.Options{Connections: 1, Application: "plimsoll prove"})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	a.work, objects, err = erpWork(ctx, db)
	return objects, err
}

// erpWork is the processor time of an object, and how many were rewritten.
func erpWork(ctx context.Context, db *database.Database) (each time.Duration, objects int, err error) {
	var sales []id.ID
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, "SELECT id FROM doc_goods_sale WHERE posted ORDER BY id")
		if err == nil {
			sales, err = pgx.CollectRows(rows, pgx.RowTo[id.ID])
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if len(sales) < 2*erpWarm {
		return 0, 0, fmt.Errorf("the base has %d posted sales, too few", len(sales))
	}
	poster := posting.New(db, erp.Metadata(), erp.Rules())
	rewrite := func(some []id.ID) error {
		_, err := poster.Rewrite(ctx, books.GoodsSale, some, small(false))
		return err
	}
	if err := rewrite(sales[:erpWarm]); err != nil {
		return 0, 0, err
	}
	before, err := cpu.Own()
	if err != nil {
		return 0, 0, err
	}
	if err := rewrite(sales[erpWarm:]); err != nil {
		return 0, 0, err
	}
	after, err := cpu.Own()
	objects = len(sales) - erpWarm
	return (after - before) / time.Duration(objects), objects, err
}
