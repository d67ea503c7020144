package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
)

// PostgreSQL's errors when another session creates the same database at the same moment.
const (
	duplicateDatabase = "42P04"
	uniqueViolation   = "23505"
)

// EnsureDatabase creates a database of a running cluster if it is missing, with the extension of our server.
func (c *Cluster) EnsureDatabase(ctx context.Context, name string) (created bool, err error) {
	err = c.in(ctx, "", func(conn *pgx.Conn) error {
		exists, err := hasDatabase(ctx, conn, name)
		if err != nil || exists {
			return err
		}
		_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
		var pg *pgconn.PgError
		if errors.As(err, &pg) && (pg.Code == duplicateDatabase || pg.Code == uniqueViolation) {
			return nil
		}
		created = err == nil
		if err != nil {
			return fmt.Errorf("create database %s: %w", name, err)
		}
		return nil
	})
	if !created {
		return false, err
	}
	return true, c.addExtension(ctx, name)
}

// addExtensionSQL adds the function that identifies our server (plimsoll_version); a stock server lacks it.
const addExtensionSQL = `DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plimsoll') THEN
		CREATE EXTENSION IF NOT EXISTS plimsoll;
	END IF;
END $$`

func (c *Cluster) addExtension(ctx context.Context, database string) error {
	return c.in(ctx, database, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, addExtensionSQL); err != nil {
			return fmt.Errorf("add extension plimsoll: %w", err)
		}
		return nil
	})
}

// HasDatabase says whether a running cluster has a database of this name.
func (c *Cluster) HasDatabase(ctx context.Context, name string) (has bool, err error) {
	err = c.in(ctx, "", func(conn *pgx.Conn) error {
		has, err = hasDatabase(ctx, conn, name)
		return err
	})
	return has, err
}

func hasDatabase(ctx context.Context, conn *pgx.Conn, name string) (exists bool, err error) {
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	return exists, err
}

// in does something on a connection to a database of the cluster.
func (c *Cluster) in(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	return postgres.With(ctx, c.DSN(database).Secret(), do)
}
