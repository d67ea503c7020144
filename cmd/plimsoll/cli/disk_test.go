package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/run/result"
	"plimsoll/test/smalldisk"
)

// TestRunOnADatabaseWhoseDiskFills: the disk behind a table fills in mid-run. The run says so, by the server's own
// SQLSTATE; what was acknowledged is there; and once there is room again, so is the system.
func TestRunOnADatabaseWhoseDiskFills(t *testing.T) {
	if !smalldisk.OwnMounts(t) {
		return
	}
	freshState(t)
	disk := filepath.Join(clustertest.State(t), "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	smalldisk.Mount(t, disk, "4m")
	account, err := process.ServerAccount()
	if err == nil && account != nil {
		err = os.Chown(disk, account.UID, account.GID)
	}
	if err != nil {
		t.Fatal(err)
	}
	dsn := clustertest.Database(t).Secret()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	do := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do(fmt.Sprintf("CREATE TABLESPACE small LOCATION '%s'", disk))
	do("CREATE TABLE kept (filler text) TABLESPACE small")
	defer func() {
		do("DROP TABLE kept")
		do("DROP TABLESPACE small")
		_ = conn.Close(t.Context())
	}()
	scenario := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(scenario, []byte(`
application = "none"
users = 10
[think]
mean = "50ms"
[operations.keep]
target = "2s"
sql = "INSERT INTO kept SELECT repeat(md5(random()::text), 50) FROM generate_series(1, 200)"
count = "SELECT count(*) / 200 FROM kept"
[operations.look]
target = "2s"
sql = "SELECT 1"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() outcome {
		return plimsoll(t, "run", "--scenario", scenario, "--dsn", dsn, "--ramp", "0s", "--duration", "3s", "--json")
	}
	o := run()
	o.want(t, ExitThreshold)
	var r result.Result
	o.decode(t, &r)
	if why := strings.Join(r.InvalidReasons, "\n"); r.Valid || !slices.Contains(r.InvalidCauses, result.BySystem) ||
		!strings.Contains(why, "the disk of the database was full (SQLSTATE 53100)") {
		t.Errorf("valid %v, %s", r.Valid, why)
	}
	for _, op := range r.Operations {
		full := int64(0) // in several words: a table that many extend is extended by another call
		for _, e := range op.ErrorTexts {
			if e.SQLState == "53100" {
				full += e.Count
			}
		}
		if full != op.Errors || (full > 0) != (op.ID == "keep") {
			t.Errorf("%s: %d errors, %+v", op.ID, op.Errors, op.ErrorTexts)
		}
	}
	if c := r.Reconciliation; c == nil || !c.Done || c.Rows[0].Acknowledged == 0 ||
		c.Rows[0].Acknowledged > c.Rows[0].Found || c.Rows[0].Found > c.Rows[0].Acknowledged+c.Rows[0].Unknown {
		t.Errorf("reconciliation %+v", c)
	}
	do("DROP TABLE kept") // which makes room
	do("CREATE TABLE kept (filler text)")
	run().wantRun(t)
}
