package register_test

import (
	"slices"
	"testing"

	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

// debts are by contract and object, and so are plans, which are soon fulfilled; books by rate, without balances.
func debts() *metadata.Application {
	thing := func(name string) metadata.Attribute {
		return metadata.Attribute{Name: name, Type: metadata.Reference, Catalog: "things"}
	}
	money := []metadata.Attribute{{Name: "amount", Type: metadata.Money}}
	return &metadata.Application{
		Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}},
		Accumulation: []metadata.Accumulation{
			{Name: "debts", LockBy: 1, LockAs: "contracts",
				Dimensions: []metadata.Attribute{thing("contract"), thing("object")}, Resources: money},
			{Name: "plans", LockBy: 1, IndexNonZero: true,
				Dimensions: []metadata.Attribute{thing("contract"), thing("object")}, Resources: money},
			{Name: "books", Turnovers: true, Dimensions: []metadata.Attribute{{Name: "rate", Type: metadata.Integer}},
				Resources: money},
		},
	}
}

func TestABalanceUnderTheFirstDimensionsIsTheSumOfAllThatLiesThere(t *testing.T) {
	for _, name := range []string{"debts", "plans"} {
		t.Run(name, func(t *testing.T) {
			db, r := open(t, name)
			set := register.NewMovements(r.Meta(), 0)
			for _, m := range [][3]int{{1, 1, 100}, {1, 2, 20}, {2, 1, 5}} {
				set.Add(false, one(m[0]), one(m[1]), amount.Money(m[2]))
			}
			set.Add(true, one(1), one(3), amount.Money(150)) // paid ahead: below zero
			keys := rowset.New(r.Meta().Dimensions[:1], 0)
			for _, n := range []int{2, 7, 1} {
				keys.Append(one(n))
			}
			var found *rowset.Table
			err := db.Run(t.Context(), func(w *database.Work) error {
				r.Write(w, aRecorder(), set)
				found = r.Balances(w, one(1), keys)
				return nil
			})
			sums := func() []amount.Money { return rowset.Column[amount.Money](found, "amount") }
			if err != nil || !slices.Equal(sums(), []amount.Money{5, 0, -30}) {
				t.Fatalf("got %v, %v", sums(), err)
			}
			if r.Apply(found, keys, set, true); !slices.Equal(sums(), []amount.Money{0, 0, 0}) {
				t.Errorf("without what the set itself moved: %v", sums())
			}
		})
	}
}

func open(t *testing.T, name string) (*databasetest.Test, *register.Register) {
	t.Helper()
	db, app := schematest.Open(t), debts()
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	return db, register.New(app.Register(name))
}

func aRecorder() register.Recorder {
	return register.Recorder{ID: id.New(), Type: "test", Organisation: one(1), Period: months[2]}
}

// What was fulfilled stays at zero under its contract. Who asks for what is left does not look at it.
func TestABalanceOfWhatIsSoonUsedUpLooksAtWhatIsLeft(t *testing.T) {
	db, r := open(t, "plans")
	const planned = 2000
	all, fulfilled := register.NewMovements(r.Meta(), 0), register.NewMovements(r.Meta(), 0)
	for n := range planned {
		all.Add(false, one(1), one(n+1), amount.Money(10))
		if n > 2 {
			fulfilled.Add(true, one(1), one(n+1), amount.Money(10))
		}
	}
	do := func(work func(*database.Work)) {
		t.Helper()
		err := db.Run(t.Context(), func(w *database.Work) error {
			work(w)
			w.Queue("tell counts", "SELECT pg_stat_force_next_flush()")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	do(func(w *database.Work) {
		r.Write(w, aRecorder(), all)
		r.Write(w, aRecorder(), fulfilled)
	})
	db.Exec(t, "VACUUM ANALYZE acc_plans_totals")
	before := db.RowsLookedAt(t, "acc_plans_totals")
	keys := rowset.New(r.Meta().Dimensions[:1], 0)
	keys.Append(one(1))
	var left *rowset.Table
	do(func(w *database.Work) { left = r.Balances(w, one(1), keys) })
	if got := rowset.Column[amount.Money](left, "amount")[0]; got != 30 {
		t.Errorf("%s are left, want 0.30", got)
	}
	if n := db.RowsLookedAt(t, "acc_plans_totals") - before; n > 20 {
		t.Errorf("looked at %d totals of %d, want a few", n, planned)
	}
}

func TestLocksAreOnTheDimensionsAndInTheNameThatTheDescriptionSays(t *testing.T) {
	meta := debts().Register("debts")
	keys := rowset.New(meta.Dimensions, 0)
	keys.Append(one(1), one(1))
	keys.Append(one(1), one(2))
	locks := register.Locks(meta, one(9), keys)
	if want := lock.Of("contracts", one(9), one(1)); !slices.Equal(locks, []lock.Key{want, want}) {
		t.Errorf("got %v, want twice %v", locks, want)
	}
	books := debts().Register("books")
	rates := rowset.New(books.Dimensions, 0)
	rates.Append(int64(10))
	rates.Append(int64(20))
	if locks := register.Locks(books, one(9), rates); locks[0] == locks[1] {
		t.Error("numbers make no difference")
	}
}

func TestTurnoversKeepNoBalances(t *testing.T) {
	db, r := open(t, "books")
	set := register.NewMovements(r.Meta(), 0)
	set.Add(false, int64(20), amount.Money(100))
	by := aRecorder()
	const totals = "SELECT string_agg(period || ' ' || amount, ', ') FROM acc_books_totals"
	if err := db.Run(t.Context(), func(w *database.Work) error { r.Write(w, by, set); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, totals); got != "2025-01-01 1.00" {
		t.Errorf("written: %s", got)
	}
	if err := db.Run(t.Context(), func(w *database.Work) error { r.Recalculate(w, nil); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := db.Value(t, totals); got != "2025-01-01 1.00" {
		t.Errorf("recalculated: %s", got)
	}
}
