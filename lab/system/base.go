package system

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/erp"
	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
)

// undefinedTable is PostgreSQL's error if nothing was ever filled.
const undefinedTable = "42P01"

// estimateAbove is the limit of the planner's estimate up to which a table is counted: a large base is described by the
// estimate alone.
const estimateAbove = 100_000

// scaleSQL gives the planner's estimate of a table's rows.
const scaleSQL = `SELECT coalesce((SELECT reltuples::int8 FROM pg_class WHERE oid = to_regclass($1)), -1)`

// Base is the size of the ERP's base.
type Base struct {
	Documents int64
	Catalogs  []Catalog
	Size      string // on disk, in words
}

// Catalog is one catalog and its rows.
type Catalog struct {
	Name string
	Rows int64
}

// String says it in words: "2,100 documents, 1,000 items, …, 61 MB".
func (b Base) String() string {
	parts := []string{human.Thousands(b.Documents) + " documents"}
	for _, c := range b.Catalogs {
		parts = append(parts, human.Thousands(c.Rows)+" "+c.Name)
	}
	return strings.Join(append(parts, b.Size), ", ")
}

// likeWithin is how far two bases that were filled alike may differ: rows of large tables are estimates, and somebody
// may have posted a document or two.
const likeWithin = 0.02

// Like says whether another base was filled with the same numbers and has not grown since.
func (b Base) Like(other Base) bool {
	near := func(one, two int64) bool {
		return math.Abs(float64(one-two)) <= likeWithin*float64(max(one, two))
	}
	if !near(b.Documents, other.Documents) || len(b.Catalogs) != len(other.Catalogs) {
		return false
	}
	for i, c := range b.Catalogs {
		if !near(c.Rows, other.Catalogs[i].Rows) {
			return false
		}
	}
	return true
}

// Look reads the size of a base.
func Look(ctx context.Context, dsn string) (Base, error) {
	db, err := database.Open(ctx, dsn, database.Options{Connections: 1})
	if err != nil {
		return Base{}, fmt.Errorf("inspect the base: %w", err)
	}
	defer db.Close()
	var b Base
	err = db.Borrow(ctx, func(conn *pgx.Conn) (err error) {
		b, err = count(ctx, conn)
		return err
	})
	if absent := (*pgconn.PgError)(nil); errors.As(err, &absent) && absent.Code == undefinedTable {
		return Base{}, problem.New(problem.Environment,
			errors.New("the database does not hold the ERP"),
			"create one with 'plimsoll fill', or name another database with --dsn")
	}
	if err != nil {
		return Base{}, fmt.Errorf("inspect the base: %w", err)
	}
	return b, nil
}

func count(ctx context.Context, conn *pgx.Conn) (b Base, err error) {
	application := erp.Metadata()
	for _, d := range application.Documents {
		n, err := rows(ctx, conn, d.Table())
		if err != nil {
			return b, err
		}
		b.Documents += n
	}
	for _, c := range application.Catalogs {
		n, err := rows(ctx, conn, c.Table())
		if err != nil {
			return b, err
		}
		b.Catalogs = append(b.Catalogs, Catalog{c.Name, n})
	}
	err = conn.QueryRow(ctx, "SELECT pg_size_pretty(pg_database_size(current_database()))").Scan(&b.Size)
	return b, err
}

func rows(ctx context.Context, conn *pgx.Conn, table string) (n int64, err error) {
	if err := conn.QueryRow(ctx, scaleSQL, table).Scan(&n); err != nil || n > estimateAbove {
		return n, err
	}
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n)
	return n, err
}
