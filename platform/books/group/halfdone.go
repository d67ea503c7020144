package group

import (
	"context"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

const (
	standbySQL = "SELECT pg_is_in_recovery(), to_regclass('plimsoll_group') IS NOT NULL"
	begunSQL   = "SELECT " + columns + " FROM plimsoll_group WHERE " + unended + " ORDER BY begun_at, id"
	thereSQL   = "SELECT 1 WHERE to_regclass('plimsoll_group') IS NOT NULL AND NOT pg_is_in_recovery()"
	// freeSQL are the unfinished groups that nobody holds. Locks are read after the groups.
	freeSQL = "SELECT id, owner FROM plimsoll_group WHERE " + unended + ` AND NOT EXISTS (SELECT FROM pg_locks l
	WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (l.classid::bigint << 32) | l.objid::bigint = ` + scopeSQL + ")"
	stillSQL = "SELECT " + columns + " FROM plimsoll_group JOIN unnest($1::uuid[], $2::uuid[]) AS free (id, owner) " +
		"USING (id, owner) WHERE " + unended + " ORDER BY begun_at, id"
)

// HalfDone are the unfinished groups that nobody works on, the oldest first. A standby does not know who works on its
// primary, so there are none.
func (g *Groups) HalfDone(ctx context.Context) ([]Group, error) { return Left(ctx, g.db) }

// Left is HalfDone without knowledge of kinds.
func Left(ctx context.Context, db *database.Database) (left []Group, err error) {
	exists, ids, owners := false, []id.ID(nil), []id.ID(nil)
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("look for table of groups", thereSQL).Rows(func(pgx.Rows) error { exists = true; return nil })
		return nil
	})
	if err != nil || !exists {
		return nil, err
	}
	err = db.Read(ctx, func(w *database.Work) error {
		ids, owners, left = nil, nil, nil
		w.Queue("look for free groups", freeSQL).Rows(func(r pgx.Rows) error {
			var v, owner id.ID
			err := r.Scan(&v, &owner)
			ids, owners = append(ids, v), append(owners, owner)
			return err
		})
		// A group that ended between the reading of its row and of the locks has ended in a later snapshot, and one
		// that was taken since has another owner.
		if err := w.Flush(ctx); err != nil || len(ids) == 0 {
			return err
		}
		w.Queue("look again", stillSQL, ids, owners).Rows(func(r pgx.Rows) error {
			one, err := scan(r)
			left = append(left, *one)
			return err
		})
		return nil
	})
	return left, err
}

// OnStandby are the unfinished groups that a standby sees: only its primary knows whether somebody is working on them.
// On any other server standby is false, and Left knows more.
func OnStandby(ctx context.Context, db *database.Database) (begun []Group, standby bool, err error) {
	exists := false
	err = db.Read(ctx, func(w *database.Work) error {
		w.Queue("look for standby", standbySQL).Rows(func(r pgx.Rows) error { return r.Scan(&standby, &exists) })
		return nil
	})
	if err != nil || !standby || !exists {
		return nil, standby, err
	}
	err = db.Read(ctx, func(w *database.Work) error {
		begun = nil
		w.Queue("look for unfinished groups", begunSQL).Rows(func(r pgx.Rows) error {
			one, err := scan(r)
			begun = append(begun, *one)
			return err
		})
		return nil
	})
	return begun, true, err
}
