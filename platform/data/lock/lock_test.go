package lock_test

import (
	"context"
	"testing"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// hold takes locks in a transaction that lasts until release is called.
func hold(t *testing.T, db *database.Database, keys ...lock.Key) (release func()) {
	held, free, ended := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		ended <- db.Run(context.Background(), func(w *database.Work) error {
			lock.Exclusive(w, keys)
			held <- w.Flush(context.Background())
			<-free
			return nil
		})
	}()
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	return func() {
		close(free)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// try takes locks, or fails at once.
func try(t *testing.T, db *database.Database, keys ...lock.Key) error {
	return db.Run(t.Context(), func(w *database.Work) error {
		w.Queue("do not wait", "SET LOCAL lock_timeout = '1ms'")
		lock.Exclusive(w, keys)
		return nil
	})
}

func TestExclusiveHoldsAcrossWorkersUntilTheTransactionEnds(t *testing.T) {
	one := databasetest.Open(t)
	other := databasetest.Connect(t, one.DSN, database.Options{})
	a, b := lock.Of("stock", id.New()), lock.Of("stock", id.New())
	release := hold(t, one.Database, a, a) // twice the same is once
	if err := try(t, other, b, a); !database.IsLockTimeout(err) || !database.IsUnavailable(err) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := try(t, other, b); err != nil {
		t.Errorf("a free lock: %v", err)
	}
	release()
	if err := try(t, other, a, b); err != nil {
		t.Errorf("a lock that was let go: %v", err)
	}
}

func TestOfTellsCombinationsApart(t *testing.T) {
	a, b := id.New(), id.New()
	keys := map[lock.Key]string{}
	for name, k := range map[string]lock.Key{"a": lock.Of("s", a), "b": lock.Of("s", b), "ab": lock.Of("s", a, b),
		"ba": lock.Of("s", b, a), "other space": lock.Of("r", a)} {
		if twin, ok := keys[k]; ok {
			t.Errorf("%s is %s", name, twin)
		}
		keys[k] = name
	}
	if again := lock.Of("s", a, b); keys[again] != "ab" {
		t.Error("not the same for everybody")
	}
}
