package database

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/platform/data/durability"
	"plimsoll/platform/data/temptable"
)

// Retries of a failed unit of work.
const (
	AttemptsMax  = 12
	backoffFloor = 2 * time.Millisecond
	backoffCeil  = 250 * time.Millisecond
	// rollbackTimeout bounds the time spent on a connection that may be dead.
	rollbackTimeout = 5 * time.Second
)

// Work is a unit of work on one connection. Not for concurrent use.
type Work struct {
	db       *Database
	conn     *pgxpool.Conn
	counters *Counters
	trace    *Trace // nil: not traced
	chain    int    // most statements in a round trip
	queue    []*Statement
	sent     int  // statements of earlier flushes
	wrapped  bool // BEGIN and COMMIT around it
	begun    bool
	broken   error // of a flush; only RollbackTo goes on after it

	mode   durability.Mode
	waits  bool               // for the log, before anybody is told
	origin *durability.Origin // noted before anything is done; nil: there is no watcher

	temp       *temptable.Pool // nil until temp tables are used
	tempBefore temptable.Counters
	returned   []*temptable.Table // not yet decided about
	probed     []probed           // same, after the server was asked
}

// Statement waits in the queue of a unit of work.
type Statement struct {
	name, sql string
	args      []any
	own       bool // queued here, not by the caller
	read      func(pgx.Rows) error
	affected  func(int64) error
	filled    func(int64) // called for a temp table
	reached   func()      // called when the server has done it
	besides   int64       // rows written that its tag does not count
}

// Queue adds a statement to the next flush. Errors contain the name.
func (w *Work) Queue(name, sql string, args ...any) *Statement {
	if w.temp != nil {
		w.temp.Touched(sql, nil)
	}
	s := w.enqueue(name, sql, args...)
	s.own = false
	return s
}

func (w *Work) enqueue(name, sql string, args ...any) *Statement {
	s := &Statement{name: name, sql: sql, args: args, own: true}
	w.queue = append(w.queue, s)
	return s
}

// Rows sets the function that reads each row of the result.
func (s *Statement) Rows(each func(pgx.Rows) error) { s.read = each }

// Affected sets the function that receives the number of rows written.
func (s *Statement) Affected(report func(int64) error) { s.affected = report }

// Besides is the number of rows written by parts of the statement that its tag does not count.
func (s *Statement) Besides(rows int) { s.besides = int64(rows) }

// Backend is the server process that does the work.
func (w *Work) Backend() uint32 { return w.conn.Conn().PgConn().PID() }

// OneByOne gives each statement from here on its own round trip, as a naive application does.
func (w *Work) OneByOne() { w.chain = 1 }

// Run runs a unit of work in a transaction. do may be called again from the start, so it must build its results again.
// It is not repeated after a lost connection, because its COMMIT may have arrived. Where the plan of durability says
// so, it returns when the log is flushed, unless the context is one of Acknowledged.
func (db *Database) Run(ctx context.Context, do func(*Work) error) error {
	return db.repeat(ctx, IsRetryable, func() error { return db.unit(ctx, true, do) })
}

// RunRepeatable is Run for work that detects (by a key written in the same transaction) that it has been done already:
// it is repeated after a lost connection too.
func (db *Database) RunRepeatable(ctx context.Context, do func(*Work) error) error {
	again := func(err error) bool { return IsRetryable(err) || IsConnectionLost(err) || isUnknown(err) }
	return db.repeat(ctx, again, func() error { return db.unit(ctx, true, do) })
}

// Read runs a unit of work that only reads, or that may be done twice: without BEGIN and COMMIT, so a single flush is a
// single round trip (and, to the server, a single transaction).
func (db *Database) Read(ctx context.Context, do func(*Work) error) error {
	again := func(err error) bool { return IsRetryable(err) || IsConnectionLost(err) || isUnknown(err) }
	return db.repeat(ctx, again, func() error { return db.unit(ctx, false, do) })
}

func (db *Database) repeat(ctx context.Context, again func(error) bool, once func() error) error {
	wait := backoffFloor
	for attempt := 1; ; attempt++ {
		err := once()
		if err == nil || attempt == AttemptsMax || !again(err) {
			return err
		}
		countersOf(ctx).Retries++
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait/2 + rand.N(wait)):
		}
		wait = min(2*wait, backoffCeil)
	}
}

func isUnknown(err error) bool { return errors.Is(err, ErrUnknown) }

// unit does the work, then waits for its log without a connection.
func (db *Database) unit(ctx context.Context, wrapped bool, do func(*Work) error) error {
	origin, err := db.attempt(ctx, wrapped, do)
	return db.acknowledge(ctx, origin, err)
}

func (db *Database) attempt(ctx context.Context, wrapped bool, do func(*Work) error) (*durability.Origin, error) {
	trace, begun := traceOf(ctx), time.Now()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("borrow connection: %w", err)
	}
	defer conn.Release()
	backend := conn.Conn().PgConn().PID()
	db.running.begin(ctx, backend)
	defer db.running.end(backend)
	if trace != nil {
		trace.Acquire += time.Since(begun)
		before := usageOf(ctx, conn.Conn())
		defer func() { trace.add(before, usageOf(context.WithoutCancel(ctx), conn.Conn())) }()
	}
	w := &Work{db: db, trace: trace, conn: conn, counters: countersOf(ctx), chain: db.options.Chain, wrapped: wrapped,
		temp: poolOf(conn.Conn())}
	if w.temp != nil {
		w.tempBefore = w.temp.Counters
	}
	w.plan(ctx)
	defer w.count()
	if err := w.finish(ctx, do); err != nil {
		w.rollback(ctx)
		origin, err := w.seen(ctx, err)
		if IsLockTimeout(err) {
			err = &LockTimeout{backend, err}
		}
		return origin, err
	}
	return w.origin, w.harden(ctx, nil)
}

func (w *Work) finish(ctx context.Context, do func(*Work) error) error {
	if err := do(w); err != nil {
		return err
	}
	if w.broken != nil {
		return w.broken // do ignored the error
	}
	if err := w.returnAll(ctx); err != nil {
		return err
	}
	if !w.wrapped {
		return w.Flush(ctx)
	}
	// COMMIT travels only with statements without a result, since a reader of a result may still refuse
	if w.answered() {
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	if w.begun || len(w.queue) > 0 {
		w.enqueue("commit", commit)
		if w.origin != nil {
			w.origin.Committed = true
		}
	}
	return w.Flush(ctx)
}

const commit = "commit"

func (w *Work) answered() bool { return slices.ContainsFunc(w.queue, (*Statement).answered) }

func (s *Statement) answered() bool { return s.read != nil || s.affected != nil || s.filled != nil }

// rollback leaves the connection clean or closed; the pool drops one that is in neither state.
func (w *Work) rollback(ctx context.Context) {
	conn := w.conn.Conn()
	switch {
	case conn.IsClosed():
		return
	case !w.wrapped || conn.PgConn().TxStatus() == 'I':
		// ended already, in either way: it is unknown which changes were made
		if w.temp != nil {
			w.temp.RolledBack()
			w.temp.Abandon()
			w.temp.Committed()
			w.temp.Invalidate()
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	w.counters.RoundTrips++
	w.counters.Statements++
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		_ = conn.Close(ctx)
		return
	}
	if w.temp != nil {
		w.temp.RolledBack()
	}
}
