package rig

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
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
	exists, err := HasDatabase(ctx, c)
	if err != nil || exists {
		return err
	}
	err = postgres.Execute(ctx, c.DSN("").Secret(), "CREATE DATABASE "+pgx.Identifier{Database}.Sanitize())
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == duplicateDatabase || pg.Code == uniqueViolation) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create database %s: %w", Database, err)
	}
	if err := postgres.Execute(ctx, c.DSN(Database).Secret(), addExtensionSQL); err != nil {
		return fmt.Errorf("add extension plimsoll: %w", err)
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

// HasDatabase says whether a running cluster has the ERP's database.
func HasDatabase(ctx context.Context, c *cluster.Cluster) (bool, error) {
	exists, err := postgres.Value[bool](ctx, c.DSN("").Secret(),
		"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", Database)
	if err != nil {
		return false, fmt.Errorf("look for the base on cluster %s: %w", c.Name(), err)
	}
	return exists, nil
}
