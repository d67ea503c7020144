package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// identitySQL identifies a database by its cluster's system identifier, which initdb makes unique, and its oid: host
// and name may mean another database on another machine.
const identitySQL = `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid FROM pg_database
	WHERE datname = current_database()`

// Identity of the database that q is connected to, the same by any address. Empty if it may not be known.
func Identity(ctx context.Context, q interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}) (id string) {
	if err := q.QueryRow(ctx, identitySQL).Scan(&id); err != nil {
		return ""
	}
	return id
}

// Identity is that of the database when it was opened.
func (db *Database) Identity() string { return db.identity }
