package fill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"plimsoll/platform/document"
	"plimsoll/platform/posting"
)

// each does n things in as many streams as there are, each with a connection of its own, in the order of the things.
func (f *filler) each(ctx context.Context, n int, do func(ctx context.Context, conn *pgx.Conn, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var mutex sync.Mutex
	next := 0
	for range min(f.streams, n) {
		group.Go(func() error {
			conn, err := dial(ctx, f.db)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			for {
				mutex.Lock()
				i := next
				next++
				mutex.Unlock()
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(ctx, conn, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// catalogs of all, then of each organisation.
func (f *filler) catalogs(ctx context.Context) error {
	f.stage("catalogs", int64(f.base.Elements()))
	columns := columnsOf(f.base.app)
	return f.each(ctx, 1+len(f.base.organisations), func(ctx context.Context, conn *pgx.Conn, i int) error {
		u, lists := unit{none, none}, f.base.common()
		if i > 0 {
			u, lists = unit{i - 1, none}, f.base.own(f.base.organisations[i-1])
		}
		if t, done := f.journal.units[u]; done {
			f.did(t.Rows)
			return nil
		}
		return f.write(ctx, conn, u, columns, func(w *writer) error {
			for _, l := range lists {
				before := w.tally.Rows
				if err := w.list(l); err != nil {
					return err
				}
				f.did(w.tally.Rows - before)
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
	columns, parts := columnsOf(f.base.app), len(f.base.parts())
	return f.each(ctx, len(f.base.organisations), func(ctx context.Context, conn *pgx.Conn, i int) error {
		o := f.base.organisations[i]
		if done := f.whole(i, parts); done > 0 {
			f.did(done)
			return nil
		}
		h := f.base.history(o)
		for part := range parts {
			if err := f.part(ctx, conn, h, columns, part, part == parts-1); err != nil {
				return err
			}
		}
		o.known = nil
		return nil
	})
}

// whole tells how many documents an organisation has of which nothing is left to be made.
func (f *filler) whole(organisation, parts int) (documents int64) {
	for part := range parts {
		t, done := f.journal.units[unit{organisation, part}]
		if !done {
			return 0
		}
		documents += t.Documents
	}
	return documents
}

// toldEvery so many documents progress is told.
const toldEvery = 200

func (f *filler) part(ctx context.Context, conn *pgx.Conn, h *history, columns map[string][]string, part int, last bool) error {
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
		if last && err == nil {
			w.own(numbers, h.numbers())
		}
		return err
	}
	was, done := f.journal.units[u]
	if !done {
		return f.write(ctx, conn, u, columns, produce)
	}
	w := newWriter(h.app, columns, func(t *table) error {
		recycle(t.data)
		return nil
	})
	if err := produce(w); err != nil {
		return err
	}
	if w.tally != was {
		return fmt.Errorf("go on with the fill: part %d of organisation %d comes out another than it was: it was begun by another version", part, h.o.n+1)
	}
	return nil
}

// sendAhead is how many tables may wait for the server while more is made.
const sendAhead = 8

// write a unit of work in one transaction, made and copied at once.
func (f *filler) write(ctx context.Context, conn *pgx.Conn, u unit, columns map[string][]string, produce func(*writer) error) error {
	group, ctx := errgroup.WithContext(ctx)
	tables := make(chan *table, sendAhead)
	var tally Tally
	group.Go(func() error {
		defer close(tables)
		w := newWriter(f.base.app, columns, func(t *table) error {
			select {
			case tables <- t:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err := produce(w); err != nil {
			return err
		}
		err := w.flush()
		tally = w.tally
		return err
	})
	group.Go(func() error {
		err := f.copy(ctx, conn, u, tables, &tally)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("load: %w", err)
		}
		return err
	})
	return group.Wait()
}

func (f *filler) copy(ctx context.Context, conn *pgx.Conn, u unit, tables <-chan *table, tally *Tally) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// Nobody is told that a unit is done before the end of all, which is flushed: a crash takes back the last ones with their lines in the journal.
	if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL synchronous_commit = off; SELECT pg_advisory_xact_lock_shared(%d)", writersLock), pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	for t := range tables {
		tag, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(t.data), t.copy)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if tag.RowsAffected() != t.rows {
			return fmt.Errorf("%s: %d rows of %d arrived", t.name, tag.RowsAffected(), t.rows)
		}
		recycle(t.data)
	}
	if ctx.Err() != nil { // the channel was closed because making has failed
		return errors.Join(ctx.Err())
	}
	if err := u.done(ctx, tx, *tally); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// buffers that tables have travelled in.
var buffers sync.Pool

func recycle(data []byte) { buffers.Put(&data) }

func fresh() []byte {
	if b, ok := buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, sendAt+sendAt/8)
}
