package postgres_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

func TestConnect_FindsTheServersOwnObjectsAlone(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Value(t, dsn, "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$;"+
		"CREATE FUNCTION pg_sleep(int) RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$")
	clustertest.Value(t, dsn, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', "+
		"current_database()); END $$")
	for name, at := range map[string]string{"Directly": dsn, "ThroughAPooler": clustertest.Pooler(t, dsn)} {
		t.Run(name, func(t *testing.T) {
			conn, err := postgres.Connect(patience.Context(t), at, "plimsoll test", postgres.Reading("20s")...)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(patience.Context(t))
			for range 4 {
				var version, slept, timeout, application string
				if err := conn.QueryRow(patience.Context(t), "SELECT version(), pg_sleep(0)::text, "+
					"current_setting('statement_timeout'), current_setting('application_name')").Scan(&version, &slept,
					&timeout, &application); err != nil || version == "planted" || slept == "planted" ||
					timeout != "20s" {
					t.Errorf("%q, %q, %q, %q, %v", version, slept, timeout, application, err)
				}
			}
			if _, err := conn.Exec(patience.Context(t), "CREATE TABLE public.t ()"); err == nil ||
				!strings.Contains(err.Error(), "read-only") {
				t.Errorf("it writes: %v", err)
			}
			rows, err := conn.Query(patience.Context(t), "SELECT n FROM generate_series(1, $1::int) n", 1000)
			if err != nil {
				t.Fatal(err)
			}
			if all, err := pgx.CollectRows(rows, pgx.RowTo[int]); err != nil || len(all) != 1000 || all[999] != 1000 {
				t.Errorf("%v, %d rows", err, len(all))
			}
			if err := conn.Ping(patience.Context(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A pooler gives the process to the application next, whose own writes would be refused.
func TestConnect_LeavesNothingInAPoolersProcesses(t *testing.T) {
	through := clustertest.Pooler(t, clustertest.Database(t).Secret())
	conn, err := postgres.Connect(patience.Context(t), through, "plimsoll test", postgres.Reading("20s")...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(patience.Context(t))
	if !postgres.Shared(conn) || postgres.PID(conn) != 0 || postgres.Direct(conn) == nil {
		t.Error("it is not taken for one behind a pooler")
	}
	for range 4 {
		if _, err := conn.Exec(patience.Context(t), "SELECT 1"); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"default_transaction_read_only": "off", "statement_timeout": "0",
		"search_path": `"$user", public`} {
		for _, found := range clustertest.Pooled(t, through, name) {
			if found != value {
				t.Errorf("clients of the pooler find %s = %s", name, found)
			}
		}
	}
	if _, err := conn.Prepare(patience.Context(t), "x", "SELECT 1"); err == nil {
		t.Error("a prepared statement runs without our settings")
	}
}

func TestConnect_OfItsOwnProcessIsDirect(t *testing.T) {
	conn, err := postgres.Connect(patience.Context(t), clustertest.Database(t).Secret(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(patience.Context(t))
	if postgres.Shared(conn) || postgres.PID(conn) == 0 || postgres.Direct(conn) != nil {
		t.Error("it is taken for one behind a pooler")
	}
}

// TestConnect_NamesItsSessions: sessions without a name would pass for those of others on the measured database.
func TestConnect_NamesItsSessions(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	for _, c := range []struct{ dsn, application, want string }{
		{dsn, "", "plimsoll"},
		{dsn, "plimsoll advise", "plimsoll advise"},
		{dsn + "&application_name=shop", "", "shop"},
	} {
		conn, err := postgres.Connect(patience.Context(t), c.dsn, c.application)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := conn.QueryRow(patience.Context(t), "SHOW application_name").Scan(&got); err != nil || got != c.want {
			t.Errorf("%q is named %q, want %q (%v)", c.application, got, c.want, err)
		}
		conn.Close(patience.Context(t))
	}
}
