// Package backdated makes bases whose cost batches are out of the order of time: a filled base to which receipts were
// added late, before the whole history or before its last month. They are made once per size and copied for each
// measurement, so that all start from the same state.
package backdated

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/schema"
)

// Base is a database from which copies are made.
type Base struct {
	cluster *cluster.Cluster
	name    string
	Lines   int64 // to be restored
	Since   time.Time
	Until   time.Time // the end of the history
}

// Make returns the base of that size in a cluster, and makes it if it is missing. With months of history the last one
// alone is out of order, which is the last calendar month that is over; else the whole history is.
func Make(ctx context.Context, c *cluster.Cluster, o fill.Options, say func(string, ...any)) (*Base, error) {
	o.Trade = true
	b := &Base{cluster: c, name: fmt.Sprintf("disorder_v%d_%d_%d_%d", schema.PlatformVersion, erp.Version, o.Documents,
		o.Warehouses)}
	if o.Months > 0 {
		o.Until = time.Now().UTC().Truncate(24 * time.Hour)
		o.Until = o.Until.AddDate(0, 0, 1-o.Until.Day())
		b.name += fmt.Sprintf("_%d_%s", o.Months, o.Until.Format("200601"))
	}
	exists, err := b.exists(ctx)
	if err != nil {
		return nil, err
	}
	if !exists {
		say("creating a base of %d receipts and sales that wait for their costs; it is kept for next time",
			o.Documents)
		if err := b.make(ctx, o); err != nil {
			return nil, fmt.Errorf("create %s: %w", b.name, err)
		}
	}
	return b, b.look(ctx)
}

func (b *Base) exists(ctx context.Context) (bool, error) {
	return postgres.Value[bool](ctx, b.cluster.DSN("").Secret(),
		"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", b.name)
}

// make uses a temporary name, so that a base with the right name is complete.
func (b *Base) make(ctx context.Context, o fill.Options) error {
	making := b.name + "_making"
	if err := b.run(ctx, "DROP DATABASE IF EXISTS "+making, "CREATE DATABASE "+making); err != nil {
		return err
	}
	db, err := database.Open(ctx, b.cluster.DSN(making).Secret(),
		database.Options{Connections: 2, StatementTimeout: -1})
	if err != nil {
		return err
	}
	o.Create = true
	_, err = fill.Run(ctx, db, o)
	var from time.Time
	if o.Months > 0 {
		from = o.Until.AddDate(0, -1, 0)
	}
	if err == nil {
		err = Late(ctx, db, from)
	}
	db.Close()
	if err != nil {
		return err
	}
	return b.run(ctx, fmt.Sprintf("ALTER DATABASE %s RENAME TO %s", making, b.name))
}

func (b *Base) run(ctx context.Context, statements ...string) error {
	return postgres.Execute(ctx, b.cluster.DSN("").Secret(), statements...)
}

func (b *Base) look(ctx context.Context) error {
	const lines = `SELECT count(*), coalesce(min(b.moment), now()), coalesce(max(m.period), now())
		FROM acc_batches_boundary b JOIN acc_batches m
		ON m.organisation = b.organisation AND m.warehouse = b.warehouse AND m.item = b.item
		AND m.period >= b.moment AND m.expense`
	return postgres.With(ctx, b.cluster.DSN(b.name).Secret(), func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, lines).Scan(&b.Lines, &b.Since, &b.Until)
	})
}

// Copy copies the base; drop removes the copy.
func (b *Base) Copy(ctx context.Context) (dsn string, drop func() error, err error) {
	name := b.name + "_copy"
	drop = func() error {
		return b.run(context.WithoutCancel(ctx), fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name))
	}
	err = postgres.With(ctx, b.cluster.DSN("").Secret(), func(conn *pgx.Conn) error {
		return postgres.CopyDatabase(ctx, conn, b.name, name)
	})
	return b.cluster.DSN(name).Secret(), drop, err
}

// Late posts receipts of a moment, for half of what has been sold since: then every sale from there on waits for new
// costs. The zero moment is before every sale.
func Late(ctx context.Context, db *database.Database, from time.Time) error {
	poster, app := posting.New(db, erp.Metadata(), erp.Rules()), erp.Metadata()
	meta, _ := app.Document(books.GoodsReceipt)
	places, date, err := sold(ctx, db, from)
	if err != nil {
		return err
	}
	for at, p := range places {
		for from := 0; from < len(p.items); from += books.LinesMax {
			d := document.New(meta)
			d.Organisation = p.organisation
			d.Author = p.author
			d.Posted = true
			d.Date = date
			rowset.Column[id.ID](d.Header, "warehouse")[0] = at
			rowset.Column[id.ID](d.Header, "counterparty")[0],
				rowset.Column[id.ID](d.Header, "contract")[0] = p.counterparty, p.contract
			lines := d.Section("lines")
			for i := from; i < min(len(p.items), from+books.LinesMax); i++ {
				row := lines.Grow(1)
				rowset.Column[id.ID](lines, "item")[row] = p.items[i]
				rowset.Column[amount.Quantity](lines, "quantity")[row] = p.quantities[i]/2 + 1
				rowset.Column[amount.Money](lines, "price")[row] = amount.Money(33_333 + i)
			}
			if _, err := poster.Create(ctx, d, posting.Key{Author: d.Author, Name: d.ID.String(),
				Digest: []byte{1}}); err != nil {
				return err
			}
		}
	}
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "VACUUM ANALYZE")
		return err
	})
}

type place struct {
	organisation, counterparty, contract, author id.ID
	items                                        []id.ID
	quantities                                   []amount.Quantity
}

const soldSQL = `SELECT s.organisation, s.warehouse, s.item, s.quantity, c.counterparty, c.id, u.id
FROM (SELECT organisation, warehouse, item, sum(quantity) AS quantity FROM acc_stock WHERE expense AND period >= $1
GROUP BY organisation, warehouse, item) s
CROSS JOIN LATERAL (SELECT id, counterparty FROM cat_contracts WHERE organisation = s.organisation AND supplier
ORDER BY id LIMIT 1) c
CROSS JOIN LATERAL (SELECT id FROM cat_users WHERE organisation = s.organisation ORDER BY id LIMIT 1) u
ORDER BY s.item`

// sold is what was sold by warehouse since a moment, and that moment: the zero one is a day before the first document.
func sold(ctx context.Context, db *database.Database, from time.Time) (map[id.ID]*place, time.Time, error) {
	found, first := map[id.ID]*place{}, time.Time{}
	err := db.Read(ctx, func(w *database.Work) error {
		clear(found)
		w.Queue("goods sold", soldSQL, from).Rows(func(r pgx.Rows) error {
			var p place
			var at, item id.ID
			var quantity amount.Quantity
			err := r.Scan(&p.organisation, &at, &item, &quantity, &p.counterparty, &p.contract, &p.author)
			if found[at] == nil {
				found[at] = &p
			}
			found[at].items, found[at].quantities = append(found[at].items, item),
				append(found[at].quantities, quantity)
			return err
		})
		w.Queue("beginning of history", "SELECT coalesce(min(period), now()) FROM acc_stock").Rows(
			func(r pgx.Rows) error {
				return r.Scan(&first)
			})
		return nil
	})
	if !from.IsZero() {
		return found, from, err
	}
	return found, first.UTC().AddDate(0, 0, -1), err
}
