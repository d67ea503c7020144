package identity

import (
	"net/url"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

func of(t *testing.T, dsn string) Identity {
	t.Helper()
	i, err := Of(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Two databases of a server, two servers, and one server that was started again on another day.
func TestIdentity_TellsServersApart(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	one := of(t, dsn)
	if one.System == Unknown || one.Folder == "" || one.Version == "" || one.Settings["shared_buffers"] == "" {
		t.Fatalf("want the whole identity, got %+v", one)
	}
	if again := of(t, dsn); !again.Equal(one) {
		t.Errorf("not itself: %s", again.Difference(one))
	}
	if got := of(t, clustertest.Database(t).Secret()).Difference(one); !strings.HasPrefix(got, "database ") {
		t.Errorf("another database: %q", got)
	}
	other := of(t, with(t, dsn, "work_mem", "77MB"))
	if got := other.Difference(one); !strings.HasPrefix(got, "setting work_mem 77MB,") {
		t.Errorf("other settings: %q", got)
	}
	own := clustertest.Alone(t, nil)
	other = of(t, own.DSN())
	own.Stop()
	own.Start()
	if again := of(t, own.DSN()); !again.Equal(other) {
		t.Errorf("started again: %s", again.Difference(other))
	}
	// the copy of a server has its identifier, and lies elsewhere
	if got := other.Difference(one); !strings.HasPrefix(got, "system identifier ") &&
		!strings.HasPrefix(got, "data folder ") {
		t.Errorf("another server: %q", got)
	}
}

// What anybody made on the server who may create objects there cannot stand in for the server's own.
func TestIdentity_IsNotThatOfPlantedObjects(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	want := of(t, dsn)
	clustertest.Value(t, dsn, "CREATE FUNCTION current_database() RETURNS text LANGUAGE sql AS $$ SELECT 'planted' $$")
	clustertest.Value(t, dsn, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', "+
		"pg_catalog.current_database()); END $$")
	if got := of(t, dsn); got.Database != want.Database {
		t.Errorf("the database is %q, want %q", got.Database, want.Database)
	}
}

// A role without rights knows neither identifier nor folder; then the address must do.
func TestIdentity_WithoutRights(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	all := of(t, dsn)
	clustertest.Exec(t, dsn, "CREATE ROLE nobody_special LOGIN")
	clustertest.Exec(t, dsn, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
	some := of(t, with(t, dsn, "role", "nobody_special"))
	if some.System != Unknown || !strings.HasSuffix(some.String(), "system identifier unknown") {
		t.Errorf("want an unknown system identifier, got %s", some)
	}
	if !some.Equal(all) {
		t.Errorf("the same server by the same address: %s", some.Difference(all))
	}
	moved := some
	moved.Folder, moved.Address = "", "elsewhere:5432"
	if got := moved.Difference(some); !strings.HasPrefix(got, "address elsewhere:5432, before ") {
		t.Errorf("want another address, got %q", got)
	}
}

// with a parameter in a connection string.
func with(t *testing.T, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set(name, value)
	u.RawQuery = query.Encode()
	return u.String()
}

func TestDifference(t *testing.T) {
	one := Identity{System: "1", Address: "a:1", Folder: "/a", Database: "d", Version: "18.1", Engine: "vanilla",
		Settings: map[string]string{"jit": "on", "work_mem": ""}}
	for want, change := range map[string]func(*Identity){
		"":                                func(i *Identity) { i.Address = "a:2" }, // a server here may change it
		"system identifier 2, before 1":   func(i *Identity) { i.System = "2" },
		"data folder /b, before /a":       func(i *Identity) { i.Folder = "/b" },
		"database e, before d":            func(i *Identity) { i.Database = "e" },
		"PostgreSQL 18.2, before 18.1":    func(i *Identity) { i.Version = "18.2" },
		"engine plimsoll, before vanilla": func(i *Identity) { i.Engine, i.Patchset = "plimsoll", 13 },
		"patchset 14, before 0":           func(i *Identity) { i.Patchset = 14 },
		"setting jit none, before on":     func(i *Identity) { i.Settings = map[string]string{"work_mem": ""} },
		"address b:1, before a:1":         func(i *Identity) { i.Folder, i.Address = "", "b:1" },
	} {
		other := one
		if change(&other); other.Difference(one) != want {
			t.Errorf("%q, want %q", other.Difference(one), want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://me:secret@db1:5433/erp":                 "db1:5433/erp",
		"host=/run/postgresql port=5432 user=me dbname=erp": "/run/postgresql:5432/erp",
		"postgres://me@[::1]:5432":                          "[::1]:5432/me",
	} {
		if got, err := NameOf(dsn); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", dsn, got, err, want)
		}
	}
	if _, err := NameOf("postgres://%zz"); err == nil {
		t.Error("no error")
	}
}
