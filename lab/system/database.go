package system

import (
	"context"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
)

// Database is the name of the ERP's database in every cluster.
const Database = "erp"

// EnsureDatabase creates the ERP's database in a running cluster if it is missing, and marks it as ours.
func EnsureDatabase(ctx context.Context, c *cluster.Cluster) (dsn string, err error) {
	dsn = c.DSN(Database).Secret()
	created, err := c.EnsureDatabase(ctx, Database)
	if err != nil || !created {
		return dsn, err
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: 1})
	if err != nil {
		return dsn, err
	}
	defer db.Close()
	return dsn, schema.Claim(ctx, db)
}

// DatabaseOf a running cluster is the ERP's if it has one, else the one that every cluster has.
func DatabaseOf(ctx context.Context, c *cluster.Cluster) (dsn string, err error) {
	has, err := c.HasDatabase(ctx, Database)
	if has {
		return c.DSN(Database).Secret(), err
	}
	return c.DSN("").Secret(), err
}
