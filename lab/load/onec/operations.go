package onec

import (
	"math/rand/v2"
	"time"
)

// Operation is a key operation of the load.
type Operation struct {
	ID       string
	Title    string
	Target   time.Duration // T of Apdex
	Priority int
	Weight   float64

	play func(*operation, scene)
}

// scene is what an operation is played with: the base, the user's area, random numbers.
type scene struct {
	Sizes
	area uint64
	user int
	rng  *rand.Rand
}

// operations of the load. Targets are those that such systems are accepted with; weights put one document written
// beside several lists and queries.
var operations = []Operation{
	{"sale.write", "Write a new sale: check, records of stock and ledger, totals", 1500 * time.Millisecond, 1, 4,
		writeSale},
	{"sale.rewrite", "Write a sale again: its record sets are replaced", 1500 * time.Millisecond, 1, 3, rewriteSale},
	{"sale.open", "Open a sale: header, lines, names of what it refers to", 500 * time.Millisecond, 2, 6, openSale},
	{"sales.list", "Read three pages of the list of sales", 500 * time.Millisecond, 2, 8, listSales},
	{"items.find", "Find items by a part of their name", 1000 * time.Millisecond, 2, 3, findItems},
	{"stock.moment", "Balance of stock at a moment, for a list of items", 700 * time.Millisecond, 1, 4, stockAtMoment},
	{"prices.last", "Slice of the last prices, for a list of items", 500 * time.Millisecond, 1, 4, lastPricesOf},
	{"price.write", "Set a price: the record and the slice of the last", 500 * time.Millisecond, 2, 2, writePrice},
	{"ledger.turnovers", "Turnover sheet of the accounts and of customers", 2000 * time.Millisecond, 3, 1, turnovers},
	{"sales.batch", "Query batch: sales of a month with prices and stock over temp tables", 2 * time.Second, 2, 2,
		salesBatch},
}

// Operations of the load, in their order.
func Operations() []Operation { return operations[:len(operations):len(operations)] }

// Find an operation by its id.
func Find(id string) (Operation, bool) {
	for _, op := range operations {
		if op.ID == id {
			return op, true
		}
	}
	return Operation{}, false
}

// one of n objects that belong to the user's area.
func (s scene) one(n int) uint64 { return s.area + Areas*s.rng.Uint64N(uint64(n/Areas)) }

func (s scene) item() ref      { return newRef(itemsNumber, s.one(s.Items)) }
func (s scene) warehouse() ref { return newRef(warehousesNumber, s.one(s.Warehouses)) }

// receipt of the user's area, which a sale takes its goods from.
func (s scene) receipt() ref {
	n := s.rng.Uint64N(uint64(s.Documents/documentsCycle))*documentsCycle + (9*s.area)%documentsCycle
	return newRef(receiptsNumber, n)
}

// filledSale is a sale that the fill has made.
func (s scene) filledSale() ref {
	for {
		if n := s.one(s.Documents); n%3 != 0 {
			return newRef(salesNumber, n)
		}
	}
}

// momentInHistory is any.
func (s scene) momentInHistory() time.Time {
	return historyFrom.Add(time.Duration(s.rng.IntN(historySeconds())) * time.Second)
}

// momentOfToday is in the last month of the history.
func (s scene) momentOfToday() time.Time {
	from := lastMonth()
	return from.Add(time.Duration(s.rng.IntN(int(from.AddDate(0, 1, 0).Sub(from).Seconds()))) * time.Second)
}

// refs of different objects, each made by one.
func (s scene) refs(n int, one func() ref) (all []ref) {
	seen := map[ref]bool{}
	for range n {
		if r := one(); !seen[r] {
			seen[r], all = true, append(all, r)
		}
	}
	return all
}
