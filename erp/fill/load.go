package fill

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
)

// each processes n things in parallel streams, each with its own connection, starting them in order.
func (f *filler) each(ctx context.Context, n int, do func(ctx context.Context, conn *pgx.Conn, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	next := counter()
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

// counter hands out the numbers from 0 on, each once.
func counter() (next func() int) {
	var given atomic.Int64
	return func() int { return int(given.Add(1)) - 1 }
}

// shipment is a unit on its way to the database.
type shipment struct {
	unit
	tables chan *table
	tally  Tally // once there are no more tables
	whole  bool
}

// tablesAhead is how many tables of a unit may wait for the server while more are generated: all tables of a usual
// unit.
const tablesAhead = 64

// load generates n things and loads their units. Generators hand over units and go on while these are loaded. Units
// of one thing use as many streams as units of several, and a database slower than the generators always has some
// waiting.
func (f *filler) load(ctx context.Context, n int,
	produce func(ctx context.Context, units chan<- *shipment, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	units := make(chan *shipment, f.streams)
	group.Go(func() error {
		defer close(units)
		makers, ctx := errgroup.WithContext(ctx)
		next := counter()
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

// catalogs: the shared ones, then those of each organisation.
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
			lists = f.base.listsOf(f.base.organisations[i-1])
		}
		for n, some := range cut(lists) {
			todo = append(todo, work{unit{i - 1, none - n}, some})
		}
	}
	columns := columnsOf(f.base.app)
	return f.load(ctx, len(todo), func(ctx context.Context, units chan<- *shipment, i int) error {
		if t, done := f.journal.units[todo[i].unit]; done {
			f.addProgress(t.Rows)
			return nil
		}
		return f.write(ctx, units, todo[i].unit, columns, func(w *writer) error {
			for _, l := range todo[i].lists {
				if err := w.list(l); err != nil {
					return err
				}
				f.addProgress(int64(l.count))
			}
			return nil
		})
	})
}

// documents of each organisation, part by part. After a stop, finished parts are generated again and not written:
// they have to come out the same.
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
			f.addProgress(done)
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

// whole counts the documents of an organisation for which nothing is left to be generated.
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

// toldEvery is how many documents pass between two reports of progress.
const toldEvery = 200

func (f *filler) part(ctx context.Context, units chan<- *shipment, h *history, columns map[string][]string,
	part int) error {
	u := unit{h.o.n, part}
	produce := func(w *writer) error {
		err := h.part(part, func(d *document.Document, records *posting.Records) error {
			if w.tally.Documents%toldEvery == toldEvery-1 {
				f.addProgress(toldEvery)
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return w.document(d, records)
		})
		f.addProgress(w.tally.Documents % toldEvery)
		if part == len(h.o.parts)-1 && err == nil {
			w.platformRows(numbers, h.numbers())
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
		return fmt.Errorf("continue the fill: part %d of organisation %d differs from what was written: a different "+
			"version started the fill", part, h.o.n+1)
	}
	return w.flush()
}

// write a unit. It is sent when it is complete, or earlier when it has grown too large to be held.
func (f *filler) write(ctx context.Context, units chan<- *shipment, u unit, columns map[string][]string,
	produce func(*writer) error) error {
	s := &shipment{unit: u, tables: make(chan *table, tablesAhead)}
	defer close(s.tables)
	sent := false
	w := newWriter(f.base.app, columns, func(t *table) error {
		if !sent {
			if err := send(ctx, units, s); err != nil {
				return err
			}
			sent = true
		}
		return send(ctx, s.tables, t)
	})
	err := produce(w)
	if err == nil {
		err = w.flush()
	}
	if err == nil && !sent { // there was nothing to be written
		err = send(ctx, units, s)
	}
	s.tally, s.whole = w.tally, err == nil
	return err
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// copy loads a unit in one transaction. An incomplete unit is rolled back, and its generator's error is returned.
func (f *filler) copy(ctx context.Context, conn *pgx.Conn, s *shipment) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// A unit is reported only after the flush at the end of the fill: a crash undoes the last units together with
	// their rows in the journal.
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock_shared(%d)",
		writersLock), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	if err := (&travel{conn: conn.PgConn()}).tables(ctx, s.tables); err != nil {
		return err
	}
	if !s.whole {
		return nil
	}
	if err := s.record(ctx, tx, s.tally); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
