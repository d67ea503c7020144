package database_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func setup(t *testing.T) *databasetest.Test {
	db := databasetest.Open(t)
	db.Exec(t, "CREATE TABLE things (id int PRIMARY KEY, n int NOT NULL)")
	db.Exec(t, "INSERT INTO things VALUES (1, 0), (2, 0)")
	return db
}

const add = "UPDATE things SET n = n + 1 WHERE id = $1"

func TestRunIsOneRoundTripAndCounted(t *testing.T) {
	db := setup(t)
	ctx, counters := database.WithCounters(t.Context())
	err := db.Run(ctx, func(w *database.Work) error {
		w.Queue("one", add, 1)
		w.Queue("two", add, 2)
		return nil
	})
	if want := (database.Counters{Statements: 4, RoundTrips: 1, Rows: 2}); err != nil || *counters != want {
		t.Errorf("counted %+v, want %+v (begin, two, commit); %v", *counters, want, err)
	}
	if got := db.Value(t, "SELECT sum(n) FROM things"); got != "2" {
		t.Errorf("sum %s", got)
	}
}

func TestRunThatFails(t *testing.T) {
	ours := errors.New("ours")
	for name, c := range map[string]struct {
		do   func(ctx context.Context, w *database.Work) error
		want string
	}{
		"ByItsOwnErrorRollsBack": {func(ctx context.Context, w *database.Work) error {
			w.Queue("one", add, 1)
			return errors.Join(w.Flush(ctx), ours)
		}, "ours"},
		"InAStatementNamesIt": {func(ctx context.Context, w *database.Work) error {
			w.Queue("first", add, 1)
			w.Queue("second", "INSERT INTO things VALUES (1, 1)")
			w.Queue("third", add, 2)
			return nil
		}, "second: "},
		"WhileReadingRollsBack": {func(ctx context.Context, w *database.Work) error {
			w.Queue("one", add, 1)
			w.Queue("read", "SELECT generate_series(1, 10)").Rows(func(pgx.Rows) error { return ours })
			return nil
		}, "read: ours"},
		"ToCommitIsNotTakenForDone": {func(ctx context.Context, w *database.Work) error {
			w.Queue("one", add, 1)
			w.Queue("end behind our back", "rollback")
			w.Queue("begin", "begin")
			w.Queue("spoil", "SELECT 1/0")
			if err := w.Flush(ctx); err == nil {
				return errors.New("1/0 is no error")
			}
			return nil // the caller ignores the error: COMMIT must not look like success
		}, "commits its own transaction"},
		"AndGoesOnIsNotTakenForDone": {func(ctx context.Context, w *database.Work) error {
			w.Queue("one", add, 1)
			w.Queue("spoil", "SELECT 1/0")
			if err := w.Flush(ctx); err == nil {
				return errors.New("1/0 is no error")
			}
			w.Queue("two", add, 2)
			return nil
		}, "spoil: "},
	} {
		t.Run(name, func(t *testing.T) {
			db := setup(t)
			err := db.Run(t.Context(), func(w *database.Work) error { return c.do(t.Context(), w) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
			if got := db.Value(t, "SELECT sum(n) FROM things"); got != "0" {
				t.Errorf("sum %s: something was kept", got)
			}
		})
	}
}

// Two units of work lock two rows in opposite order; a barrier makes sure that they deadlock.
func TestRunRepeatsADeadlockWithoutLosingAnything(t *testing.T) {
	for name, hear := range map[string]func(error) error{
		"ThatIsReported": func(err error) error { return err },
		"ThatIsIgnored":  func(error) error { return nil }, // how other platforms lose a movement
	} {
		t.Run(name, func(t *testing.T) {
			db := setup(t)
			db.Exec(t, "ALTER TABLE things ADD moved int NOT NULL DEFAULT 0")
			var both, done sync.WaitGroup
			both.Add(2)
			var retries [2]int64
			for i, order := range [][]int{{1, 2}, {2, 1}} {
				done.Add(1)
				go func() {
					defer done.Done()
					ctx, counters := database.WithCounters(t.Context())
					if err := db.Run(ctx, deadlocking(ctx, order, &both, hear)); err != nil {
						t.Error(err)
					}
					retries[i] = counters.Retries
				}()
			}
			done.Wait()
			if got := db.Value(t, "SELECT min(n) + max(n) + sum(moved) FROM things"); got != "10" ||
				retries[0]+retries[1] == 0 {
				t.Errorf("sum %s, want 4 and 6 moved; retries %v", got, retries)
			}
		})
	}
}

// deadlocking adds 1 to both rows, and by way of a temp table the number of its rows, 3, to one.
func deadlocking(ctx context.Context, order []int, both *sync.WaitGroup,
	hear func(error) error) func(*database.Work) error {
	first := true
	return func(w *database.Work) error {
		lent, err := w.Temp(ctx, structures[0])
		if err != nil {
			return err
		}
		w.Fill(lent[0], "fill", "INSERT INTO "+lent[0].Name()+" SELECT generate_series(1, 3)")
		w.Queue("first", add, order[0])
		if err := w.Flush(ctx); err != nil {
			return err
		}
		if first { // only the first attempts meet
			first = false
			both.Done()
			both.Wait()
		}
		w.Queue("second", add, order[1])
		if err := w.Flush(ctx); err != nil {
			return hear(err)
		}
		w.Queue("move", "UPDATE things SET moved = moved + (SELECT count(*) FROM "+lent[0].Name()+") WHERE id = $1",
			order[0])
		return nil
	}
}

func TestSerializationFailureIsRepeated(t *testing.T) {
	db := setup(t)
	attempts := 0
	err := db.Run(t.Context(), func(w *database.Work) error {
		attempts++
		w.Queue("isolate", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		w.Queue("look", "SELECT n FROM things")
		if err := w.Flush(t.Context()); err != nil {
			return err
		}
		if attempts == 1 {
			db.Exec(t, add, 1) // somebody else is faster
		}
		w.Queue("add", add, 1)
		return nil
	})
	if got := db.Value(t, "SELECT n FROM things WHERE id = 1"); err != nil || attempts != 2 || got != "2" {
		t.Errorf("after %d attempts n is %s, %v", attempts, got, err)
	}
}

func TestLostConnection(t *testing.T) {
	lose := func(db *databasetest.Test, attempts *int) func(w *database.Work) error {
		return func(w *database.Work) error {
			*attempts++
			w.Queue("one", add, 1)
			if err := w.Flush(t.Context()); err != nil {
				return err
			}
			if *attempts == 1 {
				db.Exec(t, "SELECT pg_terminate_backend($1)", int32(w.Backend()))
			}
			w.Queue("two", add, 2)
			return nil
		}
	}
	t.Run("IsReportedByRun", func(t *testing.T) {
		db, attempts := setup(t), 0
		err := db.Run(t.Context(), lose(db, &attempts))
		if !database.IsConnectionLost(err) || attempts != 1 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		if got := db.Value(t, "SELECT sum(n) FROM things"); got != "0" {
			t.Errorf("sum %s", got)
		}
	})
	t.Run("IsRepeatedByRunRepeatable", func(t *testing.T) {
		db, attempts := setup(t), 0
		if err := db.RunRepeatable(t.Context(), lose(db, &attempts)); err != nil || attempts != 2 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		if got := db.Value(t, "SELECT sum(n) FROM things"); got != "2" {
			t.Errorf("sum %s", got)
		}
	})
}

func TestDatabaseThatRefusesUs_IsUnavailable(t *testing.T) {
	db := databasetest.Open(t)
	_, err := database.Open(t.Context(), strings.Replace(db.DSN, "@", "x@", 1), database.Options{})
	if !database.IsUnavailable(err) || database.IsConnectionLost(err) {
		t.Errorf("got %v", err)
	}
}

func TestReadHasNoTransactionAroundIt(t *testing.T) {
	db := setup(t)
	ctx, counters := database.WithCounters(t.Context())
	sum := 0
	err := db.Read(ctx, func(w *database.Work) error {
		sum = 0
		w.Queue("read", "SELECT n + 1 FROM things").Rows(func(r pgx.Rows) error {
			var n int
			err := r.Scan(&n)
			sum += n
			return err
		})
		return nil
	})
	if want := (database.Counters{Statements: 1, RoundTrips: 1}); err != nil || sum != 2 || *counters != want {
		t.Errorf("sum %d, counted %+v, %v", sum, *counters, err)
	}
}

func TestOpenKeepsThePasswordOutOfErrors(t *testing.T) {
	for _, dsn := range []string{"postgres://u:s3cret@[::1", "host=/none password=s3cret user=u",
		"postgres://u:s3cret@127.0.0.1:1/x"} {
		if _, err := database.Open(t.Context(), dsn, database.Options{}); err == nil ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want an error without the password", err)
		}
	}
}

func TestContainingIsAPlainSubstring(t *testing.T) {
	db := setup(t)
	for part, want := range map[string]string{"50%": "true", "5_%": "false", `\`: "true", "": "true", "%%": "false",
		"O": "true"} {
		if got := db.Value(t, `'50% off \ now' ILIKE $1`, database.Containing(part)); got != want {
			t.Errorf("%q: %s", part, got)
		}
	}
}
