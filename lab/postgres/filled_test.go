package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/postgres"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/platform/problem"
)

// one runs a statement in a database and gives its one value.
func one(t *testing.T, dsn, sql string) (value string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also in a cleanup
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, sql).Scan(&value); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// filled is a database with one row, of which a copy is kept.
func filled(t *testing.T) (dsn, name string) {
	t.Helper()
	dsn = clustertest.Database(t).Secret()
	name = one(t, dsn, "SELECT current_database()::text")
	one(t, dsn, "CREATE TABLE t AS SELECT 'as filled'::text AS x")
	if _, err := postgres.Filled.Make(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one(t, postgres.WithDatabase(dsn, "postgres"), "DROP DATABASE "+name+"_filled WITH (FORCE)") })
	return dsn, name
}

func TestPutBackRestoresRowsAndKeepsTheDatabasesState(t *testing.T) {
	dsn, name := filled(t)
	one(t, dsn, "UPDATE t SET x = 'changed'")
	one(t, dsn, "ALTER DATABASE "+name+" SET work_mem TO '5MB'")
	one(t, dsn, "ALTER ROLE current_user IN DATABASE "+name+" SET search_path TO a, \"B c\"")
	one(t, dsn, "ALTER DATABASE "+name+" CONNECTION LIMIT 7")
	for range 2 { // a kept copy serves more than once
		if err := postgres.PutBack(t.Context(), dsn, false); err != nil {
			t.Fatal(err)
		}
		if got := one(t, dsn, "SELECT x FROM public.t"); got != "as filled" {
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
			if got := one(t, dsn, sql); got != want {
				t.Errorf("%s: %q, not %q", sql, got, want)
			}
		}
		one(t, dsn, "DELETE FROM public.t")
	}
}

func TestPutBackLeavesConnectedSessionsAlone(t *testing.T) {
	dsn, _ := filled(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "UPDATE t SET x = 'in use'"); err != nil {
		t.Fatal(err)
	}
	err = postgres.PutBack(t.Context(), dsn, false)
	if err == nil || !strings.Contains(err.Error(), "1 sessions are connected") ||
		!strings.Contains(problem.HintOf(err), "--force") {
		t.Fatal(err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Errorf("the session was ended: %v", err)
	}
	if err := postgres.PutBack(t.Context(), dsn, true); err != nil {
		t.Fatal(err)
	}
	if got := one(t, dsn, "SELECT x FROM t"); got != "as filled" {
		t.Errorf("row: %q", got)
	}
}

func TestPutBackGoesOnAfterItWasKilledInItsLastStep(t *testing.T) {
	dsn, name := filled(t)
	one(t, postgres.WithDatabase(dsn, "postgres"), "DROP DATABASE "+name)
	if err := postgres.PutBack(t.Context(), dsn, false); err != nil {
		t.Fatal(err)
	}
	if got := one(t, dsn, "SELECT x FROM t"); got != "as filled" {
		t.Errorf("row: %q", got)
	}
}

func TestPutBackNeedsACopyOfOurs(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	name := one(t, dsn, "SELECT current_database()::text")
	if err := postgres.PutBack(t.Context(), dsn, true); !errors.Is(err, postgres.ErrNothingKept) {
		t.Fatal(err)
	}
	admin := postgres.WithDatabase(dsn, "postgres")
	one(t, admin, "CREATE DATABASE "+name+"_filled") // somebody else's
	defer one(t, admin, "DROP DATABASE "+name+"_filled")
	if err := postgres.PutBack(t.Context(), dsn, true); !errors.Is(err, postgres.ErrNothingKept) {
		t.Fatal(err)
	}
	if _, err := postgres.Filled.Make(t.Context(), dsn); err == nil ||
		!strings.Contains(err.Error(), "not our copy") {
		t.Fatal(err)
	}
}

func TestPutBackRefusesWhatItWouldLose(t *testing.T) {
	dsn, name := filled(t)
	one(t, dsn, "GRANT TEMPORARY ON DATABASE "+name+" TO pg_monitor")
	if err := postgres.PutBack(t.Context(), dsn, false); err == nil || !strings.Contains(err.Error(), "privileges") {
		t.Fatal(err)
	}
}
