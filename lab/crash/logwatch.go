package crash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/storage"
)

// watchEvery is how often the log's position is read, many times within wal_writer_delay.
const watchEvery = 5 * time.Millisecond

// logPoint is how far the log had come when the journal had so many records.
type logPoint struct {
	number uint64
	at     time.Time
	wal    int64
}

// logWatch reads the log's position during a load.
type logWatch struct {
	delay  time.Duration // wal_writer_delay
	points []logPoint
	stop   context.CancelFunc
	ended  chan error
}

// watchLog until end is called. The connection is its own.
func watchLog(ctx context.Context, conn *pgx.Conn, last func() uint64) (*logWatch, error) {
	w := &logWatch{ended: make(chan error, 1)}
	var ms int64
	if err := conn.QueryRow(ctx, "SELECT setting::bigint FROM pg_settings WHERE name = 'wal_writer_delay'").Scan(
		&ms); err != nil {
		return nil, err
	}
	w.delay = time.Duration(ms) * time.Millisecond
	if err := w.look(ctx, conn, last); err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancel(ctx)
	go func() { w.ended <- w.watch(ctx, conn, last) }()
	return w, nil
}

func (w *logWatch) watch(ctx context.Context, conn *pgx.Conn, last func() uint64) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := w.look(context.WithoutCancel(ctx), conn, last); err != nil {
			return err
		}
	}
}

func (w *logWatch) look(ctx context.Context, conn *pgx.Conn, last func() uint64) error {
	var p logPoint
	err := conn.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint").Scan(&p.wal)
	p.number, p.at = last(), time.Now()
	w.points = append(w.points, p)
	return err
}

// end returns when nobody reads any more.
func (w *logWatch) end() error {
	w.stop()
	return <-w.ended
}

// before is the last point that is not behind a record of the journal.
func (w *logWatch) before(number uint64) logPoint {
	n, _ := slices.BinarySearchFunc(w.points, number, func(p logPoint, number uint64) int {
		if p.number <= number {
			return -1
		}
		return 1
	})
	return w.points[max(n-1, 0)]
}

// since is the last point before a time.
func (w *logWatch) since(at time.Time) logPoint {
	n, _ := slices.BinarySearchFunc(w.points, at, func(p logPoint, at time.Time) int { return p.at.Compare(at) })
	return w.points[max(n-1, 0)]
}

// longestGap is the longest time between two readings: a machine that keeps the reader waiting keeps the server
// waiting.
func (w *logWatch) longestGap() (gap time.Duration) {
	for i := 1; i < len(w.points); i++ {
		gap = max(gap, w.points[i].at.Sub(w.points[i-1].at))
	}
	return gap
}

// flushCycles of the log writer after which an asynchronous commit is flushed at the latest.
const flushCycles = 3

// explain fills in what the formula "bytes of log a second times delay" allows a cut to lose: the log of the last
// three wal_writer_delay and one flush.
func (c *Cut) explain(w *logWatch, flush time.Duration, at time.Time) {
	window := flushCycles*w.delay + flush
	now, then := w.before(c.Record), w.since(at.Add(-window))
	c.ExplainedMS = human.MS(window)
	c.wal, c.ExplainedWALBytes = now.wal, now.wal-then.wal
	if took := now.at.Sub(then.at); took > 0 {
		c.WALBytesPerS = float64(now.wal-then.wal) / took.Seconds()
	}
}

// watched is a load during which the log is watched.
func (l *lab) watched(ctx context.Context, last func() uint64) (result *loaded, err error) {
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	w, err := watchLog(ctx, conn, last)
	if err != nil {
		return nil, err
	}
	result, err = l.workload.load(ctx, last, nil)
	if err := errors.Join(err, w.end()); err != nil {
		return nil, err
	}
	result.log = w
	for i := range result.acks {
		if a := &result.acks[i]; a.wal == 0 { // who works over HTTP does not know it
			a.wal = w.before(a.number).wal
		}
	}
	return result, nil
}

// logFiles of a journal, by number.
func logFiles(records []storage.Record) map[uint64]bool {
	wal := map[uint64]bool{}
	for _, r := range records {
		if r.Kind == storage.Open && strings.HasPrefix(r.Path, "pg_wal/0") {
			wal[r.Ino] = true
		}
	}
	return wal
}

// longestFlush of the log behind a record: from the first record after its beginning to its end.
func longestFlush(records []storage.Record, begin uint64) (longest time.Duration) {
	wal := logFiles(records)
	for _, r := range records[begin:] {
		if r.Kind == storage.Sync && wal[r.Ino] && r.Before > 0 {
			longest = max(longest, r.At.Sub(records[r.Before-1].At))
		}
	}
	return longest
}
