package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/durability"
)

// ErrUnknown: see durability.ErrUnknown.
var ErrUnknown = durability.ErrUnknown

// startWatcher, if some class of operations waits for the log.
func (db *Database) startWatcher() {
	if !db.plan.Uses(durability.DurableAck) {
		return
	}
	connect := func(ctx context.Context) (*pgx.Conn, error) {
		return db.Apart(ctx, db.pool.Config().ConnConfig.RuntimeParams["application_name"]+" log")
	}
	db.watcher = durability.Watch(connect, durability.Options{Waiting: db.options.Waiting, Poll: db.options.PollFlush,
		SameDatabase: func(ctx context.Context, conn *pgx.Conn) error {
			if got := Identity(ctx, conn); got != db.identity {
				return fmt.Errorf("this is another database server: %q, before it was %q", got, db.identity)
			}
			return nil
		}})
}

// FlushesLag tells that as many answers wait for the log as may: new work should be refused before it begins.
func (db *Database) FlushesLag() bool { return db.watcher != nil && db.watcher.Full() }

// Durability says how operations commit.
func (db *Database) Durability() durability.Plan { return db.plan }

// FlushFigures are those of the watcher of the log; zero if there is none.
func (db *Database) FlushFigures() durability.Figures {
	if db.watcher == nil {
		return durability.Figures{}
	}
	return db.watcher.Figures()
}

type acknowledgementKey struct{}

// Acknowledgement collects what the units of work of an operation have committed and seen, so that the caller may wait
// for the log once, after giving up what others need. Not for concurrent use.
type Acknowledgement struct {
	db       *Database
	position durability.Position
	waits    bool
	mixed    bool // positions on two connections of the watcher, or two servers
	took     time.Duration
}

// Acknowledged returns a context whose units of work do not wait for the log: the caller calls Wait before it tells
// anybody what they did or saw.
func (db *Database) Acknowledged(ctx context.Context) (context.Context, *Acknowledgement) {
	a := &Acknowledgement{db: db}
	if db.watcher == nil {
		return ctx, a
	}
	return context.WithValue(ctx, acknowledgementKey{}, a), a
}

func (a *Acknowledgement) add(p durability.Position) {
	if a.waits && (p.Ticket != a.position.Ticket || p.Server != a.position.Server) {
		a.mixed = true
	}
	if !a.waits || p.LSN > a.position.LSN {
		a.position = p
	}
	a.waits = true
}

// Wait returns when the log of all units of work so far is flushed, or ErrUnknown.
func (a *Acknowledgement) Wait(ctx context.Context) error {
	switch {
	case !a.waits:
		return nil
	case a.mixed:
		return ErrUnknown
	}
	begun := time.Now()
	defer func() { a.took += time.Since(begun) }()
	return a.db.watcher.Wait(ctx, a.position)
}

// acknowledge leaves the wait to the operation, or waits.
func (db *Database) acknowledge(ctx context.Context, p *durability.Position, err error) error {
	if p == nil {
		return err
	}
	if later, ok := ctx.Value(acknowledgementKey{}).(*Acknowledgement); ok {
		later.add(*p)
		return err
	}
	if waited := db.watcher.Wait(ctx, *p); waited != nil {
		return waited
	}
	return err
}

// askPosition queues the question where the log ends, behind all that the unit of work did and saw.
func (w *Work) askPosition() {
	if w.waits && w.ticket != 0 {
		w.enqueue("position", durability.PositionSQL).Rows(w.scanPosition)
	}
}

func (w *Work) scanPosition(r pgx.Rows) error {
	w.position = &durability.Position{Ticket: w.ticket}
	return w.position.Scan(r)
}

// seen is what a unit of work must wait for that has failed: its error may tell of rows that are not flushed. Where
// that cannot be found out, the error is ErrUnknown, and the other one is only its text: nobody may act on it.
func (w *Work) seen(ctx context.Context, failed error) error {
	if w.position = nil; !w.waits || IsRetryable(failed) || IsConnectionLost(failed) ||
		errors.Is(failed, context.Canceled) || errors.Is(failed, context.DeadlineExceeded) {
		return failed
	}
	conn := w.conn.Conn()
	if conn.IsClosed() {
		return fmt.Errorf("%w (%s)", ErrUnknown, failed.Error())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if w.ticket == 0 {
		return w.harden(ctx, failed)
	}
	w.counters.RoundTrips++
	w.counters.Statements++
	rows, err := conn.Query(ctx, durability.PositionSQL)
	if err == nil {
		for rows.Next() {
			err = errors.Join(err, w.scanPosition(rows))
		}
		err = errors.Join(err, rows.Err())
	}
	if err != nil {
		w.position = nil
		return fmt.Errorf("%w (%w; %s)", ErrUnknown, err, failed.Error())
	}
	return failed
}

// harden flushes the log on the connection of the work itself, while there is no watcher.
func (w *Work) harden(ctx context.Context, failed error) error {
	if !w.waits || w.ticket != 0 {
		return failed
	}
	w.counters.RoundTrips++
	if _, err := durability.Harden(ctx, w.conn.Conn()); err != nil {
		_ = w.conn.Conn().Close(ctx)
		return fmt.Errorf("%w (%w)", ErrUnknown, err)
	}
	return failed
}
