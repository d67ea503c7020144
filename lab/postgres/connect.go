package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/problem"
)

// Connect to a database that a user named by --dsn. The application is the connection's name in pg_stat_activity.
func Connect(ctx context.Context, dsn, application string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read --dsn: %w", err), "postgres://user@host:5432/database")
	}
	config.RuntimeParams["application_name"] = application
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("connect to the database: %w", err),
			"check host, port, user and password of --dsn")
	}
	return conn, nil
}
