package jobs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"plimsoll/platform/data/database"
)

// migrationLock lets one worker migrate at a time.
const migrationLock = 0x6a6f6273 // "jobs"

// Migrate creates the tables of the jobs, in their own schema, or upgrades them.
func Migrate(ctx context.Context, db *database.Database) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(db.Driver()),
		&rivermigrate.Config{Schema: schemaName, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	if current(ctx, db, migrator) {
		return nil
	}
	err = db.Borrow(ctx, func(conn *pgx.Conn) (err error) {
		// The schema is created by a separate statement after the lock: a session learns what others have created when
		// a new statement begins. In one statement with the lock, a session that waited would create the schema again.
		lock := fmt.Sprintf("SET lock_timeout = 0; SELECT pg_advisory_lock(%d)", migrationLock)
		if _, err := conn.Exec(ctx, lock, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		defer func() {
			_, unlocked := conn.Exec(context.WithoutCancel(ctx),
				fmt.Sprintf("SELECT pg_advisory_unlock(%d); RESET lock_timeout", migrationLock),
				pgx.QueryExecModeSimpleProtocol)
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

// current checks with one small query whether there is nothing to do.
func current(ctx context.Context, db *database.Database, migrator *rivermigrate.Migrator[pgx.Tx]) bool {
	all := migrator.AllVersions()
	var version int
	err := db.Borrow(ctx, func(conn *pgx.Conn) error {
		var there bool
		if err := conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL",
			schemaName+".river_migration").Scan(&there); err != nil || !there {
			return err
		}
		return conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM "+schemaName+".river_migration").Scan(&version)
	})
	return err == nil && version >= all[len(all)-1].Version
}
