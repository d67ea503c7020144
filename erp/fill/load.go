package fill

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"plimsoll/platform/document"
	"plimsoll/platform/posting"
)

// each does n things in as many streams as there are, each with a connection of its own, in the order of the things.
func (f *filler) each(ctx context.Context, n int, do func(ctx context.Context, conn *pgx.Conn, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	next := turns()
	for range min(f.streams, n) {
		group.Go(func() error {
			conn, err := dial(ctx, f.db)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			for i := next(); i < n && err == nil; i = next() {
				if err = ctx.Err(); err == nil {
					err = do(ctx, conn, i)
				}
			}
			return err
		})
	}
	return group.Wait()
}

// turns are numbers from 0 on, each given once.
func turns() (next func() int) {
	var given atomic.Int64
	return func() int { return int(given.Add(1)) - 1 }
}

// shipment is a unit of work on its way to the database.
type shipment struct {
	unit
	tables chan *table
	tally  Tally // once there are no more tables
	whole  bool
}

// tablesAhead of a unit may wait for the server while more is made: all of a usual one.
const tablesAhead = 64

// load what is made of n things. Whoever makes something hands it over as units of work, and goes on while they are loaded: units of one thing are loaded in
// as many streams as those of several, and a database that is slower than they are made has always some waiting for it.
func (f *filler) load(ctx context.Context, n int, produce func(ctx context.Context, units chan<- *shipment, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	units := make(chan *shipment, f.streams)
	group.Go(func() error {
		defer close(units)
		makers, ctx := errgroup.WithContext(ctx)
		next := turns()
		for range min(f.streams, n) {
			makers.Go(func() (err error) {
				for i := next(); i < n && err == nil; i = next() {
					if err = ctx.Err(); err == nil {
						err = produce(ctx, units, i)
					}
				}
				return err
			})
		}
		return makers.Wait()
	})
	for range f.streams {
		group.Go(func() error {
			conn, err := dial(ctx, f.db)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			for s := range units {
				if err := f.copy(ctx, conn, s); err != nil {
					return fmt.Errorf("load: %w", err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// catalogs of all, then of each organisation.
func (f *filler) catalogs(ctx context.Context) error {
	f.stage("catalogs", int64(f.base.Elements()))
	type work struct {
		unit
		lists []list
	}
	var todo []work
	for i := range 1 + len(f.base.organisations) {
		lists := f.base.common()
		if i > 0 {
			lists = f.base.own(f.base.organisations[i-1])
		}
		for n, some := range cut(lists) {
			todo = append(todo, work{unit{i - 1, none - n}, some})
		}
	}
	columns := columnsOf(f.base.app)
	return f.load(ctx, len(todo), func(ctx context.Context, units chan<- *shipment, i int) error {
		if t, done := f.journal.units[todo[i].unit]; done {
			f.did(t.Rows)
			return nil
		}
		return f.write(ctx, units, todo[i].unit, columns, func(w *writer) error {
			for _, l := range todo[i].lists {
				if err := w.list(l); err != nil {
					return err
				}
				f.did(int64(l.count))
			}
			return nil
		})
	})
}

// documents of each organisation, part by part. To go on where a fill has stopped, what is done is made once more and not written: it has to come out the same.
func (f *filler) documents(ctx context.Context) error {
	total := 0
	for _, o := range f.base.organisations {
		total += o.total()
	}
	f.stage("documents", int64(total))
	columns := columnsOf(f.base.app)
	return f.load(ctx, len(f.base.organisations), func(ctx context.Context, units chan<- *shipment, i int) error {
		o := f.base.organisations[i]
		if done := f.whole(o); done > 0 {
			f.did(done)
			return nil
		}
		h := f.base.history(o)
		for part := range o.parts {
			if err := f.part(ctx, units, h, columns, part); err != nil {
				return err
			}
		}
		o.known = nil
		return nil
	})
}

// whole tells how many documents an organisation has of which nothing is left to be made.
func (f *filler) whole(o *organisation) (documents int64) {
	for part := range o.parts {
		t, done := f.journal.units[unit{o.n, part}]
		if !done {
			return 0
		}
		documents += t.Documents
	}
	return documents
}

// toldEvery so many documents progress is told.
const toldEvery = 200

func (f *filler) part(ctx context.Context, units chan<- *shipment, h *history, columns map[string][]string, part int) error {
	u := unit{h.o.n, part}
	produce := func(w *writer) error {
		err := h.part(part, func(d *document.Document, records *posting.Records) error {
			if w.tally.Documents%toldEvery == toldEvery-1 {
				f.did(toldEvery)
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return w.document(d, records)
		})
		f.did(w.tally.Documents % toldEvery)
		if part == len(h.o.parts)-1 && err == nil {
			w.own(numbers, h.numbers())
		}
		return err
	}
	was, done := f.journal.units[u]
	if !done {
		return f.write(ctx, units, u, columns, produce)
	}
	w := newWriter(h.app, columns, func(t *table) error {
		t.recycle()
		return nil
	})
	if err := produce(w); err != nil {
		return err
	}
	if w.tally != was {
		return fmt.Errorf("go on with the fill: part %d of organisation %d comes out another than it was: it was begun by another version", part, h.o.n+1)
	}
	return w.flush()
}

// write a unit of work. It is sent when it is made, or when it has grown so much that its beginning has to go ahead.
func (f *filler) write(ctx context.Context, units chan<- *shipment, u unit, columns map[string][]string, produce func(*writer) error) error {
	s := &shipment{unit: u, tables: make(chan *table, tablesAhead)}
	defer close(s.tables)
	sent := false
	w := newWriter(f.base.app, columns, func(t *table) error {
		if !sent {
			if err := hand(ctx, units, s); err != nil {
				return err
			}
			sent = true
		}
		return hand(ctx, s.tables, t)
	})
	err := produce(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil && !sent { // there was nothing to be written
		err = hand(ctx, units, s)
	}
	s.tally, s.whole = w.tally, err == nil
	return err
}

func hand[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// copy a unit of work in one transaction. Of one that was not made whole nothing stays, and whoever failed at making it tells why.
func (f *filler) copy(ctx context.Context, conn *pgx.Conn, s *shipment) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// Nobody is told that a unit is done before the end of all, which is flushed: a crash takes back the last ones with their lines in the journal.
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock_shared(%d)", writersLock), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	if err := (&travel{conn: conn.PgConn()}).tables(ctx, s.tables); err != nil {
		return err
	}
	if !s.whole {
		return nil
	}
	if err := s.done(ctx, tx, s.tally); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
