package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/platform/data/durability"
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
			if got := postgres.DatabaseID(ctx, conn); got != db.identity {
				return fmt.Errorf("this is another database server: %q, before it was %q", got, db.identity)
			}
			return nil
		}})
}

// FlushesLag reports that the maximum number of answers wait for the log: new work should be refused before it begins.
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
	db     *Database
	origin durability.Origin
	waits  bool
	mixed  bool // two connections of the watcher, or two servers
	took   time.Duration
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

func (a *Acknowledgement) add(o durability.Origin) {
	if a.waits && (o.Ticket != a.origin.Ticket || o.Server != a.origin.Server) {
		a.mixed = true
	}
	o.Committed = o.Committed || a.origin.Committed
	a.origin, a.waits = o, true
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
	return a.db.watcher.Wait(ctx, a.origin)
}

// acknowledge leaves the wait to the operation, or waits.
func (db *Database) acknowledge(ctx context.Context, o *durability.Origin, err error) error {
	if o == nil {
		return err
	}
	if later, ok := ctx.Value(acknowledgementKey{}).(*Acknowledgement); ok {
		later.add(*o)
		return err
	}
	if waited := db.watcher.Wait(ctx, *o); waited != nil {
		return waited
	}
	return err
}

// plan of durability for the operation of the context.
func (w *Work) plan(ctx context.Context) {
	label, _ := ctx.Value(labelKey{}).(Label)
	w.mode = w.db.plan.Commit(label.Operation)
	if w.waits = w.db.plan.Waits(label.Operation); !w.waits {
		return
	}
	ticket := w.db.watcher.Ticket()
	if ticket == 0 {
		return
	}
	if server := serverOf(ctx, w.conn.Conn()); server.Known() {
		w.origin = &durability.Origin{Server: server, Ticket: ticket}
	}
}

// Key of a connection's custom data that holds the identity of its server.
const serverKey = "plimsoll.server"

// serverOf asks once for each connection; a standby may be promoted meanwhile. What cannot be asked is not known, and
// the work then flushes on its own connection.
func serverOf(ctx context.Context, conn *pgx.Conn) durability.Identity {
	if i, ok := conn.PgConn().CustomData()[serverKey].(durability.Identity); ok {
		return i
	}
	i, err := durability.Identify(ctx, conn)
	if err == nil && i.Known() {
		conn.PgConn().CustomData()[serverKey] = i
	}
	return i
}

// seen is what a unit of work must wait for that has failed: its error may tell of rows that are not flushed. Where
// that cannot be found out, the error is ErrUnknown, and the other one is only its text: nobody may act on it.
func (w *Work) seen(ctx context.Context, failed error) (*durability.Origin, error) {
	switch {
	case !w.waits || IsRetryable(failed) || IsConnectionLost(failed) || errors.Is(failed, context.Canceled) ||
		errors.Is(failed, context.DeadlineExceeded):
		return nil, failed
	case w.origin != nil:
		return w.origin, failed
	case w.conn.Conn().IsClosed():
		return nil, fmt.Errorf("%w (%s)", ErrUnknown, failed.Error())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	return nil, w.harden(ctx, failed)
}

// harden flushes the log on the connection of the work itself, while there is no watcher.
func (w *Work) harden(ctx context.Context, failed error) error {
	if !w.waits || w.origin != nil {
		return failed
	}
	w.counters.RoundTrips++
	if err := durability.Harden(ctx, w.conn.Conn()); err != nil {
		_ = w.conn.Conn().Close(ctx)
		return fmt.Errorf("%w (%w)", ErrUnknown, err)
	}
	return failed
}
