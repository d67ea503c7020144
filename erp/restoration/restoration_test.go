package restoration_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/erp/erptest"
	"plimsoll/erp/restoration"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/test/thorough"
)

// saved keeps the books aside, so that several restorations begin at the same.
func saved(t *testing.T, c *erptest.Company) (again func()) {
	var kept []string
	for _, table := range erptest.Books() {
		if c.Value(t, "SELECT EXISTS (SELECT FROM "+table+")") == "true" {
			kept = append(kept, table)
			c.Exec(t, "CREATE TABLE saved_"+table+" AS TABLE "+table)
		}
	}
	return func() {
		t.Helper()
		c.Clear(t)
		for _, table := range kept {
			c.CopyRows(t, table, "saved_"+table)
		}
	}
}

// histories of the tests that try several.
func histories() uint64 { return uint64(thorough.Or(2, 1)) }

// threads restore the sequences of a plan, so many at a time.
func restore(t *testing.T, c *erptest.Company, threads int, o restoration.Options) (done posting.Restored) {
	t.Helper()
	db := databasetest.Connect(t, c.DSN, database.Options{Connections: threads + 1})
	defer db.Close()
	plan, err := restoration.Plan(t.Context(), db, id.ID{})
	if err != nil {
		t.Fatal(err)
	}
	todo, books := make(chan restoration.Sequence, len(plan)), restoration.Books(db)
	for _, s := range plan {
		todo <- s
	}
	close(todo)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range threads {
		all.Add(1)
		go func() {
			defer all.Done()
			for s := range todo {
				r, err := s.Run(t.Context(), db, books, o, nil)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				done.Add(r)
				mu.Unlock()
			}
		}()
	}
	all.Wait()
	return done
}

var manners = map[string]posting.Manner{
	"lean":         {},
	"lean by one":  {Documents: 1},
	"classic":      {Classic: true},
	"classic wide": {Classic: true, Wide: true, TotalsUntil: time.Date(2025, 4, 1, 0, 0, 0, 0, time.UTC)},
}

// Whatever the history, manner, number of threads and size of pieces, the restored books are those of a serial
// restoration, bit for bit.
func TestRestoredBooksAreThoseOfASerialRestoration(t *testing.T) {
	short := 0
	for seed := range histories() {
		h := newHistory(t, seed)
		h.write(t, 60)
		want, again := newModel(t, h.Company), saved(t, h.Company)
		short += len(want.short)
		for name, how := range manners {
			for _, threads := range []int{1, 3, 10} {
				again()
				if found(t, h.Company) == want.String() {
					t.Fatalf("history %d: nothing is out of order", seed)
				}
				r := restore(t, h.Company, threads, restoration.Options{How: how, Lines: 3 * threads})
				label := fmt.Sprintf("history %d, %s, %d threads", seed, name, threads)
				if got := found(t, h.Company); got != want.String() {
					t.Fatalf("%s:\n%s", label, firstDifference(got, want.String()))
				}
				if int(r.Short) != len(want.short) || r.Keys == 0 {
					t.Errorf("%s: %+v, short: %v", label, r, want.short)
				}
				if threads == 3 {
					erptest.Clean(t, h.Database)
				}
				if more := restore(t, h.Company, 1, restoration.Options{How: posting.Manner{}}); more.Changed != 0 ||
					more.Keys != r.Short {
					t.Errorf("%s: once more: %+v", label, more)
				}
			}
		}
	}
	if short == 0 {
		t.Error("no history is short of goods at a date")
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("found %s\nwant  %s (of %d and %d rows)", g[i], w[i], len(g), len(w))
		}
	}
	return fmt.Sprintf("%d rows, want %d", len(g), len(w))
}

// Restorations follow one another while documents come, so that the keys of a document have boundaries before and
// after it.
func TestRestoringAgainFromLaterBoundaries(t *testing.T) {
	steps := []restoration.Options{{}, {How: posting.Manner{Classic: true}}, {Lines: 5}, {How: manners["classic wide"]}}
	for seed := range histories() {
		h := newHistory(t, 50+seed)
		h.write(t, 40)
		for step := range 8 {
			restore(t, h.Company, 1, steps[step%len(steps)])
			if got, want := found(t, h.Company), newModel(t, h.Company).String(); got != want {
				t.Fatalf("history %d, step %d: %s", seed, step, firstDifference(got, want))
			}
			h.write(t, 8)
		}
	}
}
