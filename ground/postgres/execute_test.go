package postgres_test

import (
	"testing"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/patience"
)

func TestExecute_StopsAtTheFirstError(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	ctx := patience.Context(t)
	if err := postgres.Execute(ctx, dsn, "CREATE TABLE done (n int)", "INSERT INTO done VALUES (1)", "SELECT 1/0",
		"INSERT INTO done VALUES (2)"); err == nil {
		t.Error("a statement that fails is no error")
	}
	if n, err := postgres.Value[int](ctx, dsn, "SELECT sum(n) FROM done WHERE n < $1", 9); err != nil || n != 1 {
		t.Errorf("the sum is %d, %v, want 1: what came before the error", n, err)
	}
}

// Names without a schema mean what the owner of the database made of them.
func TestWith_KeepsTheSearchPathOfTheDatabase(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	ctx := patience.Context(t)
	if err := postgres.Execute(ctx, dsn, "CREATE SCHEMA own; CREATE TABLE own.things (name text)",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = own', current_database()); END $$",
		"INSERT INTO own.things VALUES ('mine')"); err != nil {
		t.Fatal(err)
	}
	if name, err := postgres.Value[string](ctx, dsn, "SELECT name FROM things"); err != nil || name != "mine" {
		t.Errorf("%q, %v, want what is in the owner's schema", name, err)
	}
}
