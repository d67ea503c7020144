package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

func TestWithDatabase(t *testing.T) {
	for _, dsn := range []string{"postgres://u:p%40@/old?host=/tmp/x&port=5433", "postgres://u:p%40@h:5433/old",
		"host=h port=5433 user=u password='p@' dbname=old"} {
		c, err := pgx.ParseConfig(postgres.WithDatabase(dsn, `n'e\w`))
		if err != nil || c.Database != `n'e\w` || c.Password != "p@" || c.Port != 5433 {
			t.Errorf("%s: %+v, %v", dsn, c, err)
		}
	}
}

// A copy ends with a checkpoint, for which the owner of a database may lack the right.
func TestCopy_ByAUserWhoMayMakeDatabasesAndNoMore(t *testing.T) {
	admin := clustertest.Database(t).Secret()
	name := clustertest.Value(t, admin, "SELECT current_database()::text")
	role := name + "_owner"
	clustertest.Value(t, admin, "CREATE ROLE "+role+" LOGIN CREATEDB PASSWORD 'p'")
	clustertest.Value(t, admin, "ALTER DATABASE "+name+" OWNER TO "+role)
	t.Cleanup(func() {
		clustertest.Value(t, admin, "REASSIGN OWNED BY "+role+" TO CURRENT_USER")
		clustertest.Value(t, postgres.WithDatabase(admin, "postgres"), "DROP DATABASE "+name+"_kept")
		clustertest.Value(t, admin, "DROP ROLE "+role)
	})
	config, err := pgx.ParseConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	dsn := fmt.Sprintf("host='%s' port=%d user=%s password=p dbname=%s", config.Host, config.Port, role, name)
	made, err := postgres.Copy{Suffix: "_kept", Mark: "a test's"}.Make(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if got := clustertest.Value(t, made, "SELECT current_database()::text"); got != name+"_kept" {
		t.Errorf("connects to %s", got)
	}
}

// A command that is killed while the server copies leaves a database behind. Nobody takes it for a copy, and the next
// command removes it, whatever it does.
func TestCopy_OfAKilledCommandGoes(t *testing.T) {
	kept := postgres.Copy{Suffix: "_kept", Mark: "a test's"}
	if dsn := os.Getenv(killedCopyOf); dsn != "" {
		_, err := kept.Make(t.Context(), dsn)
		t.Fatalf("it was not killed: %v", err)
	}
	dsn := clustertest.Database(t).Secret()
	name := clustertest.Value(t, dsn, "SELECT current_database()::text")
	admin := postgres.WithDatabase(dsn, "postgres")
	databases := func() string {
		return clustertest.Value(t, admin, "SELECT coalesce(string_agg(datname, ' ' ORDER BY datname), '') "+
			"FROM pg_database WHERE datname LIKE '%"+name+"%' AND datname <> '"+name+"'")
	}
	for what, next := range map[string]func() error{
		"copied again": func() error {
			_, err := kept.Make(t.Context(), dsn)
			return err
		},
		"dropped": func() error { return kept.Drop(t.Context(), dsn) },
	} {
		killCopy(t, dsn, name)
		if left := databases(); left == "" {
			t.Fatal("the killed command left nothing: nothing is tried")
		}
		if _, there, err := kept.Find(t.Context(), dsn); err != nil || there {
			t.Errorf("a part of a copy is taken for one: %v", err)
		}
		if err := next(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if left := databases(); left != "" && left != name+"_kept" {
			t.Errorf("%s, and there are %s", what, left)
		}
		if err := kept.Drop(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
	}
}

const killedCopyOf = "PLIMSOLL_TEST_KILLED_COPY_OF"

// killCopy starts a command that copies a database, kills it while the server copies, and returns when that has ended.
func killCopy(t *testing.T, dsn, name string) {
	t.Helper()
	admin := postgres.WithDatabase(dsn, "postgres")
	hold := clustertest.Connect(t, admin, "")
	for _, sql := range []string{"BEGIN", "COMMENT ON DATABASE " + name + " IS NULL"} { // a copy waits for that
		if _, err := hold.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCopy_OfAKilledCommandGoes$")
	cmd.Env = append(os.Environ(), killedCopyOf+"="+dsn)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	copying := func() bool {
		return clustertest.Value(t, admin, "SELECT count(*)::text FROM pg_stat_activity WHERE pid <> pg_backend_pid() "+
			"AND query LIKE 'CREATE DATABASE%"+name+"%' AND state = 'active'") != "0"
	}
	patience.Until(t, "the server copies", copying)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if _, err := hold.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	patience.Until(t, "the server has copied", func() bool { return !copying() })
}

// Options of the server arrive as they are, also through the connection string of another database.
func TestWithOptions(t *testing.T) {
	const options = "-c work_mem=8MB -c application_name=a+b"
	dsn := postgres.WithOptions("postgres://u@h/d?sslmode=disable", options)
	for _, dsn := range []string{dsn, postgres.WithDatabase(dsn, "other")} {
		c, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.RuntimeParams["options"]; got != options {
			t.Errorf("%s: %q", dsn, got)
		}
	}
	if got := postgres.WithOptions("postgres://u@h/d", ""); got != "postgres://u@h/d" {
		t.Error(got)
	}
}
