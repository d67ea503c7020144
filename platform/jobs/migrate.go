package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"plimsoll/platform/database"
)

// migrationLock keeps workers that start at once from migrating at once.
const migrationLock = 0x6a6f6273 // "jobs"

// Migrate makes the tables of the jobs, in a schema of their own, or brings them forward.
func Migrate(ctx context.Context, db *database.Database) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(db.Driver()), &rivermigrate.Config{Schema: schemaName, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	if current(ctx, db, migrator) {
		return nil
	}
	err = db.Borrow(ctx, func(conn *pgx.Conn) (err error) {
		// The schema is made by a statement of its own behind the lock: a session hears what others have made when a statement of
		// the client begins, and one that waited for the lock in the same one would make the schema again.
		lock := fmt.Sprintf("SET lock_timeout = 0; SELECT pg_advisory_lock(%d)", migrationLock)
		if _, err := conn.Exec(ctx, lock, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		defer func() {
			_, unlocked := conn.Exec(context.WithoutCancel(ctx), fmt.Sprintf("SELECT pg_advisory_unlock(%d); RESET lock_timeout", migrationLock), pgx.QueryExecModeSimpleProtocol)
			if err == nil {
				err = unlocked
			}
		}()
		if _, err = conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schemaName); err != nil {
			return err
		}
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	return nil
}

// current tells whether there is nothing to do, with one small query.
func current(ctx context.Context, db *database.Database, migrator *rivermigrate.Migrator[pgx.Tx]) bool {
	all := migrator.AllVersions()
	var version int
	err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", schemaName+".river_migration").Scan(&there); err != nil || !there {
			return err
		}
		return conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM "+schemaName+".river_migration").Scan(&version)
	})
	return err == nil && version >= all[len(all)-1].Version
}
