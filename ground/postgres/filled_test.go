package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
)

// filled is a database with one row, of which a copy is kept.
func filled(t *testing.T) (dsn, name string) {
	t.Helper()
	dsn = clustertest.Database(t).Secret()
	name = clustertest.Value(t, dsn, "SELECT current_database()::text")
	clustertest.Value(t, dsn, "CREATE TABLE t AS SELECT 'as filled'::text AS x")
	if _, err := postgres.Filled.Make(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		clustertest.Value(t, postgres.WithDatabase(dsn, "postgres"), "DROP DATABASE "+name+"_filled WITH (FORCE)")
	})
	return dsn, name
}

func TestPutBackRestoresRowsAndKeepsTheDatabasesState(t *testing.T) {
	dsn, name := filled(t)
	clustertest.Value(t, dsn, "UPDATE t SET x = 'changed'")
	clustertest.Value(t, dsn, "ALTER DATABASE "+name+" SET work_mem TO '5MB'")
	clustertest.Value(t, dsn, "ALTER ROLE current_user IN DATABASE "+name+" SET search_path TO a, \"B c\"")
	clustertest.Value(t, dsn, "ALTER DATABASE "+name+" CONNECTION LIMIT 7")
	for range 2 { // a kept copy serves more than once
		if err := postgres.RestoreFilled(t.Context(), dsn, false); err != nil {
			t.Fatal(err)
		}
		if got := clustertest.Value(t, dsn, "SELECT x FROM public.t"); got != "as filled" {
			t.Errorf("row: %q", got)
		}
		for sql, want := range map[string]string{
			"SHOW work_mem":    "5MB",
			"SHOW search_path": `a, "B c"`,
			"SELECT datconnlimit::text FROM pg_database WHERE datname = current_database()": "7",
			"SELECT coalesce(shobj_description(oid, 'pg_database'), 'none') FROM pg_database WHERE datname = '" + name +
				"'": "none",
			"SELECT count(*)::text FROM pg_database WHERE datname = '" + name +
				"_reset'": "0",
		} {
			if got := clustertest.Value(t, dsn, sql); got != want {
				t.Errorf("%s: %q, not %q", sql, got, want)
			}
		}
		clustertest.Value(t, dsn, "DELETE FROM public.t")
	}
}

func TestPutBackLeavesConnectedSessionsAlone(t *testing.T) {
	dsn, _ := filled(t)
	conn := clustertest.Connect(t, dsn, "")
	if _, err := conn.Exec(t.Context(), "UPDATE t SET x = 'in use'"); err != nil {
		t.Fatal(err)
	}
	err := postgres.RestoreFilled(t.Context(), dsn, false)
	if err == nil || !strings.Contains(err.Error(), "1 sessions are connected") ||
		!strings.Contains(problem.HintOf(err), "--force") {
		t.Fatal(err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the session was ended: %v", err)
	}
	if err := postgres.RestoreFilled(t.Context(), dsn, true); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Value(t, dsn, "SELECT x FROM t"); got != "as filled" {
		t.Errorf("row: %q", got)
	}
}

func TestPutBackGoesOnAfterItWasKilledInItsLastStep(t *testing.T) {
	dsn, name := filled(t)
	clustertest.Value(t, postgres.WithDatabase(dsn, "postgres"), "DROP DATABASE "+name)
	if err := postgres.RestoreFilled(t.Context(), dsn, false); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Value(t, dsn, "SELECT x FROM t"); got != "as filled" {
		t.Errorf("row: %q", got)
	}
}

func TestPutBackNeedsACopyOfOurs(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	name := clustertest.Value(t, dsn, "SELECT current_database()::text")
	if err := postgres.RestoreFilled(t.Context(), dsn, true); !errors.Is(err, postgres.ErrNothingKept) {
		t.Fatal(err)
	}
	admin := postgres.WithDatabase(dsn, "postgres")
	clustertest.Value(t, admin, "CREATE DATABASE "+name+"_filled") // somebody else's
	defer clustertest.Value(t, admin, "DROP DATABASE "+name+"_filled")
	if err := postgres.RestoreFilled(t.Context(), dsn, true); !errors.Is(err, postgres.ErrNothingKept) {
		t.Fatal(err)
	}
	if _, err := postgres.Filled.Make(t.Context(), dsn); err == nil ||
		!strings.Contains(err.Error(), "not our copy") {
		t.Fatal(err)
	}
}

func TestPutBackRefusesWhatItWouldLose(t *testing.T) {
	dsn, name := filled(t)
	clustertest.Value(t, dsn, "GRANT TEMPORARY ON DATABASE "+name+" TO pg_monitor")
	err := postgres.RestoreFilled(t.Context(), dsn, false)
	if err == nil || !strings.Contains(err.Error(), "privileges") {
		t.Fatal(err)
	}
}
