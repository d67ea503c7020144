package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Execute connects, executes SQL without parameters and disconnects.
func Execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}
