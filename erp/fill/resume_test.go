package fill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/erptest"
	"plimsoll/erp/fill"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/test/patience"
	"plimsoll/test/thorough"
)

// A process is killed while it fills; what it has done stays, the rest comes, and the base is the one that a fill in
// one go makes.
func TestAKilledFillGoesOn(t *testing.T) {
	whole, _ := filled(t, killed)
	db := schematest.Open(t)
	for _, at := range []string{"0.3", "0.55", "0.8"} {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), killedVariable+"="+db.DSN, killedAtVariable+"="+at)
		if out, err := command.CombinedOutput(); err == nil || command.ProcessState.ExitCode() != -1 {
			t.Fatalf("it was to be killed: %v\n%s", err, out)
		}
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_fill WHERE finished IS NULL"); got != "1" {
		t.Fatal("the journal does not say that it is unfinished")
	}
	if err := fill.Finished(t.Context(), db.Database); !errors.Is(err, fill.ErrUnfinished) ||
		problem.ClassOf(err) != problem.Usage {
		t.Errorf("got %v", err)
	}
	half := db.Value(t, "SELECT count(*) FROM plimsoll_fill_unit")
	db.Exec(t, "CREATE TABLE plimsoll_half AS SELECT organisation, count(*) AS parts FROM plimsoll_fill_unit "+
		"WHERE part >= 0 GROUP BY organisation")
	other := killed
	other.Seed++
	if _, err := fill.Run(t.Context(), db.Database, other); !errors.Is(err, fill.ErrUnfinished) ||
		problem.HintOf(err) == "" {
		t.Errorf("another fill on top: %v", err)
	}
	later := killed
	later.Until, later.Streams = time.Time{}, 4
	summary, err := fill.Run(t.Context(), db.Database, later)
	if err != nil {
		t.Fatal(err)
	}
	if half == "0" || half == db.Value(t, "SELECT count(*) FROM plimsoll_fill_unit") {
		t.Errorf("%s units were done when it was killed: nothing was gone on with", half)
	}
	if got := db.Value(t, "SELECT count(*) FROM plimsoll_half h WHERE parts < (SELECT count(*) "+
		"FROM plimsoll_fill_unit u WHERE u.organisation = h.organisation AND part >= 0)"); got == "0" {
		t.Error("no organisation had some of its parts and not others: nothing had to be made once more")
	}
	if err := fill.Finished(t.Context(), db.Database); err != nil {
		t.Error(err)
	}
	same(t, whole, db)
	report, err := fill.Check(t.Context(), db.Database, fill.Options{})
	if err != nil || !report.Clean() || report.Rows != summary.Rows {
		t.Errorf("%+v, %v; summary %+v", report, err, summary)
	}
	erptest.Clean(t, db.Database)
}

var killed = fill.Options{
	Items: 200, Warehouses: 9, Counterparties: 300, Users: 6, Organisations: 3, Documents: thorough.Or(16_000, 2000),
	Seed: 5, Streams: 2, Until: small.Until,
}

// fillUntilKilled kills itself without a word when it has made a share of the documents.
func fillUntilKilled(dsn, at string) {
	share, err := strconv.ParseFloat(at, 64)
	if err != nil {
		panic(err)
	}
	db, err := database.Open(context.Background(), dsn, database.Options{})
	if err != nil {
		panic(err)
	}
	options := killed
	options.Progress = func(p fill.Progress) {
		if p.Stage == "documents" && float64(p.Done) >= share*float64(p.Total) {
			process, _ := os.FindProcess(os.Getpid())
			_ = process.Kill()
			select {}
		}
	}
	_, err = fill.Run(context.Background(), db, options)
	panic(fmt.Sprint("it came to its end: ", err))
}

// same fails when two bases differ in a table, a row, an index or a key.
func same(t *testing.T, one, other *databasetest.Test) {
	t.Helper()
	for _, table := range tables {
		if digest(t, one, "TABLE "+table) != digest(t, other, "TABLE "+table) {
			t.Errorf("%s differs", table)
		}
	}
	for what, query := range map[string]string{"indexes or keys": indexes, "settings of tables": settings} {
		if one.Value(t, query) != other.Value(t, query) {
			t.Error(what + " differ")
		}
	}
}

// indexes and keys of a database, in one text.
const indexes = `SELECT string_agg(pg_get_indexdef(indexrelid) || indisprimary || indisvalid,
		';' ORDER BY indexrelid::regclass::text)
	FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE relnamespace = 'public'::regnamespace
	AND relname NOT LIKE 'plimsoll_fill%'`

// settings of tables that have any, in one text.
const settings = `SELECT string_agg(relname || reloptions::text, ';' ORDER BY relname) FROM pg_class
	WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND reloptions IS NOT NULL`

// The number of streams, and whether indexes were put off, change nothing.
func TestStreamsMakeTheSameBase(t *testing.T) {
	one := killed
	one.Streams = 1
	four := killed
	four.Streams = 4
	first, _ := filled(t, one)
	second, _ := filled(t, four)
	same(t, first, second)
	if got := first.Value(t, "SELECT count(*) FILTER (WHERE organisation = 0) > count(*) FILTER (WHERE "+
		"organisation = 1) FROM plimsoll_fill_unit"); got != "true" {
		t.Error("the months of a large organisation are not cut")
	}
	plain := schematest.Open(t)
	if err := erp.Migrate(t.Context(), plain.Database); err != nil {
		t.Fatal(err)
	}
	if first.Value(t, indexes) != plain.Value(t, indexes) || first.Value(t, settings) != plain.Value(t, settings) {
		t.Error("the indexes, or settings of tables, are not those of a base that was not filled")
	}
	if got := first.Value(t, "SELECT count(*) FROM plimsoll_fill_index"); got != "0" {
		t.Errorf("%s indexes are still missing", got)
	}
	// Pages that a COPY has added and not used are no part of it: they are empty, and nobody is told that they are
	// seen by all.
	for _, table := range tables {
		if got := first.Value(t, "SELECT count(DISTINCT (ctid::text::point)[0]) - (SELECT relallvisible FROM "+
			"pg_class WHERE oid = $1::regclass) FROM "+table, table); got[0] != '-' && got != "0" {
			t.Errorf("%s: %s pages with rows are not known to be seen by all", table, got)
		}
	}
}

func TestAStoppedFillCanBeDiscarded(t *testing.T) {
	db := schematest.Open(t)
	ctx, stop := context.WithCancel(t.Context())
	options := killed
	options.Progress = func(p fill.Progress) {
		if p.Stage == "totals" {
			stop()
		}
	}
	if _, err := fill.Run(ctx, db.Database, options); problem.ClassOf(err) != problem.Interrupted {
		t.Fatalf("got %v", err)
	}
	patience.Until(t, "the server has noticed that the connections are gone", func() bool {
		return db.Value(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+
			"application_name = 'plimsoll fill'") == "0"
	})
	another := small
	another.Discard = true
	if _, err := fill.Run(t.Context(), db.Database, another); err != nil {
		t.Fatal(err)
	}
	same(t, copied(t), db)
}
