package layer

import (
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

// Autovacuum is as the side says in its turns, and as it was before when all is over.
func TestC32_TurnsAutovacuumOffAndLeavesTheServerAsItWas(t *testing.T) {
	admin := clustertest.Connect(t, clustertest.Database(t).Secret(), "")
	settings := func() (now string) {
		const look = "SELECT current_setting('autovacuum') || ' ' || current_setting('autovacuum_naptime')"
		if err := admin.QueryRow(t.Context(), look).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	until := func(want string) {
		t.Helper()
		// a reload reaches a session when it asks for the next statement
		patience.Until(t, "settings are "+want, func() bool { return settings() == want })
	}
	before := settings()
	if err := setAutovacuum(t.Context(), admin, false, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	until("off 3s")
	if err := setAutovacuum(t.Context(), admin, true, time.Second); err != nil {
		t.Fatal(err)
	}
	until("on 1s")
	if err := resetAutovacuum(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	until(before)
}

// While the other side works autovacuum is on, and must leave the tables of this one alone, catalogs included.
func TestC32_NoAutovacuumLooksAtTheTablesOfTheSideWithout(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "")
	if _, err := conn.Exec(t.Context(), "CREATE TABLE t (n int, wide text)"); err != nil {
		t.Fatal(err)
	}
	attended := func() (n int) {
		const look = `SELECT count(*) FROM pg_class c WHERE relkind IN ('r', 't') AND relpersistence = 'p'
			AND NOT relisshared AND NOT coalesce(reloptions @> '{autovacuum_enabled=off}', false)`
		if err := conn.QueryRow(t.Context(), look).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if attended() == 0 {
		t.Fatal("no table to begin with")
	}
	if err := leaveAlone(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	if n := attended(); n != 0 {
		t.Errorf("autovacuum would look at %d tables", n)
	}
}
