package register_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// batched are things by the line of the paper that brought them.
func batched() *metadata.Application {
	return &metadata.Application{
		Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}},
		Accumulation: []metadata.Accumulation{{
			Name: "batches", Layered: true, Controlled: true,
			Dimensions: []metadata.Attribute{
				{Name: "thing", Type: metadata.Reference, Catalog: "things"},
				{Name: "receipt", Type: metadata.Reference, Document: true},
				{Name: "receipt_line", Type: metadata.Integer},
			},
			Resources: []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity},
				{Name: "amount", Type: metadata.Money}},
		}},
	}
}

// shelf is a register of layers, with what tests do to it.
type shelf struct {
	*databasetest.Test
	*register.Register
}

func shelve(t *testing.T) shelf {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, batched()); err != nil {
		t.Fatal(err)
	}
	return shelf{db, register.New(batched().Register("batches"))}
}

// day of a paper, and the recorder of a number.
func day(n int) time.Time { return months[2].AddDate(0, 0, n) }

func recorderAt(n, at int) register.Recorder {
	return register.Recorder{ID: one(n), Type: "test", Organisation: one(1), Period: day(at)}
}

// brings is a paper's record set: so much of things, a line each; takes is what a paper takes of layers.
func (s shelf) brings(by register.Recorder, quantities ...int) *register.Movements {
	m := register.NewMovements(s.Meta(), 0)
	for i, q := range quantities {
		m.Add(false, one(1), by.ID, int64(i+1), amount.Quantity(q), amount.Money(10*q))
	}
	return m
}

type taking struct{ receipt, line, quantity int }

func (s shelf) takes(all ...taking) *register.Movements {
	m := register.NewMovements(s.Meta(), 0)
	for _, x := range all {
		m.Add(true, one(1), one(x.receipt), int64(x.line), amount.Quantity(x.quantity), amount.Money(10*x.quantity))
	}
	return m
}

func (s shelf) do(t *testing.T, work func(*database.Work)) {
	t.Helper()
	if err := s.Run(t.Context(), func(w *database.Work) error { work(w); return nil }); err != nil {
		t.Fatal(err)
	}
}

func (s shelf) write(t *testing.T, by register.Recorder, m *register.Movements) {
	t.Helper()
	s.do(t, func(w *database.Work) { s.Write(w, by, m) })
}

// replace what a paper had at another time.
func (s shelf) replace(t *testing.T, by register.Recorder, was time.Time, before, after *register.Movements) {
	t.Helper()
	s.do(t, func(w *database.Work) { s.Replace(w, by, was, before, after) })
}

// read as "receipt.line=quantity", in the order given.
func (s shelf) read(t *testing.T, by id.ID, required int) string {
	t.Helper()
	keys, needed := rowset.New(s.Meta().Leading(), 0), rowset.New(s.Meta().Resources[:1], 0)
	for _, thing := range []int{7, 1} { // of the first there is nothing
		keys.Append(one(thing))
		needed.Append(amount.Quantity(required))
	}
	var l *register.Layers
	s.do(t, func(w *database.Work) { l = s.Layers(w, one(1), by, keys, needed) })
	return layersText(l)
}

// numbered are the papers of tests by their ids.
var numbered = func() map[id.ID]int {
	all := map[id.ID]int{}
	for n := range 100 {
		all[one(n)] = n
	}
	return all
}()

func layersText(l *register.Layers) string {
	lines, left := rowset.Column[int64](l.Keys, "receipt_line"), rowset.Column[amount.Quantity](l.Left, "quantity")
	var all []string
	for row, receipt := range rowset.Column[id.ID](l.Keys, "receipt") {
		all = append(all, layerOf(numbered[receipt], int(lines[row]), int64(left[row])))
	}
	return strings.Join(all, " ")
}

func layerOf(receipt, line int, left int64) string {
	return fmt.Sprintf("%d.%d=%d", receipt, line, left)
}

func TestLayersAreReadUntilTheyHoldWhatIsRequired(t *testing.T) {
	s := shelve(t)
	first, sameDay, last := recorderAt(3, 0), recorderAt(1, 1), recorderAt(2, 1)
	s.write(t, last, s.brings(last, 5, 3))
	s.write(t, sameDay, s.brings(sameDay, 4))
	s.write(t, first, s.brings(first, 2))
	taker, other := recorderAt(9, 2), recorderAt(8, 2)
	read := func(what string, by register.Recorder, required int, want string) {
		t.Helper()
		if got := s.read(t, by.ID, required); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	read("held exactly by the first", other, 2, "3.1=2")
	read("held exactly by two", other, 6, "3.1=2 1.1=4")
	read("a little more", other, 7, "3.1=2 1.1=4 2.1=5")
	read("all there is", other, 14, "3.1=2 1.1=4 2.1=5 2.2=3")
	read("more than there is", other, 99, "3.1=2 1.1=4 2.1=5 2.2=3")

	taken := s.takes(taking{3, 1, 2}, taking{2, 2, 1})
	s.write(t, taker, taken)
	read("what is used up, by another", other, 4, "1.1=4")
	read("what a paper has taken itself", taker, 4, "3.1=0 1.1=4 2.2=2")
	s.replace(t, taker, taker.Period, taken, s.takes())
	read("returned", other, 2, "3.1=2")

	moved := recorderAt(3, 5)
	s.replace(t, moved, first.Period, s.brings(first, 2), s.brings(first, 2))
	read("moved behind the others", other, 4, "1.1=4")
	read("moved behind the others, all", other, 14, "1.1=4 2.1=5 2.2=3 3.1=2")
	s.replace(t, first, moved.Period, s.brings(first, 2), s.brings(first, 2))
	read("moved back", other, 2, "3.1=2")
	s.replace(t, first, first.Period, s.brings(first, 2), s.takes())
	read("taken away", other, 2, "1.1=4")
	s.write(t, moved, s.brings(moved, 6))
	read("brought again, later and more", other, 13, "1.1=4 2.1=5 2.2=3 3.1=6")
	s.do(t, func(w *database.Work) { s.Recalculate(w, nil) })
	read("after all totals were recalculated", other, 13, "1.1=4 2.1=5 2.2=3 3.1=6")
}

// Whatever was brought and taken, what is read is what the reader has taken itself, and of the others as many of the
// oldest as hold what is required.
func TestLayersReadAreEnoughAndNoMore(t *testing.T) {
	s := shelve(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.Exec(t, "TRUNCATE acc_batches, acc_batches_totals, acc_batches_boundary")
		left := map[taking]int64{}
		for n := range rapid.IntRange(1, 5).Draw(rt, "receipts") {
			by := recorderAt(1+n, rapid.IntRange(0, 3).Draw(rt, "day"))
			var quantities []int
			for line := range rapid.IntRange(1, 3).Draw(rt, "lines") {
				quantities = append(quantities, rapid.IntRange(1, 5).Draw(rt, "quantity"))
				left[taking{1 + n, line + 1, 0}] = int64(quantities[line])
			}
			s.write(t, by, s.brings(by, quantities...))
		}
		own := map[taking]bool{}
		for _, taker := range []int{50, 51} {
			var all []taking
			for l := range left {
				if q := rapid.Int64Range(0, left[l]).Draw(rt, "taken"); q > 0 {
					all = append(all, taking{l.receipt, l.line, int(q)})
					left[l] -= q
					own[l] = own[l] || taker == 50
				}
			}
			s.write(t, recorderAt(taker, 4), s.takes(all...))
		}
		required := rapid.IntRange(1, 20).Draw(rt, "required")
		if got, want := s.read(t, one(50), required), s.enough(t, left, own, int64(required)); got != want {
			rt.Fatalf("required %d: got %s, want %s", required, got, want)
		}
	})
}

// enough is the answer that is wanted, from all movements that brought layers.
func (s shelf) enough(t *testing.T, left map[taking]int64, own map[taking]bool, required int64) string {
	type brought struct {
		taking
		at time.Time
	}
	var all []brought
	s.do(t, func(w *database.Work) {
		w.Queue("movements", "SELECT receipt, receipt_line, period FROM acc_batches WHERE NOT expense").Rows(
			func(rows pgx.Rows) error {
				var b brought
				var receipt id.ID
				err := rows.Scan(&receipt, &b.line, &b.at)
				b.receipt = numbered[receipt]
				all = append(all, b)
				return err
			})
	})
	slices.SortFunc(all, func(a, b brought) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.receipt, b.receipt), cmp.Compare(a.line, b.line))
	})
	var want []string
	for _, b := range all {
		if left[b.taking] > 0 && required > 0 || own[b.taking] {
			want = append(want, layerOf(b.receipt, b.line, left[b.taking]))
		}
		required -= left[b.taking]
	}
	return strings.Join(want, " ")
}

// Taking from a layer touches no index until nothing is left of it.
func TestTakingFromALayerIsAnUpdateInPlace(t *testing.T) {
	s := shelve(t)
	receipt := recorderAt(1, 0)
	s.write(t, receipt, s.brings(receipt, 5))
	for n, c := range []struct {
		quantity int
		want     string
	}{{1, "2 of 2"}, {2, "2 of 2"}, {2, "1 of 2"}} { // the current total and that of the month
		var before, after [2]int // as the session counts them: it may have told nobody yet of those before
		counted := func(w *database.Work, into *[2]int) {
			w.Queue("updates", "SELECT pg_stat_get_xact_tuples_hot_updated(c), pg_stat_get_xact_tuples_updated(c) "+
				"FROM CAST('acc_batches_totals'::regclass AS oid) AS c").
				Rows(func(rows pgx.Rows) error { return rows.Scan(&into[0], &into[1]) })
		}
		s.do(t, func(w *database.Work) {
			counted(w, &before)
			s.Write(w, recorderAt(2+n, 1), s.takes(taking{1, 1, c.quantity}))
			counted(w, &after)
		})
		if got := fmt.Sprintf("%d of %d", after[0]-before[0], after[1]-before[1]); got != c.want {
			t.Errorf("taking %d: %s updates in place, want %s", c.quantity, got, c.want)
		}
	}
}

// A popular thing has far more layers than the planner expects of a thing; who requires little reads few of them.
func TestReadingLayersLooksAtFewOfAPopularThing(t *testing.T) {
	s := shelve(t)
	s.Exec(t, `INSERT INTO acc_batches (recorder, line, recorder_type, organisation, period, expense, thing, receipt,
	receipt_line, quantity, amount)
SELECT r.id, line, 'test', $1, $3, false, CASE WHEN line > 2 THEN gen_random_uuid() ELSE $2::uuid END, r.id, line, 5, 50
FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 500)) r, generate_series(1, 40) line`,
		one(1), one(1), day(0))
	tell := func(w *database.Work) { w.Queue("tell counts", "SELECT pg_stat_force_next_flush()") }
	s.do(t, func(w *database.Work) {
		s.Recalculate(w, nil)
		tell(w)
	})
	s.Exec(t, "VACUUM ANALYZE acc_batches, acc_batches_totals")
	tables := []string{"acc_batches", "acc_batches_totals"}
	before := []int{s.RowsLookedAt(t, tables[0]), s.RowsLookedAt(t, tables[1])}
	keys, needed := rowset.New(s.Meta().Leading(), 0), rowset.New(s.Meta().Resources[:1], 0)
	keys.Append(one(1))
	needed.Append(amount.Quantity(12_000))
	var l *register.Layers
	s.do(t, func(w *database.Work) {
		l = s.Layers(w, one(1), one(9), keys, needed)
		tell(w)
	})
	if got := l.Left.Rows(); got != 3 {
		t.Errorf("%d layers hold what is required, want 3", got)
	}
	for i, table := range tables {
		if n := s.RowsLookedAt(t, table) - before[i]; n > 20 {
			t.Errorf("looked at %d rows of %s, want a few", n, table)
		}
	}
}
