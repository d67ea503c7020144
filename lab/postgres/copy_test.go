package postgres_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/postgres"
	"plimsoll/lab/postgres/cluster/clustertest"
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
