package diagnose

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/counters"
	"plimsoll/lab/diagnose/condition"
)

// indexes of a table that was read whole, and its columns.
type indexes struct {
	columns []string
	all     []condition.Index
}

// scannedMost tables are looked at closely.
const scannedMost = 20

const (
	columnsSQL = `SELECT n.nspname || '.' || c.relname, a.attname::text FROM pg_attribute a
		JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE a.attnum > 0 AND NOT a.attisdropped AND n.nspname || '.' || c.relname = ANY($1)`
	firstColumnsSQL = `SELECT n.nspname || '.' || c.relname, i.relname::text, coalesce(a.attname::text, ''),
		x.indisvalid, x.indpred IS NOT NULL FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
		JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
		LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
		WHERE n.nspname || '.' || c.relname = ANY($1) ORDER BY 2`
)

// readLast what is read once, at the end: settings, and the indexes of tables that were read whole.
func (w *watch) readLast(ctx context.Context, delta *counters.Delta, s *sources) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if w.slow.IsClosed() {
		s.miss("settings that differ", "the connection was lost")
		return
	}
	var err error
	w.settings, err = readSettings(ctx, w.slow)
	s.missOnError("settings that differ", err)
	s.miss("settings that sessions set for themselves", "PostgreSQL shows them to the session alone")
	w.indexed, err = readIndexes(ctx, w.slow, scannedTables(delta))
	s.missOnError("indexes of tables that are read whole", err)
}

// scannedTables were read whole, those with the most rows first.
func scannedTables(delta *counters.Delta) (names []string) {
	rows := map[string]float64{}
	for _, key := range delta.Keys(counters.Tables) {
		if n := delta.Grew(counters.Tables, key, "seq_tup_read"); n != nil && *n >= rowsPerScan.Value {
			names = append(names, key)
			rows[key] = *n
		}
	}
	slices.SortFunc(names, func(a, b string) int { return compareDown(rows[a], rows[b], a, b) })
	return names[:min(scannedMost, len(names))]
}

func readIndexes(ctx context.Context, conn *pgx.Conn, tables []string) (map[string]indexes, error) {
	if len(tables) == 0 {
		return nil, nil
	}
	found := map[string]indexes{}
	rows, err := conn.Query(ctx, columnsSQL, tables)
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	var table, column string
	if _, err := pgx.ForEachRow(rows, []any{&table, &column}, func() error {
		one := found[table]
		one.columns = append(one.columns, column)
		found[table] = one
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	if rows, err = conn.Query(ctx, firstColumnsSQL, tables); err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}
	var i condition.Index
	if _, err := pgx.ForEachRow(rows, []any{&table, &i.Name, &i.First, &i.Valid, &i.Partial}, func() error {
		one := found[table]
		one.all = append(one.all, i)
		found[table] = one
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read indexes: %w", err)
	}
	return found, nil
}
