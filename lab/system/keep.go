package system

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/fill"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/platform/data/database"
)

// Keep copies a base that was just filled, so that it can be reset. Nobody may be connected to it. Without room or
// rights for a copy, it reports why and returns false; the base is filled all the same.
func Keep(ctx context.Context, dsn string, say func(format string, args ...any)) (kept bool, err error) {
	size, free, known, err := diskSpace(ctx, dsn)
	if err != nil {
		return false, err
	}
	if known && free < size+reserve {
		say("no copy of the base is kept: it would take %s, %s are free", human.Bytes(size), human.Bytes(free))
		return false, nil
	}
	_, err = postgres.Filled.Make(ctx, dsn)
	if err != nil && ctx.Err() == nil {
		say("no copy of the base is kept: %v", err)
		return false, nil
	}
	return err == nil, err
}

// reserve stays free on the disk in addition to a copy: 1 GiB.
const reserve = 1 << 30

func diskSpace(ctx context.Context, dsn string) (size, free int64, known bool, err error) {
	db, err := database.Open(ctx, dsn, database.Options{Connections: 1})
	if err != nil {
		return 0, 0, false, err
	}
	defer db.Close()
	free, known = fill.Free(ctx, db)
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size)
	})
	if err != nil {
		return 0, 0, false, fmt.Errorf("read the base's size: %w", err)
	}
	return size, free, known, nil
}
