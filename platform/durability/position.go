package durability

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// PositionSQL asks where the log ends, and on which server. It follows a COMMIT or reading statements in the same round
// trip: what they wrote or saw is in the log before that position. pg_walfile_name knows a new timeline right after a
// promotion; the control file learns it later.
const PositionSQL = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint,
	left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
	(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint`

// Position in the log of one life of one server. A position alone means nothing: after a crash or a promotion other
// records replace the lost ones.
type Position struct {
	LSN    int64
	Server Identity
	// Ticket of the watcher, taken before the commit.
	Ticket Ticket
}

// Identity of one life of a server. If the postmaster survives a crash, only the watcher's connection shows it.
type Identity struct {
	Timeline string
	Started  int64 // microseconds
}

// Scan reads the row of PositionSQL.
func (p *Position) Scan(r pgx.Rows) error {
	return r.Scan(&p.LSN, &p.Server.Timeline, &p.Server.Started)
}

// harden flushes the log of the server, and of its synchronous standbys if it has any: a small transaction that commits
// synchronously makes everything before it durable. It returns the position of its message.
var harden = []string{"begin",
	"SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
	"SELECT (pg_logical_emit_message(true, 'plimsoll', '') - '0/0')::bigint", "commit"}

const hardenAnswers = 2 // the statement that has the position

// Harden makes durable what this connection has written and seen, in one round trip.
func Harden(ctx context.Context, conn *pgx.Conn) (lsn int64, err error) {
	batch := &pgx.Batch{}
	for _, sql := range harden {
		batch.Queue(sql)
	}
	results := conn.SendBatch(ctx, batch)
	defer results.Close()
	for i := range harden {
		if i == hardenAnswers {
			err = results.QueryRow().Scan(&lsn)
		} else {
			_, err = results.Exec()
		}
		if err != nil {
			return 0, fmt.Errorf("flush the log: %w", err)
		}
	}
	return lsn, results.Close()
}

// flushed asks how far the log is flushed.
func flushed(ctx context.Context, conn *pgx.Conn) (lsn int64, err error) {
	err = conn.QueryRow(ctx, "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint").Scan(&lsn)
	return lsn, err
}

// layout of log pages. The insert position behind a full page lies after the header of the next page, which is not
// flushed before something is written there.
type layout struct{ page, segment int64 }

const layoutSQL = `SELECT current_setting('wal_block_size')::bigint, pg_size_bytes(current_setting('wal_segment_size')),
	left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
	(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint`

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
