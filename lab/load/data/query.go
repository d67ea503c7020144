package data

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
)

// Query reads the rows of a source that is a query, once.
func (s *Source) Query(ctx context.Context, dsn string) error {
	return postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		answer := conn.PgConn().ExecParams(ctx, s.SQL, nil, nil, nil, nil) // all values as text
		var t *Table
		var keep []int
		for answer.NextRow() {
			var err error
			if t == nil {
				if t, keep, err = tableOf(answer.FieldDescriptions()); err != nil {
					_, _ = answer.Close()
					return err
				}
			}
			values := answer.Values()
			for column, at := range keep {
				if err := t.add(column, values[at], values[at] == nil); err != nil {
					_ = conn.PgConn().Close(ctx) // rather than to read all the rest
					return err
				}
			}
			t.Rows++
		}
		if _, err := answer.Close(); err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("the query gives no row")
		}
		s.table = t
		return nil
	})
}

func tableOf(fields []pgconn.FieldDescription) (*Table, []int, error) {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	return NewTable(names)
}
