package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// databaseSQL identifies a database by its cluster's system identifier, which initdb makes unique, and its oid: host
// and name may mean another database on another machine.
const databaseSQL = `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid FROM pg_database
	WHERE datname = current_database()`

// DatabaseID of the database that q is connected to, the same by any address. Empty if it may not be known.
func DatabaseID(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (id string) {
	if err := q.QueryRow(ctx, databaseSQL).Scan(&id); err != nil {
		return ""
	}
	return id
}
