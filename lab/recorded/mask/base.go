package mask

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
)

// columnsSQL are the columns of the base's own tables, in their order, and whether they hold text.
const columnsSQL = `SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
	a.atttypid::regtype::text ~ '^(text|character varying|character|citext|([a-z_]+\.)?mv?(ar)?char)$'
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND NOT c.relispartition
	AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY n.nspname, c.relname, a.attnum`

// functionsSQL are the functions of the base's owner: not the server's, nor those of extensions.
const functionsSQL = `SELECT DISTINCT proname FROM pg_proc p WHERE pronamespace <> 'pg_catalog'::regnamespace
	AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		AND d.deptype = 'e')
	AND proname NOT IN (SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace)`

// Learn the columns of the base's tables: INSERT may leave out their list, and what stands for none of them may be
// anything.
func (m *Mask) Learn(ctx context.Context, dsn string) error {
	m.tables, m.columnNames, m.functions = map[string][]string{}, map[string]bool{}, map[string]bool{}
	m.learned = true
	err := postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		rows, _ := conn.Query(ctx, functionsSQL)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, name := range names {
			m.functions[strings.ToLower(name)] = true
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the base's functions: %w", err)
	}
	return m.columns(ctx, dsn, func(_ *pgx.Conn, _, table, column, _ string, _ bool) error {
		table, column = strings.ToLower(table), strings.ToLower(column)
		m.tables[table] = append(m.tables[table], column)
		m.columnNames[column] = true
		return nil
	})
}

// Base masks the columns that rules name in the base itself, by the same key: so what statements look for is there. It
// gives the number of values that were changed.
func (m *Mask) Base(ctx context.Context, dsn string) (changed int64, err error) {
	err = m.columns(ctx, dsn, func(conn *pgx.Conn, schema, table, column, kind string, text bool) error {
		if !text || !m.rules.names(table+"."+column) {
			return nil
		}
		name := pgx.Identifier{column}.Sanitize()
		tag, err := conn.Exec(ctx, fmt.Sprintf("UPDATE %[1]s SET %[2]s = (%[3]s)::%[4]s WHERE NOT (%[2]s::text ~ $2)",
			pgx.Identifier{schema, table}.Sanitize(), name, pseudonymSQL(name+"::text"), kind), m.key, never)
		if err != nil {
			return fmt.Errorf("mask %s.%s: %w", table, column, err)
		}
		changed += tag.RowsAffected()
		return nil
	})
	return changed, err
}

// pseudonymSQL is pseudonym of an expression; $1 is the key.
func pseudonymSQL(value string) string {
	sum := fmt.Sprintf("left(encode(sha256(convert_to($1::text || %[1]s, 'UTF8')), 'hex'), greatest(length(%[1]s), "+
		"%[2]d))",
		value, least)
	return fmt.Sprintf("CASE WHEN %s ~ '^[0-9 +()-]+$' THEN translate(%s, 'abcdef', '012345') ELSE %[2]s END", value,
		sum)
}

func (m *Mask) columns(ctx context.Context, dsn string, do func(conn *pgx.Conn, schema, table, column, kind string,
	text bool) error) error {
	conn, err := postgres.Connect(ctx, dsn, "plimsoll")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	type found struct {
		schema, table, column, kind string
		text                        bool
	}
	rows, err := conn.Query(ctx, columnsSQL)
	if err != nil {
		return fmt.Errorf("read the base's columns: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f found, err error) {
		return f, row.Scan(&f.schema, &f.table, &f.column, &f.kind, &f.text)
	})
	if err != nil {
		return fmt.Errorf("read the base's columns: %w", err)
	}
	for _, f := range all {
		if err := do(conn, f.schema, f.table, f.column, f.kind, f.text); err != nil {
			return err
		}
	}
	return nil
}
