package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// AsOwner connects for SQL of the server's owner, that is a user's own or ours on a server that we made: names without
// a schema mean what they mean there. Our statements on somebody's server need Connect.
func AsOwner(ctx context.Context, dsn string) (*pgx.Conn, error) { return pgx.Connect(ctx, dsn) }

// With connects as AsOwner does, does something and disconnects.
func With(ctx context.Context, dsn string, do func(*pgx.Conn) error) error {
	conn, err := AsOwner(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return do(conn)
}

// Execute statements of the server's owner, each by itself, without parameters.
func Execute(ctx context.Context, dsn string, statements ...string) error {
	return With(ctx, dsn, func(conn *pgx.Conn) error { return ExecuteOn(ctx, conn, statements...) })
}

// ExecuteOn is Execute on a connection that is there.
func ExecuteOn(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// Value is what a query of the server's owner gives in its one row and column.
func Value[T any](ctx context.Context, dsn, sql string, arguments ...any) (value T, err error) {
	err = With(ctx, dsn, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, sql, arguments...).Scan(&value) })
	return value, err
}
