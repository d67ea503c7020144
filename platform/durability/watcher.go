package durability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Defaults of a watcher.
const (
	// WaitingDefault is how many answers may wait before more work is refused.
	WaitingDefault = 4096

	pauseFloor   = 500 * time.Microsecond
	pauseCeil    = 10 * time.Millisecond
	connectFloor = 20 * time.Millisecond
	connectCeil  = time.Second
)

// ErrUnknown: the operation was committed, but a crash or promotion may have undone it before its log was flushed.
// Repeating it under its idempotency key gives the answer or carries it out.
var ErrUnknown = errors.New("it is not known whether the operation is durable: repeat it with its idempotency key")

// Options of a watcher.
type Options struct {
	// Waiting is how many answers may wait. Defaults to WaitingDefault.
	Waiting int
	// Poll waits for the server's own flushes, up to three times its wal_writer_delay. Otherwise the watcher flushes,
	// for all waiting answers at once.
	Poll bool
	// Identity of the database when the pool was opened; nil: not compared.
	SameDatabase func(context.Context, *pgx.Conn) error
}

// Ticket is the number of the watcher's connection; zero: it has none. A connection that lasts proves that the server
// did not crash meanwhile.
type Ticket uint64

// Watcher wakes waiting answers when the log has been flushed far enough. One connection serves a whole worker and asks
// only while somebody waits. Otherwise it listens, to notice the end of the server.
type Watcher struct {
	connect func(context.Context) (*pgx.Conn, error)
	options Options
	stop    context.CancelFunc
	ended   chan struct{}
	wake    chan struct{}

	mutex   sync.Mutex
	ticket  Ticket // of the present connection
	last    Ticket
	server  Identity
	layout  layout
	waiting []*waiter
	figures Figures
}

// Figures of a watcher.
type Figures struct {
	Connected bool
	Waiting   int   // answers now
	Rounds    int64 // questions to the server, and flushes
	Flushes   int64
	Answers   int64 // that waited
	Unknown   int64 // of them, given up
	WaitTime  time.Duration
}

type waiter struct {
	committed bool
	asked     bool  // waits since before the present round
	lsn       int64 // where the log ended after it began to wait; 0: not asked yet
	since     time.Time
	done      chan error
}

// Watch starts a watcher with a connection of its own.
func Watch(connect func(context.Context) (*pgx.Conn, error), options Options) *Watcher {
	if options.Waiting < 1 {
		options.Waiting = WaitingDefault
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &Watcher{connect: connect, options: options, stop: stop, ended: make(chan struct{}),
		wake: make(chan struct{}, 1)}
	go w.run(ctx)
	return w
}

// Close ends the watcher; waiting answers get ErrUnknown.
func (w *Watcher) Close() {
	w.stop()
	<-w.ended
}

// Ticket for a commit that is about to be made. Zero: there is no watcher, and the work must be made durable in another
// way.
func (w *Watcher) Ticket() Ticket {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.ticket
}

// Full reports that as many answers wait as allowed: flushes are too slow.
func (w *Watcher) Full() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting) >= w.options.Waiting
}

// Figures now.
func (w *Watcher) Figures() Figures {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := w.figures
	f.Waiting, f.Connected = len(w.waiting), w.ticket != 0
	return f
}

// Wait returns when the log is flushed as far as it reaches now, or ErrUnknown. It is called when the server has
// answered all that the origin is about.
func (w *Watcher) Wait(ctx context.Context, o Origin) error {
	one, err := w.enqueue(o)
	if err != nil {
		return err
	}
	select {
	case err = <-one.done:
		return err
	case <-ctx.Done():
		w.giveUp(one)
		return fmt.Errorf("%w (%w)", ErrUnknown, ctx.Err())
	}
}

func (w *Watcher) enqueue(o Origin) (*waiter, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Answers++
	if o.Ticket == 0 || o.Ticket != w.ticket || o.Server != w.server {
		w.figures.Unknown++
		return nil, ErrUnknown
	}
	one := &waiter{committed: o.Committed, since: time.Now(), done: make(chan error, 1)}
	w.waiting = append(w.waiting, one)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return one, nil
}

func (w *Watcher) giveUp(one *waiter) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Unknown++
	w.waiting = slices.DeleteFunc(w.waiting, func(other *waiter) bool { return other == one })
}

// run reconnects until it is closed.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.ended)
	for pause := connectFloor; ctx.Err() == nil; pause = min(2*pause, connectCeil) {
		if w.live(ctx) {
			pause = connectFloor
		}
		w.lose()
		sleep(ctx, pause)
	}
}

// live watches on one connection until it is lost; it returns whether there was one.
func (w *Watcher) live(ctx context.Context) bool {
	conn, err := w.connect(ctx)
	if err != nil {
		return false
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := w.begin(ctx, conn); err != nil {
		return false
	}
	for pause := pauseFloor; ; {
		if w.idle() {
			if !w.listen(ctx, conn) {
				return true
			}
			pause = pauseFloor
			continue
		}
		progress, err := w.round(ctx, conn)
		if err != nil {
			return true
		}
		if pause = min(2*pause, pauseCeil); progress {
			pause = pauseFloor
		} else {
			sleep(ctx, pause)
		}
	}
}

func (w *Watcher) begin(ctx context.Context, conn *pgx.Conn) error {
	if w.options.SameDatabase != nil {
		if err := w.options.SameDatabase(ctx, conn); err != nil {
			return err
		}
	}
	var l layout
	if err := conn.QueryRow(ctx, layoutSQL).Scan(&l.page, &l.segment); err != nil {
		return fmt.Errorf("identify server: %w", err)
	}
	server, err := Identify(ctx, conn)
	if err != nil {
		return err
	}
	if !server.Known() {
		return errors.New("this server is a standby")
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.last++
	w.ticket, w.server, w.layout = w.last, server, l
	return nil
}

// lose drops the connection: nobody knows what happened to the log that answers wait for.
func (w *Watcher) lose() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.ticket = 0
	w.figures.Unknown += int64(len(w.waiting))
	for _, one := range w.waiting {
		one.done <- ErrUnknown
	}
	w.waiting = nil
}

func (w *Watcher) idle() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting) == 0
}

// listen until somebody waits; false: the connection or the watcher has ended.
func (w *Watcher) listen(ctx context.Context, conn *pgx.Conn) bool {
	listening, cancel := context.WithCancel(ctx)
	defer cancel()
	heard := make(chan error, 1)
	go func() {
		_, err := conn.WaitForNotification(listening)
		heard <- err
	}()
	select {
	case <-w.wake:
		cancel()
		<-heard
	case <-heard: // nobody notifies: it is the end
	}
	return ctx.Err() == nil && !conn.IsClosed()
}

// round flushes, or asks how far the log is flushed, and wakes the answers that it was flushed for. Who comes meanwhile
// waits for the next round: what it committed may be behind what this one flushes.
func (w *Watcher) round(ctx context.Context, conn *pgx.Conn) (progress bool, err error) {
	commits := w.ask()
	if w.options.Poll || !commits {
		ends, err := look(ctx, conn)
		if err != nil {
			return false, err
		}
		if progress = w.reached(ends); progress || w.options.Poll {
			return progress, nil
		}
	}
	if err := Harden(ctx, conn); err != nil {
		return false, err
	}
	w.mutex.Lock()
	w.figures.Flushes++
	w.mutex.Unlock()
	return w.answer(func(*waiter) bool { return true }), nil
}

// ask begins a round for all who wait now; it reports whether one of them has committed anything.
func (w *Watcher) ask() (commits bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Rounds++
	for _, one := range w.waiting {
		one.asked = true
		commits = commits || one.committed
	}
	return commits
}

// reached answers whose log this server has flushed; with synchronous standbys that is not enough, unless flushes are
// left to others.
func (w *Watcher) reached(e ends) bool {
	return w.answer(func(one *waiter) bool {
		if one.lsn == 0 {
			one.lsn = w.layout.end(e.insert)
		}
		return one.lsn <= e.flush && (w.options.Poll || !e.standbys)
	})
}

// answer wakes those of a round that need not wait longer.
func (w *Watcher) answer(flushed func(*waiter) bool) (progress bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := time.Now()
	w.waiting = slices.DeleteFunc(w.waiting, func(one *waiter) bool {
		if !one.asked || !flushed(one) {
			return false
		}
		w.figures.WaitTime += now.Sub(one.since)
		one.done <- nil
		progress = true
		return true
	})
	return progress
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
