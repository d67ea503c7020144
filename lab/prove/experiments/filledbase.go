package experiments

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/platform/database"
)

// filledBase is a separate database, filled at a fraction of the report's scale.
type filledBase struct {
	cluster *cluster.Cluster
	name    string
	scale   float64
	streams int

	took      time.Duration
	bytes     int64
	documents []proportion // by type
	contracts proportion
	movements proportion // of costs
	entries   proportion
	byItem    proportion // entries, if each line of goods had its own
}

func fillBase(ctx context.Context, c *cluster.Cluster, scale float64, streams int) (f *filledBase, err error) {
	f = &filledBase{cluster: c, scale: scale, streams: streams,
		name: strings.ReplaceAll(fmt.Sprintf("base_%g", scale), ".", "_")}
	if err := f.admin(ctx, "DROP DATABASE IF EXISTS "+f.quoted()+" WITH (FORCE)",
		"CREATE DATABASE "+f.quoted()); err != nil {
		return nil, err
	}
	err = f.open(ctx, func(db *database.Database) error {
		done, err := fill.Run(ctx, db, fill.Options{Scale: scale, Streams: streams, Create: true})
		if err != nil {
			return err
		}
		f.took = done.Elapsed
		return db.Borrow(ctx, func(conn *pgx.Conn) error { return f.count(ctx, conn) })
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fill at scale %g: %w", scale, err), f.drop(context.WithoutCancel(ctx)))
	}
	return f, nil
}

func (f *filledBase) quoted() string { return pgx.Identifier{f.name}.Sanitize() }

func (f *filledBase) admin(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, f.cluster.DSN("").Secret())
	if err != nil {
		return fmt.Errorf("connect to cluster %s: %w", f.cluster.Name(), err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return execute(ctx, conn, statements...)
}

func (f *filledBase) drop(ctx context.Context) error {
	return f.admin(ctx, "DROP DATABASE IF EXISTS "+f.quoted()+" WITH (FORCE)")
}

func (f *filledBase) open(ctx context.Context, do func(*database.Database) error) error {
	db, err := database.Open(ctx, f.cluster.DSN(f.name).Secret(),
		database.Options{Connections: f.streams + 1, Application: "plimsoll prove", StatementTimeout: -1})
	if err != nil {
		return err
	}
	defer db.Close()
	return do(db)
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
	contracts, _ := app.Catalog("contracts")
	for _, one := range []struct {
		to          *proportion
		what, table string
		reported    int
	}{
		{&f.contracts, contractCount, contracts.Table(), c02ClaimedContracts},
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
	err = f.open(ctx, func(db *database.Database) error {
		checked, err = fill.Check(ctx, db, fill.Options{Streams: f.streams})
		return err
	})
	return checked, err
}

// audit a sample of the books.
func (f *filledBase) audit(ctx context.Context, share float64) (found audit.Report, err error) {
	err = f.open(ctx, func(db *database.Database) error {
		found, err = audit.RunAs(ctx, db, audit.Options{Mode: audit.Sample, Share: share, Seed: 1,
			Connections: f.streams})
		return err
	})
	return found, err
}

// all counts that are compared with the report.
func (f *filledBase) all() []proportion {
	return append(append([]proportion{}, f.documents...), f.whole(), f.contracts, f.movements, f.entries, f.byItem)
}

// whole is the sum of all document types.
func (f *filledBase) whole() proportion {
	all := proportion{what: allDocuments}
	for _, p := range f.documents {
		all.found, all.reported = all.found+p.found, all.reported+p.reported
	}
	return all
}
