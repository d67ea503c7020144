package rewriting

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
)

const (
	sampleEvery = 20 * time.Millisecond
	// jobsName is the application_name of workers' connections for background jobs.
	jobsName = "plimsoll jobs"
)

// logWaitsText describes the figures of a logWatch; its value is sampleEvery.
const logWaitsText = "share of the samples of the jobs' active sessions, one every %v, in which a session waits for " +
	"a write or flush of the log; pg_stat_io counts the flushes of all processes"

// logWatch samples what the sessions of jobs wait for, until it is ended.
type logWatch struct {
	stop  context.CancelFunc
	ended chan error
	// active sessions seen, and those of them that waited for the log
	active, waits int64
	flushed       []flushCount
}

type flushCount struct {
	at time.Time
	n  int64
}

func watchLog(ctx context.Context, db *database.Database) *logWatch {
	w := &logWatch{ended: make(chan error, 1)}
	ctx, w.stop = context.WithCancel(ctx)
	go func() { w.ended <- db.Borrow(ctx, func(conn *pgx.Conn) error { return w.watch(ctx, conn) }) }()
	return w
}

// logWaitsSQL counts active sessions, and those that wait for the log; the events' names differ by version.
const logWaitsSQL = `SELECT count(*) FILTER (WHERE wait_event IN ('WalSync', 'WALSync', 'WalWrite', 'WALWrite')),
	count(*)
FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND state = 'active'`

// flushesSQL needs PostgreSQL 18.
const flushesSQL = "SELECT coalesce(sum(fsyncs), 0)::bigint FROM pg_stat_io WHERE object = 'wal'"

const flushesEvery = time.Second

func (w *logWatch) watch(ctx context.Context, conn *pgx.Conn) error {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	asked, known := time.Now(), true
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var waits, active int64
		if err := conn.QueryRow(context.WithoutCancel(ctx), logWaitsSQL, jobsName).Scan(&waits, &active); err != nil {
			return err
		}
		w.waits, w.active = w.waits+waits, w.active+active
		if known && time.Since(asked) >= flushesEvery {
			asked = time.Now()
			var err error
			if known, err = w.flushes(context.WithoutCancel(ctx), conn); err != nil {
				return err
			}
		}
	}
}

// flushes is how often the log was flushed, if the server can tell.
func (w *logWatch) flushes(ctx context.Context, conn *pgx.Conn) (known bool, err error) {
	c := flushCount{at: time.Now()}
	err = conn.QueryRow(ctx, flushesSQL).Scan(&c.n)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return false, nil
	}
	w.flushed = append(w.flushed, c)
	return true, err
}

// end returns the figures, without those that the server does not report.
func (w *logWatch) end() (trial.Figures, error) {
	w.stop()
	if err := <-w.ended; err != nil {
		return nil, err
	}
	f := trial.Figures{waitsShare: 0}
	if w.active > 0 {
		f[waitsShare] = 100 * float64(w.waits) / float64(w.active)
	}
	if n := len(w.flushed); n > 1 {
		first, last := w.flushed[0], w.flushed[n-1]
		f[flushes] = float64(last.n-first.n) / last.at.Sub(first.at).Seconds()
	}
	return f, nil
}
