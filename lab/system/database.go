package system

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
)

// PostgreSQL's errors when another session creates the same database at the same moment.
const (
	duplicateDatabase = "42P04"
	uniqueViolation   = "23505"
)

// EnsureDatabase creates the ERP's database in a running cluster if it is missing, and marks it as ours.
func EnsureDatabase(ctx context.Context, c *cluster.Cluster) error {
	conn, err := pgx.Connect(ctx, c.DSN("").Secret())
	if err != nil {
		return fmt.Errorf("connect to cluster %s: %w", c.Name(), err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	exists, err := hasDatabase(ctx, conn)
	if err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{Database}.Sanitize())
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == duplicateDatabase || pg.Code == uniqueViolation) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", Database, err)
	}
	if err := addExtension(ctx, c); err != nil {
		return err
	}
	db, err := database.Open(ctx, c.DSN(Database).Secret(), database.Options{Connections: 1})
	if err != nil {
		return err
	}
	defer db.Close()
	return schema.Claim(ctx, db)
}

// addExtensionSQL adds the function that identifies our server (plimsoll_version); a stock server lacks it.
const addExtensionSQL = `DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plimsoll') THEN
		CREATE EXTENSION IF NOT EXISTS plimsoll;
	END IF;
END $$`

func addExtension(ctx context.Context, c *cluster.Cluster) error {
	conn, err := pgx.Connect(ctx, c.DSN(Database).Secret())
	if err != nil {
		return fmt.Errorf("connect to cluster %s: %w", c.Name(), err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, addExtensionSQL); err != nil {
		return fmt.Errorf("add extension plimsoll: %w", err)
	}
	return nil
}

// HasDatabase says whether a running cluster has the ERP's database.
func HasDatabase(ctx context.Context, c *cluster.Cluster) (bool, error) {
	conn, err := pgx.Connect(ctx, c.DSN("").Secret())
	if err != nil {
		return false, fmt.Errorf("connect to cluster %s: %w", c.Name(), err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return hasDatabase(ctx, conn)
}

func hasDatabase(ctx context.Context, conn *pgx.Conn) (exists bool, err error) {
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", Database).Scan(&exists)
	return exists, err
}
