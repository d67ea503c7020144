package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"plimsoll/platform/data/database"
)

// snapshot is several connections that see the same snapshot.
type snapshot struct {
	db          *database.Database
	connections int
	progress    func(done, total int64)
	name        string
	done, total atomic.Int64
	rows        atomic.Int64
}

// task is one check; bytes estimates how much it reads.
type task struct {
	name  string
	bytes int64
	do    func(context.Context, pgx.Tx) error
}

// reading is the transaction of an audit: without timeouts of its own, without parallel workers (there is a connection
// for each core), and with months in UTC.
const reading = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL timezone = 'UTC'`

// withSnapshot opens the snapshot, calls do with the first connection, and ends it.
func withSnapshot(ctx context.Context, db *database.Database, do func(pgx.Tx, string) error) error {
	return begin(ctx, db, "", func(tx pgx.Tx) error {
		var name string
		if err := tx.QueryRow(ctx, "SELECT pg_export_snapshot()").Scan(&name); err != nil {
			return fmt.Errorf("export the snapshot: %w", err)
		}
		return do(tx, name)
	})
}

func begin(ctx context.Context, db *database.Database, name string, do func(pgx.Tx) error) error {
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(tx pgx.Tx) error {
				if name != "" {
					if _, err := tx.Exec(ctx, "SET TRANSACTION SNAPSHOT '"+name+"'"); err != nil {
						return fmt.Errorf("import the snapshot: %w", err)
					}
				}
				if _, err := tx.Exec(ctx, reading); err != nil {
					return err
				}
				return do(tx)
			})
	})
}

// each runs all tasks, the longest first; the first error stops the others.
func (s *snapshot) each(ctx context.Context, tasks []task) error {
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b task) int { return cmp.Compare(b.bytes, a.bytes) })
	var mu sync.Mutex
	next := func() (t task, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(tasks) == 0 {
			return t, false
		}
		t, tasks = tasks[0], tasks[1:]
		return t, true
	}
	group, ctx := errgroup.WithContext(ctx)
	for range min(s.connections, len(tasks)) {
		group.Go(func() error {
			return begin(ctx, s.db, s.name, func(tx pgx.Tx) error {
				before, err := rowsRead(ctx, tx)
				if err != nil {
					return err
				}
				for t, more := next(); more; t, more = next() {
					if err := t.do(ctx, tx); err != nil {
						return fmt.Errorf("%s: %w", t.name, err)
					}
					s.advance(t.bytes)
				}
				after, err := rowsRead(ctx, tx)
				s.rows.Add(after - before)
				return err
			})
		})
	}
	return group.Wait()
}

func (s *snapshot) advance(bytes int64) {
	done := s.done.Add(bytes)
	if s.progress != nil {
		s.progress(done, s.total.Load())
	}
}

// rowsRead from tables by this session, as far as not yet reported to the server; earlier transactions may be included.
func rowsRead(ctx context.Context, tx pgx.Tx) (rows int64, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::bigint
	FROM pg_stat_xact_user_tables`).Scan(&rows)
	return rows, err
}
