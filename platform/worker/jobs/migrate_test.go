package jobs_test

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"plimsoll/platform/model/schema/schematest"
	"plimsoll/platform/worker/jobs"
)

// versionOfOldBases is the newest migration of River 0.30, with which bases of version 0.5.0 and before were made.
const versionOfOldBases = 6

// A job that was submitted before the program, and River with it, became newer is done afterwards.
func TestMigrate_BaseOfAnEarlierRiver(t *testing.T) {
	db := schematest.Open(t)
	db.Exec(t, "CREATE SCHEMA river")
	db.Exec(t, "CREATE TABLE counted (n bigint PRIMARY KEY)")
	migrator, err := rivermigrate.New(riverpgxv5.New(db.Driver()),
		&rivermigrate.Config{Schema: "river", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp,
		&rivermigrate.MigrateOpts{TargetVersion: versionOfOldBases})
	if err != nil {
		t.Fatal(err)
	}
	b := &testBundle{db, open(t, db.Database, nil)}
	before := b.submit(t, "count", "2")
	for range 2 {
		if err := jobs.Migrate(t.Context(), db.Database); err != nil {
			t.Fatal(err)
		}
	}
	versions := migrator.AllVersions()
	var version int
	err = db.Borrow(t.Context(), func(conn *pgx.Conn) error {
		return conn.QueryRow(t.Context(), "SELECT max(version) FROM river.river_migration").Scan(&version)
	})
	if newest := versions[len(versions)-1].Version; err != nil || version != newest {
		t.Fatalf("migrated to %d, want %d (%v)", version, newest, err)
	}
	b.worker(t, 2, nil)
	b.until(t, before, "done", ended)
	if got := b.until(t, b.submit(t, "count", "0"), "done", ended); got.State != jobs.Done {
		t.Errorf("a job after the migration ended as %+v", got)
	}
	if got, err := b.jobs.Show(t.Context(), "me", before); err != nil || got.State != jobs.Done {
		t.Errorf("the job of the old base ended as %+v, %v", got, err)
	}
}
