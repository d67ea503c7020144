package durability

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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
var ErrUnknown = errors.New("the operation may not be durable: repeat it with its idempotency key")

// Options of a watcher.
type Options struct {
	// Waiting is how many answers may wait. Defaults to WaitingDefault.
	Waiting int
	// Poll waits for the server's own flushes, up to three times its wal_writer_delay, and then for its synchronous
	// standbys, if it has any. Otherwise the watcher flushes, for all waiting answers at once.
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
	coming  *batch   // joined by who begins to wait now; nil: nobody
	asked   []*batch // of rounds that have begun
	waiting int      // answers, in all batches
	figures Figures

	waitTime atomic.Int64
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

// batch of answers that wait for the same round.
type batch struct {
	answers   int
	committed bool          // one of them has committed something
	lsn       int64         // where the log ended after all began to wait; 0: not asked yet
	done      chan struct{} // closed when they need not wait longer
	err       error         // read after done
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
	return w.waiting >= w.options.Waiting
}

// Figures now.
func (w *Watcher) Figures() Figures {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	f := w.figures
	f.Waiting, f.Connected = w.waiting, w.ticket != 0
	f.WaitTime = time.Duration(w.waitTime.Load())
	return f
}

// Wait returns when the log is flushed as far as it reaches now, or ErrUnknown. It is called when the server has
// answered all that the origin is about.
func (w *Watcher) Wait(ctx context.Context, o Origin) error {
	joined, err := w.join(o)
	if err != nil {
		return err
	}
	since := time.Now()
	select {
	case <-joined.done:
		if joined.err == nil {
			w.waitTime.Add(int64(time.Since(since)))
		}
		return joined.err
	case <-ctx.Done():
		w.giveUp(joined)
		return fmt.Errorf("%w (%w)", ErrUnknown, ctx.Err())
	}
}

// join the batch of the next round.
func (w *Watcher) join(o Origin) (*batch, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Answers++
	if o.Ticket == 0 || o.Ticket != w.ticket || o.Server != w.server {
		w.figures.Unknown++
		return nil, ErrUnknown
	}
	if w.coming == nil {
		w.coming = &batch{done: make(chan struct{})}
	}
	if w.waiting == 0 {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
	w.coming.answers++
	w.coming.committed = w.coming.committed || o.Committed
	w.waiting++
	return w.coming, nil
}

func (w *Watcher) giveUp(joined *batch) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Unknown++
	if joined.answers > 0 { // 0: its round has just ended
		joined.answers--
		w.waiting--
	}
}

// end the waiting of a batch.
func (w *Watcher) end(b *batch, err error) {
	w.waiting -= b.answers
	if err != nil {
		w.figures.Unknown += int64(b.answers)
	}
	b.answers, b.err = 0, err
	close(b.done)
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
	if err := w.identify(ctx, conn); err != nil {
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

func (w *Watcher) identify(ctx context.Context, conn *pgx.Conn) error {
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

// lose drops the connection: what happened to the log that answers wait for is unknown.
func (w *Watcher) lose() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.ticket = 0
	w.closeBatch()
	for _, b := range w.asked {
		w.end(b, ErrUnknown)
	}
	w.asked = nil
}

func (w *Watcher) idle() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.waiting == 0
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
	commits := w.beginRound()
	if w.options.Poll || !commits {
		ends, err := readLogEnds(ctx, conn)
		if err != nil {
			return false, err
		}
		var standbys bool
		if progress, standbys = w.reached(ends); progress || w.options.Poll && !standbys {
			return progress, nil
		}
	}
	// A commit of ours waits for the standbys by the server's own rule.
	if err := Harden(ctx, conn); err != nil {
		return false, err
	}
	w.mutex.Lock()
	w.figures.Flushes++
	w.mutex.Unlock()
	return w.answer(func(*batch) bool { return true }), nil
}

// beginRound begins a round for all who wait now; it reports whether one of them has committed anything.
func (w *Watcher) beginRound() (commits bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.figures.Rounds++
	w.closeBatch()
	return slices.ContainsFunc(w.asked, func(b *batch) bool { return b.committed })
}

// closeBatch starts the round of all who wait now; later ones join another batch.
func (w *Watcher) closeBatch() {
	if w.coming != nil {
		w.asked = append(w.asked, w.coming)
		w.coming = nil
	}
}

// reached answers whose log this server has flushed. With synchronous standbys that is not enough: it reports that such
// answers wait for them.
func (w *Watcher) reached(e ends) (progress, standbys bool) {
	progress = w.answer(func(b *batch) bool {
		if b.lsn == 0 {
			b.lsn = w.layout.end(e.insert)
		}
		here := b.lsn <= e.flush
		standbys = standbys || here && e.standbys
		return here && !e.standbys
	})
	return progress, standbys
}

// answer wakes the batches of rounds that need not wait longer.
func (w *Watcher) answer(flushed func(*batch) bool) (progress bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.asked = slices.DeleteFunc(w.asked, func(b *batch) bool {
		if !flushed(b) {
			return false
		}
		w.end(b, nil)
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
