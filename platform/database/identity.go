package database

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// identitySQL names a database by its cluster, which initdb gives a number that no other has, and by its oid: a host and a name may mean
// another database on another machine.
const identitySQL = `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid FROM pg_database WHERE datname = current_database()`

// Identity of the database that q talks to: the same for everybody who is connected to it, by whatever address. It is empty where it may not be known.
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
