package fill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/statement"
)

// deferredFrom so many rows on, a base is loaded without indexes; a smaller one keeps them. Tests defer them sooner.
var deferredFrom = 300_000

const rowsPerDocument = 19

// index that is dropped while data is loaded.
type index struct {
	name, table, statement string
	key                    bool // of the primary key
}

// deferIndexes records and drops the indexes of all tables of the application.
func deferIndexes(ctx context.Context, tx pgx.Tx) error {
	ours := slices.DeleteFunc(tables(), func(name string) bool { return strings.HasPrefix(name, "plimsoll_") })
	_, err := tx.Exec(ctx, `INSERT INTO plimsoll_fill_index
		SELECT c.relname, t.relname, pg_get_indexdef(i.indexrelid), i.indisprimary
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
		WHERE t.relnamespace = current_schema()::regnamespace AND t.relname = ANY ($1)`, ours)
	if err != nil {
		return fmt.Errorf("record indexes: %w", err)
	}
	missing, err := deferred(ctx, tx)
	if err != nil {
		return err
	}
	for _, i := range missing {
		drop := "DROP INDEX " + quoted(i.name)
		if i.key {
			drop = fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s", quoted(i.table), quoted(i.name))
		}
		if _, err := tx.Exec(ctx, drop); err != nil {
			return fmt.Errorf("postpone index %s: %w", i.name, err)
		}
	}
	return nil
}

// Autovacuum would process each table again and again while it grows. It is switched off for them until all have been
// vacuumed and analyzed at the end.
const (
	withoutAutovacuum = "SET (autovacuum_enabled = off)"
	withAutovacuum    = "RESET (autovacuum_enabled)"
)

func alterAll(ctx context.Context, on executor, action string) error {
	var all strings.Builder
	for _, name := range tables() {
		fmt.Fprintf(&all, "ALTER TABLE %s %s;", quoted(name), action)
	}
	if _, err := on.Exec(ctx, all.String(), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("alter tables: %w", err)
	}
	return nil
}

type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// deferred indexes, those of the largest tables first where sizes are known.
func deferred(ctx context.Context, q querier) (all []index, err error) {
	rows, err := q.Query(ctx, `SELECT name, on_table, statement, is_key FROM plimsoll_fill_index
		ORDER BY pg_relation_size(on_table::regclass) DESC, name`)
	if err != nil {
		return nil, fmt.Errorf("read journal of the fill: %w", err)
	}
	var i index
	_, err = pgx.ForEachRow(rows, []any{&i.name, &i.table, &i.statement, &i.key}, func() error {
		all = append(all, i)
		return nil
	})
	return all, err
}

// build an index unless it exists, and delete it from the list. Two indexes of one table are built in parallel, which
// ADD PRIMARY KEY would not allow: so keys are attached to indexes, which may have been built before a stop.
func (i index) build(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", quoted(i.name)).Scan(&there); err != nil {
		return fmt.Errorf("look for index %s: %w", i.name, err)
	}
	if !there {
		if _, err := tx.Exec(ctx, i.statement); err != nil {
			return fmt.Errorf("build index %s: %w", i.name, err)
		}
	}
	if i.key {
		return nil
	}
	return forgetIndexes(ctx, tx, i.name)
}

// attach the keys to their indexes, all in one transaction: each takes a moment, and a commit would take longer.
func attach(ctx context.Context, tx pgx.Tx, built []index) error {
	var names []string
	for _, i := range built {
		if !i.key {
			continue
		}
		if _, err := tx.Exec(ctx, statement.SQL(
			"ALTER TABLE {table} ADD CONSTRAINT {name} PRIMARY KEY USING INDEX {name}",
			statement.Names{"table": quoted(i.table), "name": quoted(i.name)})); err != nil {
			return fmt.Errorf("make key %s: %w", i.name, err)
		}
		names = append(names, i.name)
	}
	return forgetIndexes(ctx, tx, names...)
}

func forgetIndexes(ctx context.Context, tx pgx.Tx, names ...string) error {
	_, err := tx.Exec(ctx, "DELETE FROM plimsoll_fill_index WHERE name = ANY ($1)", names)
	return err
}

// indexes that were deferred are built, then the keys are attached.
func (f *filler) indexes(ctx context.Context) error {
	return f.build(ctx, "indexes", func(index) bool { return true })
}

func (f *filler) build(ctx context.Context, stage string, which func(index) bool) error {
	missing, err := deferred(ctx, f.journal.conn)
	if err != nil {
		return err
	}
	missing = slices.DeleteFunc(missing, func(i index) bool { return !which(i) })
	f.stage(stage, int64(len(missing)))
	memory, err := f.memoryEach(ctx)
	if err != nil {
		return err
	}
	err = f.each(ctx, len(missing), func(ctx context.Context, conn *pgx.Conn, n int) error {
		i := missing[n]
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			// An index and its row in the journal are lost together or not at all: the flush at the end is early
			// enough.
			if _, err := tx.Exec(ctx, fmt.Sprintf(
				"SET LOCAL maintenance_work_mem = '%dkB'; SET LOCAL synchronous_commit = off", memory)); err != nil {
				return err
			}
			return i.build(ctx, tx)
		})
		f.addProgress(1)
		return err
	})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, f.journal.conn, func(tx pgx.Tx) error { return attach(ctx, tx, missing) })
}

// memoryEach is how much a stream may use for sorting, in kB: a part of shared_buffers, which is a part of the
// server's memory.
func (f *filler) memoryEach(ctx context.Context) (kB int64, err error) {
	err = f.journal.conn.QueryRow(ctx, "SELECT pg_size_bytes(current_setting('shared_buffers')) / 1024").Scan(&kB)
	const least, most = 64 << 10, 2 << 20
	return max(least, min(most, kB/2/int64(f.streams))), err
}

// totals of each register by one statement over its movements, as a recalculation makes them, then their indexes,
// which the comparison with raw COPY does not count.
func (f *filler) totals(ctx context.Context) error {
	app := f.base.app
	var names, statements []string
	for i := range app.Accounting {
		l := &app.Accounting[i]
		names, statements = append(names, l.Totals(), l.AccountTotals()),
			append(statements, ledger.TotalsSQL(l), ledger.AccountTotalsSQL(l))
	}
	for i := range app.Accumulation {
		names, statements = append(names, app.Accumulation[i].Totals()),
			append(statements, register.TotalsSQL(&app.Accumulation[i]))
	}
	f.stage("totals", int64(len(names)))
	memory, err := f.memoryEach(ctx)
	if err != nil {
		return err
	}
	err = f.each(ctx, len(names), func(ctx context.Context, conn *pgx.Conn, i int) error {
		defer f.addProgress(1)
		if f.journal.built[names[i]] {
			return nil
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, fmt.Sprintf(
				"SET LOCAL work_mem = '%dkB'; SELECT pg_advisory_xact_lock_shared(%d)", memory, writersLock),
				pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, statements[i]); err != nil {
				return fmt.Errorf("sum %s: %w", names[i], err)
			}
			return stepDone(ctx, tx, names[i])
		})
	})
	if err != nil {
		return err
	}
	return f.build(ctx, "totals, indexes", func(i index) bool { return slices.Contains(names, i.table) })
}

// statistics, and the tables as in a database that has been running for a while: frozen, with visibility maps.
func (f *filler) statistics(ctx context.Context) error {
	var names []string
	rows, err := f.journal.conn.Query(ctx, "SELECT relname FROM pg_class WHERE relnamespace = "+
		"current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1) ORDER BY relpages DESC, relname",
		tables())
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	f.stage("statistics", int64(len(names)))
	err = f.each(ctx, len(names), func(ctx context.Context, conn *pgx.Conn, i int) error {
		defer f.addProgress(1)
		if _, err := conn.Exec(ctx, "VACUUM (FREEZE, ANALYZE) "+quoted(names[i])); err != nil {
			return fmt.Errorf("gather statistics: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return alterAll(ctx, f.journal.conn, withAutovacuum)
}
