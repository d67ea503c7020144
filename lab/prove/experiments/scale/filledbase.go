package scale

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/platform/data/database"
)

// filledBase is a separate database whose rows were counted.
type filledBase struct {
	*site.SeparateBase
	bytes     int64
	documents []proportion // by type
	catalogs  []proportion
	movements proportion // of costs
	entries   proportion
	byItem    proportion // entries, if each line of goods had its own
}

func fillBase(ctx context.Context, c *cluster.Cluster, scale float64, streams int) (*filledBase, error) {
	separate, err := site.FillSeparate(ctx, c, scale, streams)
	if err != nil {
		return nil, err
	}
	f := &filledBase{SeparateBase: separate}
	err = f.Open(ctx, func(db *database.Database) error {
		return db.Borrow(ctx, func(conn *pgx.Conn) error { return f.count(ctx, conn) })
	})
	if err != nil {
		return nil, errors.Join(err, f.Drop(context.WithoutCancel(ctx)))
	}
	return f, nil
}

// count counts rows in the base, not what was planned.
func (f *filledBase) count(ctx context.Context, conn *pgx.Conn) error {
	app := erp.Metadata()
	rows := func(what, table string, reported int) (p proportion, err error) {
		p = proportion{what: what, reported: int64(reported)}
		if err = conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(
			&p.found); err != nil {
			err = fmt.Errorf("count %s: %w", what, err)
		}
		return p, err
	}
	reported := fill.Reported()
	for i := range app.Documents {
		d := &app.Documents[i]
		if reported[d.Name] == 0 {
			continue
		}
		p, err := rows(d.Name, d.Table(), reported[d.Name])
		if err != nil {
			return err
		}
		f.documents = append(f.documents, p)
	}
	for _, name := range catalogNames() {
		c, _ := app.Catalog(name)
		p, err := rows(name, c.Table(), fill.ReportedCatalogs()[name])
		if err != nil {
			return err
		}
		f.catalogs = append(f.catalogs, p)
	}
	for _, one := range []struct {
		to          *proportion
		what, table string
		reported    int
	}{
		{&f.movements, movementCount, app.Register(books.Batches.Name()).Table(), c02ClaimedMovements},
		{&f.entries, entryCount, app.Ledger(books.General.Name()).Table(), c02ClaimedEntries},
	} {
		p, err := rows(one.what, one.table, one.reported)
		if err != nil {
			return err
		}
		*one.to = p
	}
	f.byItem = proportion{what: entriesByLine, reported: c02ClaimedEntries}
	if err := conn.QueryRow(ctx, entriesByItem).Scan(&f.byItem.found); err != nil {
		return fmt.Errorf("count %s: %w", f.byItem.what, err)
	}
	return conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&f.bytes)
}

// entriesByItem counts the entries that accounts 41 and 10 would have with one for each movement of stock: they have
// one for all items of a document.
const entriesByItem = `SELECT (SELECT count(*) FROM gl_general WHERE debit NOT IN ('41', '10')
	AND credit NOT IN ('41', '10')) + (SELECT count(*) FROM acc_stock)`

// check that every row is as written.
func (f *filledBase) check(ctx context.Context) (checked fill.Checked, err error) {
	err = f.Open(ctx, func(db *database.Database) error {
		checked, err = fill.Check(ctx, db, fill.Options{Streams: f.Streams})
		return err
	})
	return checked, err
}

// audit a sample of the books.
func (f *filledBase) audit(ctx context.Context, share float64) (found audit.Report, err error) {
	err = f.Open(ctx, func(db *database.Database) error {
		found, err = audit.RunAs(ctx, db, audit.Options{Mode: audit.Sample, Share: share, Seed: 1,
			Connections: f.Streams})
		return err
	})
	return found, err
}

// all counts that are compared with the report.
func (f *filledBase) all() []proportion {
	return append(slices.Concat(f.documents, f.catalogs), f.whole(), f.movements, f.entries, f.byItem)
}

// whole is the sum of all document types.
func (f *filledBase) whole() proportion {
	all := proportion{what: allDocuments}
	for _, p := range f.documents {
		all.found, all.reported = all.found+p.found, all.reported+p.reported
	}
	return all
}
