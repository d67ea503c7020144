package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
)

// Of sessions of other users the type is hidden from who may not read all statistics; processes of the server have no
// user.
const othersSQL = `SELECT count(*), coalesce(string_agg(DISTINCT application_name, ', '), '') FROM pg_stat_activity
WHERE datname = current_database() AND application_name <> current_setting('application_name')
	AND (backend_type = 'client backend' OR backend_type IS NULL AND usesysid IS NOT NULL)`

// refuseLoad unless nobody else is connected.
func (r *Repairer) refuseLoad(ctx context.Context) error {
	return r.db.Borrow(ctx, func(c *pgx.Conn) error {
		var others int
		var names string
		if err := c.QueryRow(ctx, othersSQL).Scan(&others, &names); err != nil || others == 0 {
			return err
		}
		return problem.New(problem.Environment, fmt.Errorf("%d other sessions use the database (%s)", others, names),
			"end them, or use --online: each step then locks what it changes, and users wait for it")
	})
}

const (
	checksumsSQL = "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database WHERE datname = current_database()"
	heapSQL      = "SELECT coalesce(min(format('block %s: %s', blkno, msg)), '') " +
		"FROM verify_heapam($1::regclass, check_toast => true)"
	indexesSQL = `SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = $1::regclass AND a.amname = 'btree' AND i.indisvalid`
	indexSQL = "SELECT bt_index_check($1::regclass, true)"
)

// refusePhysical: what lies on damaged pages must not be trusted, and writing near them may destroy what could be
// saved. The check tables are made and dropped in one transaction, so nothing stays.
func (r *Repairer) refusePhysical(ctx context.Context) error {
	return r.db.Borrow(ctx, func(c *pgx.Conn) error {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
		var failures int64
		if err := tx.QueryRow(ctx, checksumsSQL).Scan(&failures); err != nil {
			return err
		}
		if failures > 0 {
			return physical(fmt.Errorf("the server has found %d pages with a wrong checksum", failures))
		}
		_, err = tx.Exec(ctx, "SET LOCAL statement_timeout = 0; CREATE EXTENSION IF NOT EXISTS amcheck")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return problem.New(problem.Environment, fmt.Errorf("look for physical damage: %w", err),
				"as a superuser: CREATE EXTENSION amcheck; GRANT EXECUTE on verify_heapam and bt_index_check")
		}
		for _, t := range schema.Tables(r.app) {
			if err := soundTable(ctx, tx, t.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

func soundTable(ctx context.Context, tx pgx.Tx, table string) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", table).Scan(&there); err != nil || !there {
		return err
	}
	var fault string
	if err := tx.QueryRow(ctx, heapSQL, table).Scan(&fault); err != nil {
		return damaged(table, err)
	}
	if fault != "" {
		return physical(fmt.Errorf("table %s: %s", table, fault))
	}
	rows, err := tx.Query(ctx, indexesSQL, table)
	if err != nil {
		return err
	}
	indexes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if _, err := tx.Exec(ctx, indexSQL, index); err != nil {
			return damaged(index, err)
		}
	}
	return nil
}

// damaged distinguishes what a check finds from what prevents it.
func damaged(what string, err error) error {
	if slices.Contains([]string{"XX001", "XX002"}, database.State(err)) ||
		strings.Contains(err.Error(), "invalid page") {
		return physical(fmt.Errorf("%s: %w", what, err))
	}
	return fmt.Errorf("check %s: %w", what, err)
}

// ErrPhysical means that pages are damaged.
var ErrPhysical = errors.New("physical damage")

func physical(err error) error {
	return problem.New(problem.Threshold, fmt.Errorf("%w: %w", ErrPhysical, err),
		"nothing was changed; restore from a backup: what lies on damaged pages cannot be trusted")
}
