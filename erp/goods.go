package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/lock"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// priceLines computes what every document of goods has in its lines, and their sums in its header.
// priceAttribute of the item stands in for a price that was not given.
func priceLines(d *document.Document, facts *posting.Facts, priceAttribute string) error {
	lines, items := d.Section("lines"), facts.Catalogs["items"]
	rates, prices := rowset.Column[int64](items.Rows, "vat_rate"), rowset.Column[amount.Money](items.Rows, priceAttribute)
	quantity, price := rowset.Column[amount.Quantity](lines, "quantity"), rowset.Column[amount.Money](lines, "price")
	net, rate, vat := rowset.Column[amount.Money](lines, "amount"), rowset.Column[int64](lines, "vat_rate"), rowset.Column[amount.Money](lines, "vat")
	for i, item := range rowset.Column[id.ID](lines, "item") {
		row, _ := items.Row(item)
		if price[i] == 0 {
			price[i] = prices[row]
		}
		var err error
		if net[i], err = price[i].Times(quantity[i]); err != nil {
			return err
		}
		rate[i] = rates[row]
		if vat[i], err = net[i].Percent(rate[i]); err != nil {
			return err
		}
	}
	return sumHeader(d, net, vat)
}

func sumHeader(d *document.Document, net, vat []amount.Money) (err error) {
	sums := func(name string) *amount.Money { return &rowset.Column[amount.Money](d.Header, name)[0] }
	if *sums("amount"), err = amount.Sum(net...); err != nil {
		return err
	}
	if *sums("vat"), err = amount.Sum(vat...); err != nil {
		return err
	}
	*sums("total"), err = amount.Sum(*sums("amount"), *sums("vat"))
	return err
}

// stockMovements makes the record set of a document of goods: a row for each line, at the given values.
func stockMovements(d *document.Document, expense bool, value []amount.Money) *register.Movements {
	meta := stock()
	m := register.NewMovements(&meta, len(value))
	m.Rows.Grow(len(value))
	lines, warehouse := d.Section("lines"), rowset.Column[id.ID](d.Header, "warehouse")[0]
	copy(rowset.Column[id.ID](m.Rows, "item"), rowset.Column[id.ID](lines, "item"))
	copy(rowset.Column[amount.Quantity](m.Rows, "quantity"), rowset.Column[amount.Quantity](lines, "quantity"))
	copy(rowset.Column[amount.Money](m.Rows, "amount"), value)
	to := rowset.Column[id.ID](m.Rows, "warehouse")
	for i := range to {
		to[i] = warehouse
		m.Expense = append(m.Expense, expense)
	}
	return m
}

type entry struct {
	debit, credit string
	sum           amount.Money
}

// entriesOf a document: those of a zero sum are left out except for the first, so that
// every posted document can be found in the ledger.
func entriesOf(entries ...entry) []*ledger.Entries {
	e := &ledger.Entries{Ledger: General}
	for i, x := range entries {
		if i == 0 || x.sum != 0 {
			e.Add(x.debit, x.credit, x.sum)
		}
	}
	return []*ledger.Entries{e}
}

func sumOf(d *document.Document, name string) amount.Money {
	return rowset.Column[amount.Money](d.Header, name)[0]
}

// stockKeys are the combinations of a document of goods in the stock register, each once.
func stockKeys(d *document.Document) *rowset.Table {
	warehouse := rowset.Column[id.ID](d.Header, "warehouse")[0]
	items := rowset.Column[id.ID](d.Section("lines"), "item")
	keys, seen := rowset.New(stock().Dimensions, len(items)), make(map[id.ID]bool, len(items))
	for _, item := range items {
		if seen[item] {
			continue
		}
		seen[item] = true
		row := keys.Grow(1)
		rowset.Column[id.ID](keys, "warehouse")[row], rowset.Column[id.ID](keys, "item")[row] = warehouse, item
	}
	return keys
}

// stockLocks of the combinations of a document of goods.
func stockLocks(d *document.Document, keys *rowset.Table) []lock.Key {
	locks := make([]lock.Key, keys.Rows())
	warehouses, items := rowset.Column[id.ID](keys, "warehouse"), rowset.Column[id.ID](keys, "item")
	for i := range locks {
		locks[i] = lock.Of(Stock, d.Organisation, warehouses[i], items[i])
	}
	return locks
}
