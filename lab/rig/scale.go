package rig

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
)

// estimateAbove is how many rows by the planner's estimate a table may have to be
// counted: a large base is described by the estimate alone.
const estimateAbove = 100_000

// scaleSQL gives the planner's estimate of a table's rows.
const scaleSQL = `SELECT coalesce((SELECT reltuples::int8 FROM pg_class WHERE oid = to_regclass($1)), -1)`

// Scale says in words how large the ERP's base is: "2,100 documents, 1,000 items, …, 61 MB".
func Scale(ctx context.Context, dsn string) (string, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", fmt.Errorf("look at the base: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	text, err := describe(ctx, conn)
	if err != nil {
		return "", fmt.Errorf("look at the base: %w", err)
	}
	return text, nil
}

func describe(ctx context.Context, conn *pgx.Conn) (string, error) {
	var documents int64
	application := erp.Metadata()
	for _, d := range application.Documents {
		n, err := rows(ctx, conn, d.Table())
		if err != nil {
			return "", err
		}
		documents += n
	}
	parts := []string{thousands(documents) + " documents"}
	for _, c := range application.Catalogs {
		n, err := rows(ctx, conn, c.Table())
		if err != nil {
			return "", err
		}
		parts = append(parts, thousands(n)+" "+c.Name)
	}
	var size string
	err := conn.QueryRow(ctx, "SELECT pg_size_pretty(pg_database_size(current_database()))").Scan(&size)
	return strings.Join(append(parts, size), ", "), err
}

func rows(ctx context.Context, conn *pgx.Conn, table string) (n int64, err error) {
	if err := conn.QueryRow(ctx, scaleSQL, table).Scan(&n); err != nil || n > estimateAbove {
		return n, err
	}
	err = conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()).Scan(&n)
	return n, err
}

// thousands writes 30000 as 30,000.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
