package temptable_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/platform/data/temptable"
)

var (
	keys = temptable.MustDefine([]temptable.Column{{Name: "place", Type: "int4"}, {Name: "item", Type: "uuid"}},
		"item")
	found = temptable.MustDefine([]temptable.Column{{Name: "place", Type: "int4"}, {Name: "left", Type: "numeric"}})
)

// A unit of work borrows a table, fills it and gives it back; the next one gets the same table, under the same name.
func ExamplePool() {
	items := temptable.MustDefine([]temptable.Column{{Name: "item", Type: "int8"}}, "item")
	pool := temptable.NewPool(temptable.Options{})

	lent, orders := pool.Lend([]temptable.Structure{items})
	fmt.Println("to be sent first:", len(orders.DDL), "statements")
	pool.Filling(lent[0])
	pool.Filled(lent[0], 3) // the server said: INSERT 0 3
	fmt.Println("to be truncated:", pool.Return(lent[0]) == temptable.Truncate)
	pool.Committed()

	again, orders := pool.Lend([]temptable.Structure{items})
	fmt.Println("the same table:", again[0].Name() == lent[0].Name(), "with", len(orders.DDL), "statements first")
	fmt.Println("nothing to clear:", pool.Return(again[0]) == temptable.Skip)
	// Output:
	// to be sent first: 2 statements
	// to be truncated: true
	// the same table: true with 0 statements first
	// nothing to clear: true
}

func lend(p *temptable.Pool, structures ...temptable.Structure) []*temptable.Table {
	lent, _ := p.Lend(structures)
	return lent
}

func TestTablesOfOneStructureAreToldApart(t *testing.T) {
	p := temptable.NewPool(temptable.Options{})
	lent := lend(p, keys, keys, found)
	if lent[0].Name() == lent[1].Name() || lent[0].Name() == lent[2].Name() {
		t.Errorf("got %s, %s and %s", lent[0].Name(), lent[1].Name(), lent[2].Name())
	}
	p.Return(lent[0])
	if again := lend(p, keys)[0]; again != lent[0] {
		t.Errorf("got %s, want the free one, %s", again.Name(), lent[0].Name())
	}
}

func TestReturnTruncatesWhatMayHaveRows(t *testing.T) {
	filled := func(rows int64) func(*temptable.Pool, *temptable.Table) {
		return func(p *temptable.Pool, table *temptable.Table) {
			p.Filling(table)
			p.Filled(table, rows)
		}
	}
	for name, test := range map[string]struct {
		clearing temptable.Clearing
		use      func(*temptable.Pool, *temptable.Table)
		want     temptable.Step
	}{
		"Unused":       {temptable.Known, func(*temptable.Pool, *temptable.Table) {}, temptable.Skip},
		"FilledByNone": {temptable.Known, filled(0), temptable.Skip},
		"Filled":       {temptable.Known, filled(2), temptable.Truncate},
		"WrittenUncounted": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Touched("DELETE FROM "+table.Name(), nil)
		}, temptable.Probe},
		"OnlyRead": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Touched("SELECT * FROM "+table.Name()+" JOIN x USING (item)", nil)
		}, temptable.Skip},
		"FewRows":          {temptable.Delete, filled(2), temptable.Erase},
		"ManyRows":         {temptable.Delete, filled(temptable.DeletedMost + 1), temptable.Truncate},
		"NoRowsWithDelete": {temptable.Delete, func(*temptable.Pool, *temptable.Table) {}, temptable.Skip},
		"UncountedWithDelete": {temptable.Delete, func(p *temptable.Pool, table *temptable.Table) {
			p.Touched("DELETE FROM "+table.Name(), nil)
		}, temptable.Probe},
		"Ask":    {temptable.Ask, func(*temptable.Pool, *temptable.Table) {}, temptable.Probe},
		"Always": {temptable.Always, func(*temptable.Pool, *temptable.Table) {}, temptable.Truncate},
	} {
		t.Run(name, func(t *testing.T) {
			p := temptable.NewPool(temptable.Options{Clearing: test.clearing})
			table := lend(p, keys)[0]
			test.use(p, table)
			if got := p.Return(table); got != test.want {
				t.Errorf("got step %d, want %d", got, test.want)
			}
		})
	}
}

// With Delete, statistics are gathered again only when they may be wrong.
func TestStatisticsAreGatheredWhereTheyMayBeWrong(t *testing.T) {
	p := temptable.NewPool(temptable.Options{Clearing: temptable.Delete})
	use := func(statements, rows int64) (gathered bool) {
		table := lend(p, keys)[0]
		for range statements {
			p.Filling(table)
		}
		gathered = p.Gather(table)
		for i := range statements {
			p.Filled(table, rows/statements+min(1, max(0, rows%statements-i)))
		}
		p.Return(table)
		return gathered
	}
	for i, u := range []struct {
		statements, rows int64
		want             bool
		because          string
	}{
		{1, 10, true, "there are none"},
		{1, 12, false, "10 rows and 12 are alike"},
		{20, 20, false, "10 rows and 20 are alike"},
		{150, 150, true, "so many are sent one by one"},
		{1, 10, false, "they are of 150 rows"},
		{1, 700, false, "nobody knows of 700 before"},
		{1, 10, true, "700 came the last time, and they are of 150"},
		{1, 10, true, "they are of 10, and 700 may come again"},
		{1, 700, true, "700 may come again"},
		{1, 10, false, "they are of 700"},
		{1, 700, false, "they are of 700"},
		{1, 10, true, "the table was truncated"},
	} {
		if got := use(u.statements, u.rows); got != u.want {
			t.Errorf("use %d, of %d rows: gathered %v, want %v: %s", i+1, u.rows, got, u.want, u.because)
		}
		p.Committed()
	}

	use(1, 10)
	p.Committed()
	p.Expect(500)
	if !use(1, 10) {
		t.Error("none where 500 rows were expected")
	}
	p.Committed()
	if use(1, 10) || p.Counters.Truncates != 1 {
		t.Errorf("gathered without need, or truncated: %+v", p.Counters)
	}
	other := lend(p, found)[0]
	if !p.Gather(other) {
		t.Error("none of a new table")
	}
	p.RolledBack()
	if other = lend(p, found)[0]; !p.Gather(other) {
		t.Error("the rollback took them, nobody gathers them again")
	}
}

func TestARollbackTakesBackWhatTheTransactionDid(t *testing.T) {
	p := temptable.NewPool(temptable.Options{})
	kept := lend(p, keys)[0]
	p.Return(kept)
	p.Committed()

	p.Savepoint("before")()
	p.Filling(lend(p, keys)[0])
	p.Filled(kept, 5)
	p.RolledBackTo("before")
	if n, known := kept.Rows(); n != 0 || !known {
		t.Errorf("after the savepoint it has %d rows (known %v), want none", n, known)
	}
	lend(p, found)
	p.RolledBack()
	if got := p.Relations(); len(got) != 1 || !strings.HasSuffix(kept.Name(), got[0]) {
		t.Errorf("after the rollback there are %v, want %s", got, kept.Name())
	}
}

func TestBeyondTheCapTheOldestFreeTableIsDropped(t *testing.T) {
	p := temptable.NewPool(temptable.Options{Max: 2})
	structures := make([]temptable.Structure, 3)
	for i := range structures {
		structures[i] = temptable.MustDefine([]temptable.Column{{Name: fmt.Sprintf("c%d", i), Type: "int4"}})
	}
	first, second := lend(p, structures[0])[0], lend(p, structures[1])[0]
	p.Return(first)
	p.Return(second)
	_, orders := p.Lend(structures[2:])
	if want := "DROP TABLE " + first.Name(); orders.DDL[0] != want || p.Size() != 2 {
		t.Errorf("sent %q with %d tables kept, want %q first", orders.DDL, p.Size(), want)
	}
}

// BenchmarkLend is what a unit of work with two temp tables costs besides its statements.
func BenchmarkLend(b *testing.B) {
	p, structures := temptable.NewPool(temptable.Options{}), []temptable.Structure{keys, found}
	b.ReportAllocs()
	for b.Loop() {
		lent, _ := p.Lend(structures)
		for _, table := range lent {
			p.Touched("INSERT INTO "+table.Name()+" SELECT 1", table)
			p.Filling(table)
			p.Filled(table, 3)
		}
		for _, table := range lent {
			p.Return(table)
		}
		p.Committed()
	}
}
