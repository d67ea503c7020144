// Package grouptest owns a gate in the middle of a group: tests stop whoever works on it at a known member.
package grouptest

import (
	"context"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/platform/data/statement"
	"plimsoll/test/patience"
)

// Gate holds up the transaction that counts a member. Who stands at it does not pass: when it opens, that transaction
// is rolled back.
type Gate struct {
	dsn  string
	lock *pgx.Conn
}

const lockID = 2600041

// gateSQL: no lock_timeout, which would be an error of the group.
const gateSQL = `CREATE OR REPLACE FUNCTION group_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.done = {done} AND NEW.done <> OLD.done THEN
		PERFORM set_config('lock_timeout', '0', true);
		PERFORM pg_advisory_xact_lock_shared({lock});
		RAISE EXCEPTION 'nobody passes the gate';
	END IF;
	RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER group_gate BEFORE UPDATE ON plimsoll_group FOR EACH ROW EXECUTE FUNCTION group_gate();
SELECT pg_advisory_lock({lock})`

// Close the gate for groups that reach this count, upwards or downwards.
func Close(t testing.TB, dsn string, done int) *Gate {
	t.Helper()
	g := &Gate{dsn, clustertest.Connect(t, dsn, "")}
	if _, err := g.lock.Exec(patience.Context(t), statement.SQL(gateSQL, statement.Names{
		"done": strconv.Itoa(done), "lock": strconv.Itoa(lockID)})); err != nil {
		t.Fatal(err)
	}
	return g
}

// Await waits until somebody stands at the gate.
func (g *Gate) Await(t testing.TB) {
	t.Helper()
	patience.Until(t, "somebody stands at the gate", func() bool { return g.Held(t) })
}

// Held says whether somebody stands at the gate.
func (g *Gate) Held(t testing.TB) (held bool) {
	t.Helper()
	if err := g.lock.QueryRow(patience.Context(t), "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' "+
		"AND NOT granted AND objid = $1 AND database = "+
		"(SELECT oid FROM pg_database WHERE datname = current_database()))", lockID).Scan(&held); err != nil {
		t.Fatal(err)
	}
	return held
}

// Open the gate for good. The server may have been killed meanwhile.
func (g *Gate) Open(t testing.TB) {
	t.Helper()
	ctx := patience.Context(t)
	_ = g.lock.Close(ctx)
	conn := clustertest.Connect(t, g.dsn, "")
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "DROP FUNCTION IF EXISTS group_gate CASCADE"); err != nil {
		t.Fatal(err)
	}
}
