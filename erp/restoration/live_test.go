package restoration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/background"
	"plimsoll/erp/background/backgroundtest"
	"plimsoll/erp/erptest"
	"plimsoll/erp/restoration"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/worker/jobs"
	"plimsoll/test/patience"
)

// dsnVariable makes the test binary a worker, which a test kills.
const dsnVariable = "PLIMSOLL_TEST_RESTORATION_DSN"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(dsnVariable); dsn != "" {
		db, err := database.Open(context.Background(), dsn, database.Options{Connections: jobs.Connections(2)})
		if err == nil {
			var all *jobs.Jobs
			if all, err = background.New(db, nil); err == nil {
				err = all.Work(context.Background(), 2)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	databasetest.Main(m)
}

// What a killed restoration has committed stays, its unfinished step is rolled back, and another worker completes it
// with the same result.
func TestKilledRestorationGoesOnElsewhere(t *testing.T) {
	h := newHistory(t, 11)
	h.write(t, 120)
	want := newModel(t, h.Company)
	db := databasetest.Connect(t, h.DSN, database.Options{Connections: jobs.Connections(2)})
	all, err := background.New(db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	arguments, _ := json.Marshal(restoration.Arguments{Lines: 1})
	number, _, err := all.Submit(t.Context(), restoration.Kind, "", arguments)
	if err != nil {
		t.Fatal(err)
	}
	keys := h.Value(t, "SELECT count(*) FROM acc_batches_boundary")

	// somebody has a document of the last key open, so that the victim cannot come to its end
	release := hold(t, h.Company, `SELECT id FROM doc_goods_sale
		WHERE id IN (SELECT recorder FROM acc_batches m JOIN (SELECT * FROM acc_batches_boundary
		ORDER BY warehouse, item DESC LIMIT 1) b USING (organisation, warehouse, item)
		WHERE expense AND period >= moment) FOR UPDATE`)
	victim := exec.Command(os.Args[0])
	victim.Env, victim.Stderr = append(os.Environ(), dsnVariable+"="+h.DSN), os.Stderr
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	patience.Until(t, "the victim has done something", func() bool {
		return h.Value(t, "SELECT count(*) FROM acc_batches_boundary") != keys
	})
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	release()
	if found(t, h.Company) == want.String() {
		t.Fatal("the victim came to its end")
	}
	erptest.Clean(t, h.Database)

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- all.Work(ctx, 2) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	job := backgroundtest.End(t, all, number)
	if job.State != jobs.Done || found(t, h.Company) != want.String() {
		t.Errorf("%+v\n%s", job, firstDifference(found(t, h.Company), want.String()))
	}
	erptest.Clean(t, h.Database)
}

// hold has a transaction open that holds rows.
func hold(t *testing.T, c *erptest.Company, query string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err == nil {
		var tag interface{ RowsAffected() int64 }
		tag, err = tx.Exec(t.Context(), query)
		if err == nil && tag.RowsAffected() == 0 {
			err = errors.New("nothing to hold")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = tx.Rollback(context.Background())
		_ = conn.Close(context.Background())
	}
}

// A document that comes to goods while they are restored is not lost: it is in order, or the boundary says from where
// on it is not.
func TestRestoringBesideLivePosting(t *testing.T) {
	for seed := range histories() {
		h := newHistory(t, 20+seed)
		h.write(t, 60)
		var all sync.WaitGroup
		done := make(chan struct{})
		for user := range 3 {
			all.Add(1)
			go func() {
				defer all.Done()
				live := newUser(h, 100*seed+uint64(user))
				for {
					select {
					case <-done:
						return
					default:
						live.write(t, 1)
					}
				}
			}()
		}
		for _, how := range []posting.Manner{{}, {Classic: true}, {}} {
			for range 2 {
				restore(t, h.Company, 3, restoration.Options{How: how, Lines: 10})
			}
		}
		close(done)
		all.Wait()
		erptest.Clean(t, h.Database)
		restore(t, h.Company, 3, restoration.Options{})
		if got, want := found(t, h.Company), newModel(t, h.Company).String(); got != want {
			t.Fatalf("history %d: %s", seed, firstDifference(got, want))
		}
		erptest.Clean(t, h.Database)
	}
}
