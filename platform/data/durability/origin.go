package durability

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// identitySQL asks for the life of the server. pg_walfile_name knows a new timeline right after a promotion; the
// control file learns it later.
const identitySQL = `SELECT CASE WHEN pg_is_in_recovery() THEN ''
		ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
	(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint`

// Identity of one life of a server. It does not change while a connection lasts, but for the promotion of a standby.
// If the postmaster survives a crash, only the watcher's connection shows it.
type Identity struct {
	Timeline string // empty: a standby, or not asked
	Started  int64  // microseconds
}

// Known reports that the server takes writes and has said who it is.
func (i Identity) Known() bool { return i.Timeline != "" }

// Identify asks the server of a connection, in one round trip.
func Identify(ctx context.Context, conn *pgx.Conn) (i Identity, err error) {
	err = conn.QueryRow(ctx, identitySQL, pgx.QueryExecModeExec).Scan(&i.Timeline, &i.Started)
	if err != nil {
		return Identity{}, fmt.Errorf("identify server: %w", err)
	}
	return i, nil
}

// Origin of what an answer tells: the life of the server in which it was committed or seen. Where the log ended then,
// the watcher finds out later: any position read after the answer of the server is behind it.
type Origin struct {
	Server Identity
	// Ticket of the watcher, taken before the work began.
	Ticket Ticket
	// Committed is false if it was only read, and may be flushed already.
	Committed bool
}

// harden flushes the log of the server, and of its synchronous standbys if it has any: a small transaction that commits
// synchronously makes everything before it durable.
var harden = []string{"begin",
	"SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
	"SELECT pg_logical_emit_message(true, 'plimsoll', '') WHERE NOT pg_is_in_recovery()", "commit"}

// Harden makes everything durable that was committed before, by any session, in one round trip. What a standby shows
// is durable already, there and on its primary: it applies only what it has flushed, and is sent only what its primary
// has.
func Harden(ctx context.Context, conn *pgx.Conn) error {
	batch := &pgx.Batch{}
	for _, sql := range harden {
		batch.Queue(sql)
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("flush the log: %w", err)
	}
	return nil
}

// ends of the log: of what is written to its buffers, and of what this server has flushed.
type ends struct {
	insert, flush int64
	standbys      bool // that must have it, too
}

func readLogEnds(ctx context.Context, conn *pgx.Conn) (e ends, err error) {
	err = conn.QueryRow(ctx, `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint,
		(pg_current_wal_flush_lsn() - '0/0')::bigint, current_setting('synchronous_standby_names') <> ''`).
		Scan(&e.insert, &e.flush, &e.standbys)
	return e, err
}

// layout of log pages. The insert position behind a full page lies after the header of the next page, which is not
// flushed before something is written there.
type layout struct{ page, segment int64 }

const layoutSQL = `SELECT current_setting('wal_block_size')::bigint, pg_size_bytes(current_setting('wal_segment_size'))`

const (
	longHeader  = 40 // of a segment's first page
	shortHeader = 24
)

// end is the end of the last record that starts before an insert position.
func (l layout) end(lsn int64) int64 {
	if l.segment > 0 && lsn%l.segment == longHeader {
		return lsn - longHeader
	}
	if l.page > 0 && lsn%l.page == shortHeader && lsn%l.segment != shortHeader {
		return lsn - shortHeader
	}
	return lsn
}
