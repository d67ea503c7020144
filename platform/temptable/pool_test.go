package temptable_test

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/platform/temptable"
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
	for name, test := range map[string]struct {
		clearing temptable.Clearing
		use      func(*temptable.Pool, *temptable.Table)
		want     temptable.Step
	}{
		"Unused": {temptable.Known, func(*temptable.Pool, *temptable.Table) {}, temptable.Skip},
		"FilledByNone": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Filling(table)
			p.Filled(table, 0)
		}, temptable.Skip},
		"Filled": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Filling(table)
			p.Filled(table, 2)
		}, temptable.Truncate},
		"WrittenUncounted": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Touched("DELETE FROM "+table.Name(), nil)
		}, temptable.Probe},
		"OnlyRead": {temptable.Known, func(p *temptable.Pool, table *temptable.Table) {
			p.Touched("SELECT * FROM "+table.Name()+" JOIN x USING (item)", nil)
		}, temptable.Skip},
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
