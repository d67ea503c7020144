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
