package database_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/temptable"
)

func connect(t *testing.T, options database.Options) *databasetest.Test {
	db := databasetest.Open(t)
	options.Connections = 1
	return &databasetest.Test{Database: databasetest.Connect(t, db.DSN, options), DSN: db.DSN}
}

// use lends one table of each structure and puts rows[i] rows into it.
func use(t *testing.T, db *databasetest.Test, rows ...int) database.Counters {
	t.Helper()
	ctx, counters := database.WithCounters(t.Context())
	err := db.Run(ctx, func(w *database.Work) error {
		lent, err := w.Temp(ctx, structures[:len(rows)]...)
		for i, table := range lent {
			w.Fill(table, "fill", "INSERT INTO "+table.Name()+" (n) SELECT generate_series(1, $1::int4)", rows[i])
			w.Analyze(table)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return *counters
}

func TestTempTables_AreCountedByClearing(t *testing.T) {
	for clearing, want := range map[temptable.Clearing]temptable.Counters{
		temptable.Always: {Reused: 3, Truncates: 3, Returned: 3, Empty: 2},
		temptable.Ask:    {Reused: 3, Truncates: 1, Skipped: 2, Probes: 3, Returned: 3, Empty: 2},
		temptable.Known:  {Reused: 3, Truncates: 1, Skipped: 2, Returned: 3, Empty: 2},
		temptable.Delete: {Reused: 3, Deletes: 1, Skipped: 2, Returned: 3, Empty: 2},
	} {
		t.Run(string(clearing), func(t *testing.T) {
			db := connect(t, database.Options{TempTables: temptable.Options{Clearing: clearing}})
			if first := use(t, db, 0, 2, 0); first.TempTables.Created != 3 {
				t.Errorf("first %+v", first.TempTables)
			}
			if second := use(t, db, 0, 2, 0); second.TempTables != want {
				t.Errorf("second %+v, want %+v", second.TempTables, want)
			}
			if sum := db.TempTables(); sum.Used() != 6 || sum.EmptyShare() != 4.0/6 {
				t.Errorf("sum %+v", sum)
			}
		})
	}
}

func TestTempTables_BeyondTheCapTheOneUsedLongestAgoIsDropped(t *testing.T) {
	db := connect(t, database.Options{TempTables: temptable.Options{Max: 2}})
	lend := func(which ...int) temptable.Counters {
		ctx, counters := database.WithCounters(t.Context())
		for _, i := range which {
			if err := db.Run(ctx, func(w *database.Work) error {
				_,
					err := w.Temp(ctx, structures[i])
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return counters.TempTables
	}
	lend(0, 1, 0) // 1 is the oldest
	if got, want := lend(2, 0, 1), (temptable.Counters{Created: 2, Dropped: 2, Reused: 1, Skipped: 3, Returned: 3,
		Empty: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTempTables_WarmUnitNeedsNoRoundTripForThem(t *testing.T) {
	db := connect(t, database.Options{})
	use(t, db, 1, 1)
	if warm := use(t, db, 1, 1); warm.RoundTrips != 2 { // fills and their counts; truncates with COMMIT
		t.Errorf("counted %+v, want two round trips", warm)
	}
}

func TestTempTables_StatisticsAreThereAfterAnalyze(t *testing.T) {
	db := connect(t, database.Options{})
	var rows float32
	err := db.Run(t.Context(), func(w *database.Work) error {
		lent, err := w.Temp(t.Context(), structures[0])
		if err != nil {
			return err
		}
		w.Fill(lent[0], "fill", "INSERT INTO "+lent[0].Name()+" SELECT generate_series(1, 250)")
		w.Analyze(lent[0])
		w.Queue("look", "SELECT reltuples FROM pg_class WHERE oid = $1::regclass",
			lent[0].Name()).Rows(func(r pgx.Rows) error {
			return r.Scan(&rows)
		})
		return nil
	})
	if err != nil || rows != 250 {
		t.Errorf("the planner knows of %v rows, %v", rows, err)
	}
}

// DELETE keeps the file of a table and its statistics, so the server keeps its plans; but rows that were deleted take
// room, which only TRUNCATE gives back, and statistics of few rows must not be taken for those of many.
func TestTempTables_DeletedFewRowsKeepThePlans(t *testing.T) {
	db := connect(t, database.Options{TempTables: temptable.Options{Clearing: temptable.Delete}})
	type facts struct {
		file        uint32
		pages, rows int64
	}
	look := func(rows int) (f facts) {
		t.Helper()
		if err := db.Run(t.Context(), func(w *database.Work) error {
			lent, err := w.Temp(t.Context(), structures[0])
			if err != nil {
				return err
			}
			w.Fill(lent[0], "fill", "INSERT INTO "+lent[0].Name()+" SELECT generate_series(1, $1::int4)", rows)
			w.Analyze(lent[0])
			w.Queue("look", `SELECT pg_relation_filenode(oid), pg_relation_size(oid) / 8192, reltuples::int8
FROM pg_class WHERE oid = $1::regclass`, lent[0].Name()).Rows(func(r pgx.Rows) error {
				return r.Scan(&f.file, &f.pages, &f.rows)
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return f
	}
	first := look(10)
	if first.rows != 10 {
		t.Fatalf("the first use gathers no statistics: %+v", first)
	}
	for range 20 {
		if f := look(12); f.file != first.file || f.rows != 10 {
			t.Fatalf("%+v after %+v: truncated, or statistics gathered again", f, first)
		}
	}
	look(300) // nobody knew
	if f := look(300); f.file != first.file || f.rows != 300 {
		t.Errorf("%+v: statistics of %d rows after a use of 300", f, f.rows)
	}
	most := int64(0)
	for range 3 * temptable.DeletedMost / 300 {
		most = max(most, look(300).pages)
	}
	if most > 16 {
		t.Errorf("the table has up to %d pages, and is never truncated", most)
	}
}

// Reading from a temp table must not cost what is known of it, writing must.
func TestTempTables_OtherStatementsThatMayWriteAreNoticed(t *testing.T) {
	for sql, probes := range map[string]int64{
		"SELECT count(*) FROM %s":                                   0,
		"INSERT INTO things SELECT n, 1 FROM %s":                    0,
		"INSERT INTO %s VALUES (1)":                                 1,
		"DELETE FROM %s":                                            1,
		"WITH x AS (INSERT INTO %s VALUES (1) RETURNING 1) TABLE x": 1,
		"DELETE /* all */ FROM %s":                                  1,
	} {
		t.Run(sql, func(t *testing.T) {
			db := connect(t, database.Options{})
			db.Exec(t, "CREATE TABLE things (id int, n int)")
			ctx, counters := database.WithCounters(t.Context())
			err := db.Run(ctx, func(w *database.Work) error {
				lent, err := w.Temp(ctx, structures[0])
				if err == nil {
					w.Queue("other", fmt.Sprintf(sql, lent[0].Name()))
				}
				return err
			})
			if err != nil || counters.TempTables.Probes != probes {
				t.Errorf("%d probes, want %d; %v", counters.TempTables.Probes, probes, err)
			}
		})
	}
}

func TestTempTables_FillThatWritesElsewhereTooIsNoticed(t *testing.T) {
	db := connect(t, database.Options{})
	ctx, counters := database.WithCounters(t.Context())
	err := db.Run(ctx, func(w *database.Work) error {
		lent, err := w.Temp(ctx, structures[0], structures[1], structures[0])
		if err == nil {
			w.Fill(lent[0], "both", "WITH x AS (INSERT INTO "+lent[1].Name()+" VALUES (1) RETURNING n) INSERT INTO "+
				lent[0].Name()+
				" SELECT x.n FROM x JOIN "+lent[2].Name()+" t ON true")
		}
		return err
	})
	if want := (temptable.Counters{Created: 3, Truncates: 1, Skipped: 2, Probes: 1, Returned: 3,
		Empty: 2}); err != nil || counters.TempTables != want {
		t.Errorf("%+v, want %+v; %v", counters.TempTables, want, err)
	}
}

// lookedInto queues a look into a table that is returned after rows were written to it.
func lookedInto(ctx context.Context, w *database.Work) error {
	lent, err := w.Temp(ctx, structures[0])
	if err != nil {
		return err
	}
	w.Queue("write", "INSERT INTO "+lent[0].Name()+" VALUES (1)")
	w.Return(lent...)
	return w.Flush(ctx)
}

// A table that was returned may be gone by the time that the server has said whether it is empty.
func TestTempTables_ReturnedTableMayBeDropped(t *testing.T) {
	for _, chain := range []int{1, 100} {
		t.Run(fmt.Sprint(chain), func(t *testing.T) {
			db := connect(t, database.Options{Chain: chain})
			err := db.Run(t.Context(), func(w *database.Work) error {
				if err := lookedInto(t.Context(), w); err != nil {
					return err
				}
				w.Queue("discard", "DISCARD TEMP")
				return w.Flush(t.Context())
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A look into a returned table travels with the rollback that takes the table away.
func TestTempTables_ReturnedTableMayBeUndone(t *testing.T) {
	db := connect(t, database.Options{})
	err := db.Run(t.Context(), func(w *database.Work) error {
		w.Savepoint("before")
		if err := lookedInto(t.Context(), w); err != nil {
			return err
		}
		if err := w.RollbackTo(t.Context(), "before"); err != nil {
			return err
		}
		return w.Flush(t.Context())
	})
	if err != nil {
		t.Error(err)
	}
}

// A savepoint that an error kept from being set or released is, for the pool, what it is for the server.
func TestTempTables_SavepointThatWasNotReachedIsNone(t *testing.T) {
	for name, then := range map[string]func(w *database.Work){
		"released":    func(w *database.Work) { w.Release("before") },
		"of one name": func(w *database.Work) { w.Savepoint("before") },
	} {
		t.Run(name, func(t *testing.T) {
			db := connect(t, database.Options{})
			use(t, db) // has asked which tables there are
			err := db.Run(t.Context(), func(w *database.Work) error {
				w.Savepoint("before")
				if _, err := w.Temp(t.Context(), structures[0]); err != nil {
					return err
				}
				w.Queue("fail", "SELECT 1/0")
				then(w)
				if w.Flush(t.Context()) == nil {
					t.Error("a division by zero succeeded")
				}
				return w.RollbackTo(t.Context(), "before") // the table is gone
			})
			if err != nil {
				t.Error(err)
			}
			use(t, db, 1)
		})
	}
}

// A transaction that begins with a temp table commits as the plan says, like any other.
func TestTempTables_TransactionThatBeginsWithOneIsDurable(t *testing.T) {
	for plan, want := range map[string]string{"sync": "on", "async": "off"} {
		db := connect(t, database.Options{Durability: plan})
		use(t, db) // has asked which tables there are
		var mode string
		err := db.Run(t.Context(), func(w *database.Work) error {
			if _, err := w.Temp(t.Context(), structures[0]); err != nil {
				return err
			}
			w.Queue("mode", "SELECT current_setting('synchronous_commit')").Rows(func(r pgx.Rows) error {
				return r.Scan(&mode)
			})
			return nil
		})
		if err != nil || mode != want {
			t.Errorf("%s commits with %q, want %s (%v)", plan, mode, want, err)
		}
	}
}

func TestChain_BoundsWhatTravelsTogether(t *testing.T) {
	for chain, trips := range map[int]int64{1: 12, 5: 3, 100: 1} { // begin, 10 statements, commit
		db := connect(t, database.Options{Chain: chain})
		db.Exec(t, "CREATE TABLE things (id int)")
		ctx, counters := database.WithCounters(t.Context())
		err := db.Run(ctx, func(w *database.Work) error {
			for i := range 10 {
				w.Queue("insert", "INSERT INTO things VALUES ($1)", i)
			}
			return nil
		})
		if err != nil || counters.Statements != 12 || counters.RoundTrips != trips {
			t.Errorf("chains of %d: %+v, %v", chain, *counters, err)
		}
		if n := db.Value(t, "SELECT count(*) FROM things"); n != "10" {
			t.Errorf("chains of %d: %s rows", chain, n)
		}
	}
}

func TestStatementError_NamesTheStatementThatFailed(t *testing.T) {
	for name, bad := range map[string]struct {
		sql  string
		args []any
	}{
		"WhenCarriedOut":        {"SELECT 1/0", nil},
		"WhenPrepared":          {"SELECT nothing FROM things", nil},
		"WhenSyntaxIsWrong":     {"SELEC 1", nil},
		"WhenArgumentsDoNotFit": {"SELECT $1::int4", []any{"no number"}},
	} {
		for _, flushedBefore := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, flushedBefore), func(t *testing.T) {
				db := connect(t, database.Options{})
				db.Exec(t, "CREATE TABLE things (id int)")
				err := db.Run(t.Context(), func(w *database.Work) error {
					w.Queue("first", "SELECT 1")
					if flushedBefore {
						if err := w.Flush(t.Context()); err != nil {
							return err
						}
					}
					w.Queue("good", "INSERT INTO things VALUES (1)")
					w.Queue("bad", bad.sql, bad.args...)
					w.Queue("behind", "INSERT INTO things VALUES (2)")
					return nil
				})
				var failed *database.StatementError
				if !errors.As(err, &failed) || failed.Name != "bad" || failed.Position != 4 {
					t.Errorf("%v (%+v), want statement 4, bad", err, failed)
				}
				if n := db.Value(t, "SELECT count(*) FROM things"); n != "0" {
					t.Errorf("%s rows were kept", n)
				}
			})
		}
	}
}

func TestLifetime_ConnectionGivesItsTempTablesBackInSteps(t *testing.T) {
	db := connect(t, database.Options{
		Lifetime: database.Lifetime{AtLeast: time.Millisecond, Jitter: database.Never, Check: time.Hour, EvictStep: 1,
			EvictPause: time.Millisecond},
	})
	use(t, db, 1, 1, 1, 1) // the lifetime is over when the connection comes back
	use(t, db)             // a new connection: the old one has been closed
	if got := db.TempTables(); got.Dropped != 3 {
		t.Errorf("%d dropped before the connection closed, want 3 and the last with it", got.Dropped)
	}
}

func TestOptions_RefusesWhatCannotBe(t *testing.T) {
	for want, options := range map[string]database.Options{
		"chains of -1":        {Chain: -1},
		"at least 1":          {TempTables: temptable.Options{Max: -1}},
		"ask, known or":       {TempTables: temptable.Options{Clearing: "never"}},
		"random part of 20ms": {Lifetime: database.Lifetime{Jitter: 20 * time.Millisecond}},
	} {
		if _, err := database.Open(t.Context(), "host=/none", options); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want …%s…", err, want)
		}
	}
}

func TestDefine_RefusesWhatIsNoStructure(t *testing.T) {
	for name, define := range map[string]func() (temptable.Structure, error){
		"NoColumns": func() (temptable.Structure, error) { return temptable.Define(nil) },
		"Injection": func() (temptable.Structure, error) {
			return temptable.Define([]temptable.Column{{Name: "a", Type: "int8); DROP TABLE x; --"}})
		},
		"IndexNoCol": func() (temptable.Structure, error) {
			return temptable.Define([]temptable.Column{{Name: "a", Type: "int8"}}, "b")
		},
	} {
		if s, err := define(); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
