package durability

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrDisagree: a worker that does not wait with its reads would show what another one has not made durable.
var ErrDisagree = errors.New("another worker of this database has a different durability")

// DisagreeHint says what to do about it.
const DisagreeHint = "start all workers of a database with durable-ack, or none"

// Sessions of workers hold a lock that says whether they wait for the log. The two kinds exclude each other.
const (
	agreeClass    = 0x706c696d
	agreeWaits    = 1
	agreeDoesNot  = 2
	agreeWithin   = 5 * time.Second // sessions of a worker that has ended may take a moment to go
	agreePause    = 100 * time.Millisecond
	agreeTakeSQL  = "SELECT pg_advisory_lock_shared($1::int, $2::int)"
	agreeGiveSQL  = "SELECT pg_advisory_unlock_shared($1::int, $2::int)"
	agreeOtherSQL = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid = $1::int::oid AND objid = $2::int::oid`
)

// Agree notes on a new connection of a worker whether it waits for the log, for as long as the connection lasts. It
// notes first and looks then: of two that come at the same time one is refused, or both.
func Agree(ctx context.Context, conn *pgx.Conn, plan Plan) error {
	mine, others := agreeDoesNot, agreeWaits
	if plan.Uses(DurableAck) {
		mine, others = agreeWaits, agreeDoesNot
	}
	for deadline := time.Now().Add(agreeWithin); ; {
		var n int
		batch := &pgx.Batch{}
		batch.Queue(agreeTakeSQL, agreeClass, mine)
		batch.Queue(agreeOtherSQL, agreeClass, others).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
		if err := conn.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("agree on durability: %w", err)
		}
		if n == 0 {
			return nil
		}
		if _, err := conn.Exec(ctx, agreeGiveSQL, agreeClass, mine); err != nil {
			return fmt.Errorf("agree on durability: %w", err)
		}
		if time.Now().After(deadline) {
			return ErrDisagree
		}
		sleep(ctx, agreePause)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
