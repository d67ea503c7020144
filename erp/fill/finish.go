package fill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/platform/ledger"
	"plimsoll/platform/register"
)

// A base of so many rows is loaded without indexes; for a smaller one they are left where they are.
const (
	deferredFrom    = 300_000
	rowsPerDocument = 19
)

// index that is missing while data are loaded.
type index struct {
	name, table, statement string
	key                    bool // of the primary key
}

// deferIndexes notes and drops the indexes of all tables of the application.
func deferIndexes(ctx context.Context, tx pgx.Tx) error {
	ours := slices.DeleteFunc(tables(), func(name string) bool { return strings.HasPrefix(name, "plimsoll_") })
	_, err := tx.Exec(ctx, `INSERT INTO plimsoll_fill_index SELECT c.relname, t.relname, pg_get_indexdef(i.indexrelid), i.indisprimary
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
		WHERE t.relnamespace = current_schema()::regnamespace AND t.relname = ANY ($1)`, ours)
	if err != nil {
		return fmt.Errorf("note indexes: %w", err)
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
			return fmt.Errorf("put off index %s: %w", i.name, err)
		}
	}
	return nil
}

// Autovacuum would look at each table again and again while it grows. It is kept out of them until all of them have been
// vacuumed and analyzed in the end.
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

// deferred indexes, those of the largest tables first, where more than nothing is known of their size.
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

// build an index unless it is there, and strike it off the list. Two of one table are built at once, which ADD PRIMARY KEY would not allow; so keys are
// made of indexes, and may have been built before the fill was stopped.
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
	return strike(ctx, tx, i.name)
}

// attach the keys that some of the indexes were built for, all in one go: each takes a moment, and a commit would take longer.
func attach(ctx context.Context, tx pgx.Tx, built []index) error {
	var names []string
	for _, i := range built {
		if !i.key {
			continue
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %[2]s", quoted(i.table), quoted(i.name))); err != nil {
			return fmt.Errorf("make key %s: %w", i.name, err)
		}
		names = append(names, i.name)
	}
	return strike(ctx, tx, names...)
}

func strike(ctx context.Context, tx pgx.Tx, names ...string) error {
	_, err := tx.Exec(ctx, "DELETE FROM plimsoll_fill_index WHERE name = ANY ($1)", names)
	return err
}

// indexes that were put off are built, then the keys are made of theirs.
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
			// An index and its line in the journal are lost together, or not: the flush at the end of all is early enough.
			if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL maintenance_work_mem = '%dkB'; SET LOCAL synchronous_commit = off", memory)); err != nil {
				return err
			}
			return i.build(ctx, tx)
		})
		f.did(1)
		return err
	})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, f.journal.conn, func(tx pgx.Tx) error { return attach(ctx, tx, missing) })
}

// memoryEach is what a stream may sort in, in kB: a part of what the server was given for its buffers, which a server is given a part of its memory for.
func (f *filler) memoryEach(ctx context.Context) (kB int64, err error) {
	err = f.journal.conn.QueryRow(ctx, "SELECT pg_size_bytes(current_setting('shared_buffers')) / 1024").Scan(&kB)
	const least, most = 64 << 10, 2 << 20
	return max(least, min(most, kB/2/int64(f.streams))), err
}

// totals of each register by one statement over its movements, as a recalculation makes them; then their indexes, which are no part of what a raw COPY of the
// rows is compared with.
func (f *filler) totals(ctx context.Context) error {
	app := f.base.app
	var names, statements []string
	for i := range app.Accounting {
		l := &app.Accounting[i]
		names, statements = append(names, l.Totals(), l.AccountTotals()), append(statements, ledger.TotalsSQL(l), ledger.AccountTotalsSQL(l))
	}
	for i := range app.Accumulation {
		names, statements = append(names, app.Accumulation[i].Totals()), append(statements, register.TotalsSQL(&app.Accumulation[i]))
	}
	f.stage("totals", int64(len(names)))
	memory, err := f.memoryEach(ctx)
	if err != nil {
		return err
	}
	err = f.each(ctx, len(names), func(ctx context.Context, conn *pgx.Conn, i int) error {
		defer f.did(1)
		if f.journal.built[names[i]] {
			return nil
		}
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL work_mem = '%dkB'; SELECT pg_advisory_xact_lock_shared(%d)", memory, writersLock), pgx.QueryExecModeSimpleProtocol); err != nil {
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

// statistics, and the tables as a database that has been running for a while has them: frozen, with their maps of what everybody sees.
func (f *filler) statistics(ctx context.Context) error {
	var names []string
	rows, err := f.journal.conn.Query(ctx, "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname = ANY ($1) ORDER BY relpages DESC, relname", tables())
	if err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	f.stage("statistics", int64(len(names)))
	err = f.each(ctx, len(names), func(ctx context.Context, conn *pgx.Conn, i int) error {
		defer f.did(1)
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
