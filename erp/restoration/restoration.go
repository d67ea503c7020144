// Package restoration owns the restoring of the sequence of cost batches: after something was back-dated, what left
// after it gets the costs that posting in the order of time gives.
//
// What is to be done is in the database: the boundary of each organisation, warehouse and item. A restoration removes
// it key by key, so whatever ends one, the next goes on with what is left.
//
//	boundary ──Plan──▶ sequences (organisation, warehouse), the longest first
//	         ──N at a time──▶ Run: pieces of a sequence one after the other, each a transaction (posting.Restoration)
//
// Sequences share no document, so they may run at once; pieces of one share most of theirs, so they do not.
package restoration

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Bounds of a piece. Its keys are locked until it is done, and posters of them wait; but a document that is in
// several pieces is written in each.
const (
	LinesDefault = 20_000
	KeysMax      = 1000
	keysFloor    = 20
)

// Sequence is a warehouse with keys out of order.
type Sequence struct {
	Organisation id.ID     `json:"organisation"`
	Warehouse    id.ID     `json:"warehouse"`
	Keys         int64     `json:"keys"`
	Lines        int64     `json:"lines"` // that left since the boundary of their key
	Since        time.Time `json:"since"`
}

const planSQL = `SELECT b.organisation, b.warehouse, count(DISTINCT b.item), count(m.recorder), min(b.moment)
FROM acc_batches_boundary b
LEFT JOIN acc_batches m ON m.organisation = b.organisation AND m.warehouse = b.warehouse AND m.item = b.item
AND m.period >= b.moment AND m.expense
WHERE $1::uuid IS NULL OR b.organisation = $1
GROUP BY b.organisation, b.warehouse ORDER BY 4 DESC, 1, 2`

// Plan finds what is out of order, in one organisation or (zero) in all: the longest first, so that the last to end
// is short.
func Plan(ctx context.Context, db *database.Database, organisation id.ID) (all []Sequence, err error) {
	var within *id.ID
	if !organisation.IsZero() {
		within = &organisation
	}
	err = db.Read(ctx, func(w *database.Work) error {
		all = nil
		w.Queue("plan restoration", planSQL, within).Rows(func(r pgx.Rows) error {
			var s Sequence
			err := r.Scan(&s.Organisation, &s.Warehouse, &s.Keys, &s.Lines, &s.Since)
			all = append(all, s)
			return err
		})
		return nil
	})
	return all, err
}

// Options of a restoration; zero values mean the defaults.
type Options struct {
	How posting.Manner
	// Lines of a piece, at most but for a single key that has more.
	Lines int
}

// Books that restorations work with.
func Books(db *database.Database) *posting.Books { return posting.New(db, erp.Metadata(), erp.Rules()) }

// Run restores a sequence. progress receives what has been committed, and what the running piece has done
// besides; it may be nil.
func (s Sequence) Run(ctx context.Context, db *database.Database, books *posting.Books, o Options,
	progress func(posting.Restored)) (done posting.Restored, err error) {
	if o.Lines < 1 {
		o.Lines = LinesDefault
	}
	most, err := keysMax(ctx, db)
	if err != nil {
		return done, err
	}
	for last := (id.ID{}); ; {
		items, err := s.nextItems(ctx, db, last, o.Lines, most)
		if err != nil || len(items) == 0 {
			return done, err
		}
		last = items[len(items)-1]
		piece := s.restoration(items, o.How)
		piece.Progress = func(r posting.Restored) {
			r.Add(done)
			if progress != nil {
				progress(r)
			}
		}
		more, err := books.Restore(ctx, piece)
		if err != nil {
			return done, err
		}
		done.Add(more)
		if progress != nil {
			progress(done)
		}
	}
}

const pieceSQL = `SELECT item FROM (
	SELECT b.item, row_number() OVER ordered AS n, coalesce(
		sum(l.lines) OVER (ordered ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) + l.lines AS lines
	FROM (SELECT * FROM acc_batches_boundary WHERE organisation = $1 AND warehouse = $2 AND item > $3 ORDER BY item
	LIMIT $5) b
	CROSS JOIN LATERAL (SELECT count(*) AS lines FROM acc_batches m
		WHERE m.organisation = b.organisation AND m.warehouse = b.warehouse AND m.item = b.item
		AND m.period >= b.moment AND m.expense) l
	WINDOW ordered AS (ORDER BY b.item)
) k WHERE lines <= $4 OR n = 1 ORDER BY item`

// nextItems is the next items: as many as have so many lines together, at least one.
func (s Sequence) nextItems(ctx context.Context, db *database.Database, after id.ID, lines, keys int) (items []id.ID,
	err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		items = nil
		w.Queue("next piece", pieceSQL, s.Organisation, s.Warehouse, after, lines, keys).Rows(func(r pgx.Rows) error {
			var item id.ID
			err := r.Scan(&item)
			items = append(items, item)
			return err
		})
		return nil
	})
	return items, err
}

func (s Sequence) restoration(items []id.ID, manner posting.Manner) posting.Restoration {
	r := posting.Restoration{Register: books.Batches.Name(), Organisation: s.Organisation, How: manner,
		Keys: rowset.New([]metadata.Attribute{
			{Name: "warehouse", Type: metadata.Reference}, {Name: "item", Type: metadata.Reference},
		}, len(items))}
	r.Keys.Grow(len(items))
	warehouses := rowset.Column[id.ID](r.Keys, "warehouse")
	for i := range items {
		warehouses[i] = s.Warehouse
	}
	copy(rowset.Column[id.ID](r.Keys, "item"), items)
	// who takes or brings locks the stock; who changes what was taken, the batches too
	app := erp.Metadata()
	for _, name := range []string{books.Stock.Name(), books.Batches.Name()} {
		r.Locks = append(r.Locks, register.Locks(app.Register(name), s.Organisation, r.Keys)...)
	}
	return r
}

// keysMax leaves most of the server's table of locks to others: ten restorations take a quarter.
func keysMax(ctx context.Context, db *database.Database) (n int, err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		const room = "SELECT current_setting('max_locks_per_transaction')::bigint * " +
			"current_setting('max_connections')::bigint / 80"
		w.Queue("room for locks", room).Rows(func(r pgx.Rows) error { return r.Scan(&n) })
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read the size of the lock table: %w", err)
	}
	return min(KeysMax, max(keysFloor, n)), nil
}
