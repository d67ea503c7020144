package durability_test

import (
	"context"
	"testing"

	"plimsoll/platform/data/database"
	"plimsoll/test/patience"
)

// The commit is one of the statements that travel anyway; where the log ends, the watcher finds out for all.
func TestAcknowledgingTakesNoStatement(t *testing.T) {
	cost := func(durability string) map[string][2]int64 {
		o := server(t)
		db := open(t, o.DSN(), database.Options{Connections: 1, Durability: durability})
		if durability == "durable-ack" {
			watched(t, db)
		}
		all := map[string][2]int64{}
		for _, name := range []string{"first", "second"} {
			ctx, counters := database.WithCounters(patience.Context(t))
			if err := post(ctx, db, 1, name); err != nil {
				t.Fatal(err)
			}
			all[name] = [2]int64{counters.Statements, counters.RoundTrips}
		}
		ctx, counters := database.WithCounters(patience.Context(t))
		if err := post(ctx, db, 1, "first"); err != nil { // refused, and told as done
			t.Fatal(err)
		}
		all["refused"] = [2]int64{counters.Statements, counters.RoundTrips}
		ctx, counters = database.WithCounters(patience.Context(t))
		if err := read(ctx, db); err != nil {
			t.Fatal(err)
		}
		all["read"] = [2]int64{counters.Statements, counters.RoundTrips}
		return all
	}
	want := cost("async")
	for name, got := range cost("durable-ack") {
		if got != want[name] {
			t.Errorf("%s: %d statements and %d round trips, %d without waiting", name, got[0], got[1], want[name])
		}
	}
}

// Readers of what is flushed leave the log as it is. Something else may write between the two: then again.
func TestReadersOfAFlushedLogFlushNothing(t *testing.T) {
	db := open(t, server(t).DSN(), database.Options{Connections: 1, Durability: "durable-ack"})
	watched(t, db)
	ctx := patience.Context(t)
	if err := post(ctx, db, 1, "one"); err != nil {
		t.Fatal(err)
	}
	if f := db.FlushFigures(); f.Flushes != 1 || f.Answers != 1 {
		t.Errorf("a commit: %+v", f)
	}
	patience.Until(t, "a read flushes nothing", func() bool {
		before := db.FlushFigures()
		if err := read(ctx, db); err != nil {
			t.Fatal(err)
		}
		after := db.FlushFigures()
		if after.Answers != before.Answers+1 {
			t.Fatalf("the reader does not wait: %+v", after)
		}
		return after.Flushes == before.Flushes
	})
}

func read(ctx context.Context, db *database.Database) error {
	return db.Read(ctx, func(w *database.Work) error { w.Queue("read", "SELECT n FROM total"); return nil })
}
