package waits

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Prepared is a transaction that is prepared and not committed: it has no session, and keeps its locks and its horizon.
type Prepared struct {
	GID, Owner, Database string
	For                  time.Duration
	XIDs                 int64  // transactions started since
	Holds                string // locks of tables, in words
}

//go:embed prepared.sql
var preparedSQL string

// nameHolders names the prepared transactions that some wait for.
func nameHolders(ctx context.Context, conn *pgx.Conn, all []Blocked) error {
	if !slices.ContainsFunc(all, func(b Blocked) bool { return slices.Contains(b.Blockers, 0) }) {
		return nil
	}
	rows, err := conn.Query(ctx, preparedSQL)
	if err != nil {
		return fmt.Errorf("read prepared transactions: %w", err)
	}
	holders := map[int]*Prepared{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (p Prepared, err error) {
		var pid int
		var held float64
		err = row.Scan(&pid, &p.GID, &p.Owner, &p.Database, &held, &p.XIDs, &p.Holds)
		p.For = seconds(held)
		holders[pid] = &p
		return p, err
	})
	if err != nil {
		return fmt.Errorf("read prepared transactions: %w", err)
	}
	for i := range all {
		all[i].Prepared = holders[all[i].PID]
	}
	return nil
}
