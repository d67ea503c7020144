package schema_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

// everything that a database holds, as text.
const everything = `SELECT coalesce(string_agg(n.nspname || '.' || c.relname, ' ' ORDER BY 1), '') FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`

func TestClaim(t *testing.T) {
	for _, c := range []struct {
		name, before string
		claim, then  error // what Claim answers, and a Migrate after it
	}{
		{"Empty", "", nil, nil},
		{"ForeignTable", "CREATE TABLE pgbench_accounts (aid int)", schema.ErrForeign, schema.ErrForeign},
		{"ForeignTableInAnotherSchema", "CREATE SCHEMA theirs; CREATE TABLE theirs.t (a int)", schema.ErrForeign,
			schema.ErrForeign},
		{"ForeignView", "CREATE VIEW v AS SELECT 1", schema.ErrForeign, schema.ErrForeign},
		{"TableNamedAsOursAlone", "CREATE TABLE plimsoll_number (a int)", schema.ErrForeign, schema.ErrForeign},
		{"TableNamedAsTheMarker", "CREATE TABLE plimsoll_schema (a int)", schema.ErrForeign, schema.ErrForeign},
		{"JobsOfSomebodyElse", "CREATE SCHEMA river; CREATE TABLE river.river_job (a int)", schema.ErrForeign,
			schema.ErrForeign},
		{"TemporaryTableIsNobodys", "CREATE TEMP TABLE t (a int)", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := databasetest.Open(t)
			if c.before != "" {
				db.Exec(t, c.before)
			}
			was := db.Value(t, everything)
			err := schema.Claim(t.Context(), db.Database)
			if !errors.Is(err, c.claim) {
				t.Fatalf("claim: %v, want %v", err, c.claim)
			}
			refuses(t, db, was, err)
			err = schema.Migrate(t.Context(), db.Database, first())
			if !errors.Is(err, c.then) {
				t.Fatalf("migrate: %v, want %v", err, c.then)
			}
			refuses(t, db, was, err)
		})
	}
}

// refuses: one line of the right class, a hint, and nothing was written.
func refuses(t *testing.T, db *databasetest.Test, was string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if problem.ClassOf(err) != problem.Usage || problem.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
		t.Errorf("class %v, hint %q: %v", problem.ClassOf(err), problem.HintOf(err), err)
	}
	if now := db.Value(t, everything); now != was {
		t.Errorf("was %q, is %q", was, now)
	}
}

func TestMigrate_LeavesAnEmptyDatabaseThatNobodyClaimed(t *testing.T) {
	db := databasetest.Open(t)
	err := schema.Migrate(t.Context(), db.Database, first())
	if !errors.Is(err, schema.ErrUnclaimed) || !strings.Contains(problem.HintOf(err), "--create") {
		t.Errorf("%v; hint %q", err, problem.HintOf(err))
	}
	refuses(t, db, "", err)
}

// A base of ours may be upgraded, but not while it has what is not ours.
func TestMigrate_RefusesForeignTablesBesideOurs(t *testing.T) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, first()); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "CREATE TABLE a (a int); CREATE TABLE b (a int); CREATE TABLE c (a int); CREATE TABLE d (a int)")
	was := db.Value(t, everything)
	err := schema.Migrate(t.Context(), db.Database, second())
	if !errors.Is(err, schema.ErrForeign) || !strings.Contains(err.Error(), "a, b, c and 1 more") {
		t.Errorf("migrate: %v", err)
	}
	refuses(t, db, was, err)
	db.Exec(t, "DROP TABLE a, b, c, d")
	if err := schema.Migrate(t.Context(), db.Database, second()); err != nil {
		t.Errorf("without them: %v", err)
	}
}
