package crash

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// checks of the recovered server: each gives the number of what is wrong.
var checks = []struct{ what, sql string }{
	{"totals that differ from their documents", `SELECT count(*) FROM crash_total t LEFT JOIN
		(SELECT account, sum(amount) AS amount, count(*) AS documents FROM crash_document GROUP BY 1) d USING (account)
		WHERE t.amount <> coalesce(d.amount, 0) OR t.documents <> coalesce(d.documents, 0)`},
	{"documents without their three lines", `SELECT count(*) FROM crash_document d WHERE (SELECT count(*)
		FROM crash_line l WHERE l.document = d.id AND l.amount = d.amount) <> 3`},
	{"lines without a document", `SELECT count(*) FROM crash_line l WHERE NOT EXISTS (SELECT FROM crash_document d
		WHERE d.id = l.document)`},
	{"faults that amcheck finds in tables", `SELECT count(*) FROM pg_class c, verify_heapam(c.oid)
		WHERE c.relkind = 'r' AND c.relpersistence = 'p'`},
	{"faults that amcheck finds in indexes", `SELECT count(bt_index_check(c.oid, true)::text) * 0 FROM pg_class c
		JOIN pg_am a ON a.oid = c.relam JOIN pg_index i ON i.indexrelid = c.oid
		WHERE a.amname = 'btree' AND c.relpersistence = 'p' AND i.indisvalid`},
}

// takeStock compares what was acknowledged with what is there, and looks for damage.
func (l *lab) takeStock(ctx context.Context, one *Cut, acks []ack, at time.Time) error {
	conn, err := l.connect(ctx)
	if err != nil {
		one.Acknowledged, one.Lost = len(acks), len(acks)
		return one.found(err, "it lets nobody in")
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, c := range checks {
		var wrong int64
		err := conn.QueryRow(ctx, c.sql).Scan(&wrong)
		if err := one.found(err, c.what); err != nil {
			return err
		}
		if wrong > 0 {
			one.Damage = append(one.Damage, fmt.Sprintf("%d %s", wrong, c.what))
		}
	}
	rows, err := conn.Query(ctx, "SELECT id FROM crash_document")
	if err != nil {
		return one.found(err, "documents")
	}
	there, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err := one.found(err, "documents"); err != nil {
		return err
	}
	one.Recovered = len(there)
	one.count(there, acks, at)
	return nil
}

// found takes an error of the server itself for damage, and any other for one of ours.
func (c *Cut) found(err error, what string) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		c.Damage = append(c.Damage, fmt.Sprintf("%s: %s", what, refused.Message))
		return nil
	}
	return err
}

// count fills the ledger.
func (c *Cut) count(there []int64, acks []ack, at time.Time) {
	has := make(map[int64]bool, len(there))
	for _, id := range there {
		has[id] = true
	}
	var wal, firstWAL int64
	first := at
	c.Acknowledged = len(acks)
	for _, a := range acks {
		wal = max(wal, a.wal)
		if has[a.id] {
			continue
		}
		if c.Lost++; firstWAL == 0 || a.wal < firstWAL {
			firstWAL = a.wal
		}
		if a.at.Before(first) {
			first = a.at
		}
	}
	if c.Lost > 0 {
		c.LostMS, c.LostWALBytes = float64(at.Sub(first))/float64(time.Millisecond), wal-firstWAL
	}
}
