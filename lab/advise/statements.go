package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/sqltext"
	"plimsoll/lab/diagnose/condition"
)

type statement struct {
	Query string
	// Mean, Total and Planning are milliseconds. Plans are counted where pg_stat_statements.track_planning is on.
	Calls, Mean, Rows, Total, Plans, Planning float64
}

const (
	ownStatementsSQL = `SELECT left(query, 20000) AS query, calls::float8 AS calls, mean_exec_time::float8 AS mean,
		rows::float8 AS rows,
		total_exec_time::float8 AS total, plans::float8 AS plans, total_plan_time::float8 AS planning FROM %s
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		ORDER BY total_exec_time DESC LIMIT 2000`
	whereStatementsSQL = `SELECT n.nspname AS schema, 'pg_stat_statements' AS name FROM pg_extension e
		JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`
	seenStatementsSQL = `SELECT query, 1::float8 AS calls, 0::float8 AS mean FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
)

// statements that ran, read once.
func (s *server) statements(ctx context.Context) (all []statement, err error) {
	if s.ran == nil {
		all, err = s.readStatements(ctx)
		s.ran = append([]statement{}, all...)
		for _, text := range s.sampled {
			s.ran = append(s.ran, statement{Query: text})
		}
	}
	return s.ran, err
}

// readStatements are all that the server counted, or those that its sessions ran last.
func (s *server) readStatements(ctx context.Context) ([]statement, error) {
	where, err := one[table](ctx, s, whereStatementsSQL)
	if err != nil {
		return nil, err
	}
	if where != nil {
		counted, err := ask[statement](ctx, s, fmt.Sprintf(ownStatementsSQL, where.sql()))
		if err == nil {
			return counted, nil
		}
		if kept := s.keep("missing indexes: pg_stat_statements", err, ""); kept != nil {
			return nil, kept
		}
	} else {
		s.miss("missing indexes: pg_stat_statements", "the extension is not installed in this database: only the "+
			"last statement of each session was examined")
	}
	return ask[statement](ctx, s, seenStatementsSQL)
}

// compared are the columns of a table that a statement compares with values.
func compared(sql, table string, columns []column, kind condition.Kind) (found []column) {
	names := condition.Columns(sql, table, namesOf(columns), kind)
	for _, c := range columns {
		if slices.Contains(names, c.Name) {
			found = append(found, c)
		}
	}
	return found
}

func namesOf(columns []column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// short statement, without its values.
func short(sql string) string {
	sql = sqltext.WithoutValues(sql)
	const most = 160
	if r := []rune(sql); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return sql
}

// keep continues where the server refuses: what is missing is listed.
func (s *server) keep(name string, err error, right string) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	s.miss(name, class{right: right}.excuse(refused))
	return nil
}
