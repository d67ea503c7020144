package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// stamp is the oldest running transaction at a moment, as a 64-bit id: all lower ones had ended.
type stamp uint64

// after is the condition that an xmin is not below the stamp. Frozen rows keep their xmin. An id that has wrapped
// around counts as a new row, which costs work but is not wrong; stamps that are further back than reach are not used.
func (s stamp) after(column string) string {
	if s == 0 {
		return "true"
	}
	return fmt.Sprintf("age(%s) BETWEEN 0 AND age('%d'::xid)", column, uint32(s))
}

// reach is the largest number of transactions between a clean point and an audit that starts from it.
const reach = math.MaxInt32 / 2

// origin says to which history the transaction ids belong.
type origin struct {
	now        stamp
	system     int64
	database   int64
	recovery   bool
	tableThere bool
}

func originOf(ctx context.Context, tx pgx.Tx) (o origin, err error) {
	var now int64
	err = tx.QueryRow(ctx, `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
	(SELECT system_identifier FROM pg_control_system()),
	(SELECT oid::bigint FROM pg_database WHERE datname = current_database()), pg_is_in_recovery(),
		to_regclass('plimsoll_clean_point') IS NOT NULL`).
		Scan(&now, &o.system, &o.database, &o.recovery, &o.tableThere)
	o.now = stamp(now)
	return o, err
}

// point is a moment at which all invariants held, with a tally of every relation.
type point struct {
	since  stamp
	made   time.Time
	tally  map[string]tally
	digest string
}

// lastPoint is the usable clean point; if there is none, why says so.
func lastPoint(ctx context.Context, tx pgx.Tx, o origin, digest string) (p *point, why string, err error) {
	if !o.tableThere {
		return nil, "the base has never been audited clean", nil
	}
	p = &point{tally: map[string]tally{}}
	var since, system, db int64
	var written bool
	err = tx.QueryRow(ctx, `SELECT since::text::bigint, made_at, digest, system, database, xmin = written_by::xid
	FROM plimsoll_clean_point`).
		Scan(&since, &p.made, &p.digest, &system, &db, &written)
	p.since = stamp(since)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, "the base has never been audited clean", nil
	case err != nil:
		return nil, "", fmt.Errorf("read clean point: %w", err)
	case system != o.system || db != o.database || !written || p.since > o.now:
		return nil, "the base was restored or copied since it was last clean, so its rows have new transaction ids", nil
	case o.now-p.since > reach:
		return nil, "too many transactions since the base was last clean", nil
	case p.digest != digest:
		return nil, "the invariants or the tables have changed since the base was last clean", nil
	}
	return p, "", p.read(ctx, tx)
}

func (p *point) read(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT relation, rows, buckets, organisations, months, cells FROM plimsoll_clean_part")
	if err != nil {
		return fmt.Errorf("read clean point: %w", err)
	}
	var name string
	var t tally
	var organisations []id.ID
	var months []time.Time
	var cells []int64
	_, err = pgx.ForEachRow(rows, []any{&name, &t.rows, &t.buckets, &organisations, &months, &cells}, func() error {
		t.cells = make(map[cell]int64, len(cells))
		for i := range cells {
			t.cells[cell{organisations[i], months[i]}] = cells[i]
		}
		p.tally[name] = t
		t = tally{}
		organisations = nil
		months = nil
		cells = nil
		return nil
	})
	return err
}

// keep makes the snapshot the clean point, unless there is a later one.
func keep(ctx context.Context, db *database.Database, o origin, digest string, all []*counted) error {
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "LOCK TABLE plimsoll_clean_point"); err != nil {
				return err
			}
			var later bool
			if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM plimsoll_clean_point WHERE system = $1 AND "+
				"database = $2 AND since > $3::text::xid8 AND xmin = written_by::xid)",
				o.system, o.database, fmt.Sprint(uint64(o.now))).Scan(&later); err != nil || later {
				return err
			}
			batch := &pgx.Batch{}
			batch.Queue("DELETE FROM plimsoll_clean_point")
			batch.Queue("DELETE FROM plimsoll_clean_part")
			batch.Queue("INSERT INTO plimsoll_clean_point (written_by, since, system, database, digest) VALUES "+
				"(pg_current_xact_id(), $1::text::xid8, $2, $3, $4)",
				fmt.Sprint(uint64(o.now)), o.system, o.database, digest)
			for _, c := range all {
				c.keep(batch)
			}
			return tx.SendBatch(ctx, batch).Close()
		})
	})
}

func (c *counted) keep(batch *pgx.Batch) {
	var organisations []id.ID
	var months []time.Time
	var cells []int64
	for at, rows := range c.now.cells {
		organisations, months, cells = append(organisations, at.organisation), append(months, at.month),
			append(cells, rows)
	}
	if cells == nil {
		organisations, months, cells = []id.ID{}, []time.Time{}, []int64{}
	}
	batch.Queue("INSERT INTO plimsoll_clean_part (relation, rows, buckets, organisations, months, cells) VALUES "+
		"($1, $2, $3, $4, $5::date[], $6)",
		c.name, c.now.rows, c.now.buckets, organisations, months, cells)
}
