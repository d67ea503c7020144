package erp_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/books"
	"plimsoll/erp/erptest"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/shape"
)

// step of a history that any shape can be told.
type step struct {
	create, content bool
	chosen          int // which document, of those there are
	order           int // which order it is made by, of those of its kind; none below zero
	state           posting.State
	kind            string
	document        erptest.Document
}

func drawSteps(t *rapid.T, c *erptest.Company) (steps []step) {
	o, now := c.Organisations[0], time.Date(2025, 5, 20, 12, 0, 0, 0, time.UTC)
	for n := range rapid.IntRange(2, 20).Draw(t, "steps") {
		s := step{
			create: n == 0 || rapid.Bool().Draw(t, "create"), content: rapid.Bool().Draw(t, "content"),
			chosen: rapid.IntRange(0, 19).Draw(t, "of"),
			state: rapid.SampledFrom([]posting.State{posting.Posted, posting.Posted, posting.Kept,
				posting.Unposted}).Draw(t, "state"),
			kind: rapid.SampledFrom([]string{books.GoodsReceipt, books.GoodsReceipt, books.GoodsSale, books.GoodsSale,
				books.CustomerOrder, books.SupplierOrder}).Draw(t, "kind"),
			order: rapid.IntRange(-4, 3).Draw(t, "by order"),
		}
		at := now.Add(time.Duration(n)*time.Minute).AddDate(0, 0,
			-rapid.IntRange(0, 90).Draw(t, "days ago")*rapid.IntRange(0, 1).Draw(t, "back-dated"))
		s.document = erptest.Document{Warehouse: o.Warehouses[0], Counterparty: o.Counterparty,
			Date: at.Format(time.RFC3339Nano)}
		for range rapid.IntRange(1, 4).Draw(t, "lines") {
			most := map[string]int{books.GoodsReceipt: 5000, books.GoodsSale: 2000, books.CustomerOrder: 2000,
				books.SupplierOrder: 5000}[s.kind]
			quantity := rapid.IntRange(1, most).Draw(t, "quantity")
			s.document.Lines = append(s.document.Lines,
				erptest.Line{Item: c.Items[rapid.IntRange(0, 2).Draw(t, "item")],
					Quantity: fmt.Sprintf("%d.%03d", quantity/1000, quantity%1000),
					Price:    fmt.Sprintf("%d.%02d", quantity%7, quantity%100)})
		}
		steps = append(steps, s)
	}
	return steps
}

// play tells the steps and what came of each.
func play(t *testing.T, rt *rapid.T, s *erptest.ShapedBooks, steps []step) (outcomes []string) {
	type written struct {
		id   id.ID
		kind string
	}
	var made []written
	order := func(step step) (v id.ID) {
		kind, at := map[string]string{books.GoodsReceipt: books.SupplierOrder,
			books.GoodsSale: books.CustomerOrder}[step.kind],
			step.order
		for _, w := range made {
			if w.kind == kind && at >= 0 {
				v, at = w.id, at-1
			}
		}
		return v
	}
	for n, step := range steps {
		step.document.Order = order(step)
		key := posting.Key{Author: s.Organisations[0].Author, Name: fmt.Sprint(n), Digest: []byte{1}}
		var result posting.Result
		var err error
		if step.create {
			d := s.Decode(rt, step.kind, step.document)
			d.Posted = step.state != posting.Unposted
			if result, err = s.Books.Create(t.Context(), d, key); err == nil {
				made = append(made, written{result.ID, step.kind})
			}
		} else if len(made) > 0 {
			of := made[step.chosen%len(made)]
			change := posting.Change{Type: of.kind, Organisation: s.Organisations[0].ID, Document: of.id,
				State: step.state}
			if step.content {
				step.kind = of.kind
				step.document.Order = order(step)
				change.Content = s.Decode(rt, step.kind, step.document)
			}
			result, err = s.Books.Change(t.Context(), change, key)
		}
		outcomes = append(outcomes, fmt.Sprintf("%s %t %d %v", result.Number, result.Posted, result.Version, err))
	}
	return outcomes
}

// The same history, told to each shape, has the same outcomes, refusals too, and makes books with the same digest.
func TestEveryShapeMakesTheSameBooks(t *testing.T) {
	t.Parallel()
	c := erptest.New(t, 3)
	var all []*erptest.ShapedBooks
	for _, name := range shape.Names {
		all = append(all, c.BooksOf(t, name))
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawSteps(rt, c)
		var outcomes []string
		var digest audit.Digest
		for i, s := range all {
			c.Clear(t, "plimsoll_number")
			s.Reset(t)
			told := play(t, rt, s, steps)
			found, err := audit.Books(t.Context(), c.Database)
			if err != nil {
				rt.Fatal(err)
			}
			if i == 0 {
				outcomes, digest = told, found
				continue
			}
			if got, want := fmt.Sprintf("%q", told), fmt.Sprintf("%q", outcomes); got != want {
				rt.Fatalf("%s: %s\n%s: %s", shape.Names[i], got, shape.Names[0], want)
			}
			if found.Digest != digest.Digest {
				rt.Fatalf("%s: %+v\n%s: %+v", shape.Names[i], found, shape.Names[0], digest)
			}
		}
	})
	erptest.Clean(t, c.Database)
}

// What a posting asks of the database, on a connection that has been used: a classic one is like those of such
// platforms, and each of the others is for a reason what it is.
func TestThePostingOfASaleHasTheProfileOfItsShape(t *testing.T) {
	c := erptest.New(t, 10)
	for _, name := range shape.Names {
		s := c.BooksOf(t, name)
		var lines []erptest.Line
		for _, item := range c.Items {
			lines = append(lines, erptest.Line{Item: item, Quantity: "1"})
		}
		d := erptest.Document{Warehouse: c.Organisations[0].Warehouses[0],
			Counterparty: c.Organisations[0].Counterparty, Lines: lines}
		post := func(kind string, n int) database.Counters {
			ctx, cost := database.WithCounters(t.Context())
			body, _ := json.Marshal(d)
			meta, _ := erp.Metadata().Document(kind)
			paper, err := document.Decode(meta, body, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			paper.Organisation, paper.Author, paper.Posted = c.Organisations[0].ID, c.Organisations[0].ID, true
			if _, err := s.Books.Create(ctx, paper,
				posting.Key{Author: paper.Author, Name: fmt.Sprint(name, kind, n), Digest: []byte{1}}); err != nil {
				t.Fatal(err)
			}
			return *cost
		}
		for n := range 2 {
			post(books.GoodsReceipt, n)
		}
		post(books.GoodsSale, 1)
		cost := post(books.GoodsSale, 2)
		t.Logf("%s: %+v, %.0f %% empty", name, cost, 100*cost.TempTables.EmptyShare())
		within := func(what string, got, least, most int64) {
			if got < least || got > most {
				t.Errorf("%s: %d %s, want %d to %d", name, got, what, least, most)
			}
		}
		switch name {
		case shape.Lean:
			within("statements", cost.Statements, 1, 21)
			within("round trips", cost.RoundTrips, 1, 2)
			within("temp tables", cost.TempTables.Used(), 0, 0)
			within("rows", cost.Rows, 60, 140) // header, lines, movements, entries, their totals, the key
		default:
			within("statements", cost.Statements, 150, 400)
			within("temp tables", cost.TempTables.Used(), 12, 20)
			within("% of them empty", int64(100*cost.TempTables.EmptyShare()), 30, 50)
			within("rows", cost.Rows, 141, 500) // and those in temp tables
		}
		switch name {
		case shape.Classic:
			within("round trips", cost.RoundTrips, cost.Statements, cost.Statements)
			within("truncates", cost.TempTables.Truncates, cost.TempTables.Used(), cost.TempTables.Used())
		case shape.Tuned:
			within("round trips", cost.RoundTrips, 2, 20)
			within("truncates", cost.TempTables.Truncates, 0, 0)
			within("deletes", cost.TempTables.Deletes, 1, cost.TempTables.Used()-1)
		}
	}
}
