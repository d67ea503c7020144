package register_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

func app() *metadata.Application {
	return &metadata.Application{
		Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}},
		Accumulation: []metadata.Accumulation{{
			Name: "stock", Dimensions: []metadata.Attribute{{Name: "shelf", Type: metadata.Reference,
				Catalog: "things"}, {Name: "thing", Type: metadata.Reference, Catalog: "things"}},
			Resources: []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity},
				{Name: "amount", Type: metadata.Money}},
		}},
	}
}

func setup(t *testing.T) (*databasetest.Test, *metadata.Accumulation, *register.Register) {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, app()); err != nil {
		t.Fatal(err)
	}
	meta := app().Register("stock")
	return db, meta, register.New(meta)
}

// movement is one row of the model.
type movement struct {
	organisation, place, thing id.ID
	at                         time.Time
	expense                    bool
	quantity                   amount.Quantity
	amount                     amount.Money
}

func (m movement) row() string {
	return fmt.Sprintf("%s %s %s %s", m.place, m.thing, m.quantity, m.amount)
}

// few ids, so that keys meet.
func one(n int) id.ID { return id.At(time.UnixMilli(1), 0, uint64(n)) }

var months = []time.Time{
	time.Date(2024, 12, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2025, 1, 15, 10, 0, 0, 0, time.UTC),
	time.Date(2025, 1, 31, 23, 59, 59, 999999000, time.UTC), time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC),
	time.Date(2025, 3, 10, 1, 2, 3, 4000, time.UTC),
}

// recorded is a record set of the model.
type recorded struct {
	recorder register.Recorder
	set      *register.Movements
	rows     []movement
}

// draw makes a record set of up to six rows.
func draw(t *rapid.T, by register.Recorder) recorded {
	made := recorded{recorder: by, set: register.NewMovements(app().Register("stock"), 0)}
	for range rapid.IntRange(0, 6).Draw(t, "rows") {
		m := movement{
			by.Organisation, one(rapid.IntRange(1, 2).Draw(t, "place")), one(rapid.IntRange(1, 3).Draw(t, "thing")),
			by.Period, rapid.Bool().Draw(t, "expense"),
			amount.Quantity(rapid.Int64Range(0, 5).Draw(t, "quantity")),
			amount.Money(rapid.Int64Range(0, 1e14).Draw(t, "amount")),
		}
		add(made.set, m)
		made.rows = append(made.rows, m)
	}
	return made
}

// Record sets are written, and some of them replaced, also by those of another month.
func TestBalancesAtAnyMomentEqualTheModel(t *testing.T) {
	db, meta, r := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		db.Exec(t, "TRUNCATE acc_stock, acc_stock_totals")
		var model []movement
		for range rapid.IntRange(1, 8).Draw(rt, "record sets") {
			by := register.Recorder{ID: id.New(), Type: "test",
				Organisation: one(rapid.IntRange(1, 2).Draw(rt, "organisation")),
				Period:       rapid.SampledFrom(months).Draw(rt, "period")}
			made := draw(rt, by)
			write(t, rt, db, func(w *database.Work) { r.Write(w, by, made.set) })
			if rapid.Bool().Draw(rt, "replaced") {
				was := by.Period
				by.Period = rapid.SampledFrom(months).Draw(rt, "other period")
				next := draw(rt, by)
				var held *register.Movements
				write(t, rt, db, func(w *database.Work) { held = r.Read(w, by.ID) })
				write(t, rt, db, func(w *database.Work) { r.Replace(w, by, was, held, next.set) })
				made = next
			}
			model = append(model, made.rows...)
		}
		organisation := one(rapid.IntRange(1, 2).Draw(rt, "asked organisation"))
		at := rapid.SampledFrom(months).Draw(rt, "asked moment")
		places := []id.ID{one(rapid.IntRange(1, 2).Draw(rt, "asked place"))}
		for range 2 { // and once more with totals recalculated
			asked(t, rt, db, meta, model, organisation, at, places)
			write(t, rt, db, func(w *database.Work) { r.Recalculate(w, nil) })
		}
	})
}

func write(t *testing.T, rt *rapid.T, db *databasetest.Test, do func(*database.Work)) {
	if err := db.Run(t.Context(), func(w *database.Work) error { do(w); return nil }); err != nil {
		rt.Fatal(err)
	}
}

func asked(t *testing.T, rt *rapid.T, db *databasetest.Test, meta *metadata.Accumulation, model []movement,
	organisation id.ID, at time.Time, places []id.ID) {
	got := balances(t, db, register.BalanceSQL(meta, ""), organisation, at)
	if want := expected(model, organisation, at, nil); got != want {
		rt.Fatalf("at %s:\n%s\nwant:\n%s", at, got, want)
	}
	got = balances(t, db, register.BalanceSQL(meta, "shelf"), organisation, at, places)
	if want := expected(model, organisation, at, places); got != want {
		rt.Fatalf("of one place at %s:\n%s\nwant:\n%s", at, got, want)
	}
}

func add(set *register.Movements, m movement) {
	row := set.Rows.Grow(1)
	set.Expense = append(set.Expense, m.expense)
	rowset.Column[id.ID](set.Rows, "shelf")[row], rowset.Column[id.ID](set.Rows, "thing")[row] = m.place, m.thing
	rowset.Column[amount.Quantity](set.Rows, "quantity")[row],
		rowset.Column[amount.Money](set.Rows, "amount")[row] = m.quantity, m.amount
}

func balances(t *testing.T, db *databasetest.Test, query string, args ...any) string {
	var lines []string
	err := db.Read(t.Context(), func(w *database.Work) error {
		w.Queue("balances", "SELECT shelf, thing, quantity, amount FROM "+query+" b",
			args...).Rows(func(r pgx.Rows) error {
			var m movement
			err := r.Scan(&m.place, &m.thing, &m.quantity, &m.amount)
			lines = append(lines, m.row())
			return err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func expected(model []movement, organisation id.ID, at time.Time, places []id.ID) string {
	sums := map[[2]id.ID]movement{}
	for _, m := range model {
		if m.organisation != organisation || m.at.After(at) || places != nil && !slices.Contains(places, m.place) {
			continue
		}
		sum := sums[[2]id.ID{m.place, m.thing}]
		sum.place, sum.thing = m.place, m.thing
		if m.expense {
			m.quantity, m.amount = -m.quantity, -m.amount
		}
		sum.quantity, sum.amount = sum.quantity+m.quantity, sum.amount+m.amount
		sums[[2]id.ID{m.place, m.thing}] = sum
	}
	var lines []string
	for _, sum := range sums {
		if sum.quantity != 0 || sum.amount != 0 {
			lines = append(lines, sum.row())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestBalancesAnswerInTheOrderOfTheKeys(t *testing.T) {
	db, meta, r := setup(t)
	by := register.Recorder{ID: id.New(), Type: "test", Organisation: one(1), Period: months[2]}
	set := register.NewMovements(app().Register("stock"), 0)
	for thing := 1; thing <= 3; thing++ {
		add(set, movement{place: one(1), thing: one(thing), quantity: amount.Quantity(thing),
			amount: amount.Money(10 * thing)})
	}
	keys := rowset.New(meta.Dimensions, 0)
	asked := []int{3, 9, 1, 2}
	keys.Grow(len(asked))
	for i, thing := range asked {
		rowset.Column[id.ID](keys, "shelf")[i], rowset.Column[id.ID](keys, "thing")[i] = one(1), one(thing)
	}
	var found, foreign *rowset.Table
	err := db.Run(t.Context(), func(w *database.Work) error {
		r.Write(w, by, set)
		found = r.Balances(w, one(1), keys)
		foreign = r.Balances(w, one(2), keys)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := rowset.Column[amount.Quantity](found, "quantity"); !slices.Equal(got, []amount.Quantity{3, 0, 1, 2}) {
		t.Errorf("got %v", got)
	}
	if got := rowset.Column[amount.Money](foreign, "amount"); !slices.Equal(got, make([]amount.Money, 4)) {
		t.Errorf("another organisation sees %v", got)
	}
}

// Everybody moves the same keys in an order of his own; sorted upserts must neither deadlock nor lose anything.
func TestConcurrentWritersOfTheSameTotalsDoNotDeadlock(t *testing.T) {
	db, _, r := setup(t)
	const writers, rounds, things = 16, 15, 8
	var wait sync.WaitGroup
	var retries [writers]int64
	for n := range writers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			ctx, counters := database.WithCounters(t.Context())
			for round := range rounds {
				set := register.NewMovements(app().Register("stock"), 0)
				for i := range things {
					add(set, movement{place: one(1), thing: one(1 + (i*(n%7+1)+round)%things), quantity: 1, amount: 1})
				}
				by := register.Recorder{ID: id.New(), Type: "test", Organisation: one(1), Period: months[2]}
				if err := db.Run(ctx, func(w *database.Work) error { r.Write(w, by, set); return nil }); err != nil {
					t.Error(err)
				}
			}
			retries[n] = counters.Retries
		}()
	}
	wait.Wait()
	if got := db.Value(t, "SELECT sum(quantity) FROM acc_stock_totals WHERE period = 'infinity'"); got != fmt.Sprintf(
		"%.3f", float64(writers*rounds*things)/1000) {
		t.Errorf("balance %s", got)
	}
	if most := slices.MaxFunc(retries[:], cmp.Compare); most != 0 {
		t.Errorf("%d deadlocks", most)
	}
}
