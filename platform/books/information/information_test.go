package information_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/platform/books/information"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
	"plimsoll/test/patience"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

var (
	thing = metadata.Attribute{Name: "thing", Type: metadata.Reference, Catalog: "things"}
	word  = metadata.Attribute{Name: "word", Type: metadata.Text, Length: 20}
	app   = &metadata.Application{
		Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}},
		Information: []metadata.Information{
			{Name: "numbers", Dimensions: []metadata.Attribute{thing, word}},
			{Name: "prices", Periodic: true, Dimensions: []metadata.Attribute{thing},
				Resources: []metadata.Attribute{{Name: "price", Type: metadata.Money},
					{Name: "unit", Type: metadata.Text, Length: 5}}},
		},
	}
	organisation = id.New()
	bolt, nut    = id.New(), id.New()
)

func day(n int) time.Time { return time.Date(2025, 1, n, 12, 0, 0, 0, time.UTC) }

func recordedAt(at time.Time) register.Recorder {
	return register.Recorder{ID: id.New(), Type: "test", Organisation: organisation, Period: at}
}

type bench struct {
	*testing.T
	db              *databasetest.Test
	numbers, prices *information.Register
}

func open(t *testing.T) bench {
	db := schematest.Open(t)
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	return bench{t, db, information.New(app.Record("numbers")), information.New(app.Record("prices"))}
}

func records(name string, rows ...[]any) *information.Records {
	r := information.NewRecords(app.Record(name))
	for _, row := range rows {
		r.Rows.Append(row...)
	}
	return r
}

// replace is what a document does that had nothing before.
func (b bench) replace(r *information.Register, who register.Recorder, was time.Time, before,
	after *information.Records) error {
	return b.db.Run(b.Context(), func(w *database.Work) error { r.Replace(w, who, was, before, after); return nil })
}

func (b bench) slice(who register.Recorder, things ...id.ID) string {
	b.Helper()
	keys := rowset.New([]metadata.Attribute{thing}, len(things))
	for _, v := range things {
		keys.Append(v)
	}
	var s *information.Slice
	if err := b.db.Read(b.Context(), func(w *database.Work) error {
		s = b.prices.Slice(w, who,
			keys)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	var found []string
	for row, there := range s.Found {
		if there {
			found = append(found, fmt.Sprintf("%s %s", rowset.Column[amount.Money](s.Resources, "price")[row],
				rowset.Column[string](s.Resources, "unit")[row]))
		} else {
			found = append(found, "none")
		}
	}
	return strings.Join(found, ", ")
}

func TestASliceIsTheLastThatOthersHaveStatedUntilTheMoment(t *testing.T) {
	b := open(t)
	first, second := recordedAt(day(3)), recordedAt(day(7))
	price := func(v id.ID, sum amount.Money) *information.Records { return records("prices", []any{v, sum, "pc"}) }
	none := records("prices")
	for who, what := range map[register.Recorder]*information.Records{first: price(bolt, 300),
		second: price(bolt, 700)} {
		if err := b.replace(b.prices, who, who.Period, none, what); err != nil {
			t.Fatal(err)
		}
	}
	foreign := recordedAt(day(4))
	foreign.Organisation = id.New()
	if err := b.replace(b.prices, foreign, foreign.Period, none, price(bolt, 999)); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]string{2: "none, none", 3: "none, 3.00 pc", 6: "none, 3.00 pc", 7: "none, 7.00 pc",
		9: "none, 7.00 pc"} {
		if got := b.slice(recordedAt(day(at)), nut, bolt); got != want {
			t.Errorf("on day %d: %s, want %s", at, got, want)
		}
	}
	own := second
	own.Period = day(9)
	if got := b.slice(own, bolt); got != "3.00 pc" {
		t.Errorf("a recorder sees %s, which it has stated itself", got)
	}
	moved := first
	moved.Period = day(8) // the document is given another date
	if err := b.replace(b.prices, moved, day(3), price(bolt, 300), price(bolt, 300)); err != nil {
		t.Fatal(err)
	}
	if got := b.slice(recordedAt(day(7)), bolt) + "; " + b.slice(recordedAt(day(9)), bolt); got != "7.00 pc; 3.00 pc" {
		t.Errorf("after the first has moved behind the second: %s", got)
	}
	if err := b.replace(b.prices, moved, day(8), price(bolt, 300), none); err != nil {
		t.Fatal(err)
	}
	if got := b.slice(recordedAt(day(9)), bolt); got != "7.00 pc" {
		t.Errorf("after the first was unposted: %s", got)
	}
}

func TestOnlyDifferencesAreRewrittenAndReadInOrder(t *testing.T) {
	b := open(t)
	who := recordedAt(day(1))
	before := records("numbers", []any{bolt, "a"}, []any{bolt, "b"}, []any{nut, "a"})
	after := records("numbers", []any{bolt, "a"}, []any{bolt, "c"})
	if err := b.replace(b.numbers, who, who.Period, records("numbers"), before); err != nil {
		t.Fatal(err)
	}
	const row = "SELECT xmin FROM inf_numbers WHERE line = 1"
	kept := b.db.Value(t, row)
	if err := b.replace(b.numbers, who, who.Period, before, after); err != nil {
		t.Fatal(err)
	}
	if got := b.db.Value(t, row); got != kept {
		t.Error("a record that stays was rewritten")
	}
	var read *information.Records
	if err := b.db.Read(t.Context(), func(w *database.Work) error {
		read = b.numbers.Read(w,
			who.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if words := rowset.Column[string](read.Rows, "word"); !slices.Equal(words, []string{"a", "c"}) {
		t.Errorf("read %v", words)
	}
}

// Many want to state the same keys: each key has one winner.
func TestOneOfManyStatesAKey(t *testing.T) {
	b := open(t)
	var done, refused atomic.Int64
	var wait sync.WaitGroup
	for n := range 40 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			b.count(&done, &refused, []any{bolt, fmt.Sprint(n / 8)}, []any{nut, fmt.Sprint(n / 8)})
		}()
	}
	wait.Wait()
	if done.Load() != 5 || refused.Load() != 35 {
		t.Errorf("%d done, %d refused", done.Load(), refused.Load())
	}
}

func (b bench) count(done, refused *atomic.Int64, rows ...[]any) {
	who := recordedAt(day(1))
	switch err := b.replace(b.numbers, who, who.Period, records("numbers"), records("numbers", rows...)); {
	case err == nil:
		done.Add(1)
	case database.IsUniqueViolation(err) && database.Constraint(err) == app.Record("numbers").Constraint():
		refused.Add(1)
	default:
		b.Error(err)
	}
}

// The middle one of three keys is held while two who state all three come, one from each end: whoever is second waits
// for the first, and not each for the other.
func TestWhoStatesSeveralKeysDoesNotDeadlock(t *testing.T) {
	b := open(t)
	var done, refused atomic.Int64
	var wait sync.WaitGroup
	gaveUp := errors.New("given up")
	rows := [][]any{{bolt, "a"}, {bolt, "b"}, {bolt, "c"}}
	other := databasetest.Connect(t, b.db.DSN, database.Options{Connections: 1})
	err := other.Run(t.Context(), func(w *database.Work) error {
		b.numbers.Replace(w, recordedAt(day(1)), day(1), records("numbers"), records("numbers", rows[1]))
		if err := w.Flush(t.Context()); err != nil {
			return err
		}
		for blocked := range 2 {
			own := slices.Clone(rows)
			if blocked == 1 {
				slices.Reverse(own)
			}
			wait.Add(1)
			go func() {
				defer wait.Done()
				b.count(&done, &refused, own...)
			}()
			patience.Until(t, "the writers wait", func() bool {
				return b.db.Value(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+
					"wait_event_type = 'Lock'") == fmt.Sprint(blocked+1)
			})
		}
		return gaveUp
	})
	wait.Wait()
	if !errors.Is(err, gaveUp) || done.Load() != 1 || refused.Load() != 1 {
		t.Errorf("%v, %d done, %d refused", err, done.Load(), refused.Load())
	}
	if got := b.db.Value(t, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); got != "0" {
		t.Errorf("%s deadlocks", got)
	}
}
