package erp

import (
	"slices"

	"plimsoll/platform/amount"
	"plimsoll/platform/catalog"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/lock"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// What rules are written in: attributes of the document and of what it refers to, keys, and record sets.

func refOf(d *document.Document, name string) id.ID {
	return rowset.Column[id.ID](d.Header, name)[0]
}

func sumOf(d *document.Document, name string) amount.Money {
	return rowset.Column[amount.Money](d.Header, name)[0]
}

func textOf(d *document.Document, name string) string {
	return rowset.Column[string](d.Header, name)[0]
}

// of an element of a catalog, which is there: references have been checked.
func of[T rowset.Value](elements *catalog.Elements, v id.ID, attribute string) T {
	row, _ := elements.Row(v)
	return rowset.Column[T](elements.Rows, attribute)[row]
}

// said by a document of a type that another one refers to.
func said[T rowset.Value](referred *document.Referred, v id.ID, attribute string) T {
	row, _ := referred.Row(v)
	return rowset.Column[T](referred.Rows, attribute)[row]
}

// keys of a register under its first dimensions: each row once, in the order given.
func keys(name string, rows ...[]id.ID) *rowset.Table {
	dimensions := 0
	if len(rows) > 0 {
		dimensions = len(rows[0])
	}
	table, seen := rowset.New(dimensionsOf(name, dimensions), len(rows)), map[[4]id.ID]bool(nil)
	if len(rows) > 1 {
		seen = make(map[[4]id.ID]bool, len(rows))
	}
	for _, row := range rows {
		var key [4]id.ID
		copy(key[:], row)
		if !seen[key] {
			if seen != nil {
				seen[key] = true
			}
			to := table.Grow(1)
			for i, v := range row {
				*table.Cell(i, to).(*id.ID) = v
			}
		}
	}
	return table
}

func dimensionsOf(name string, first int) []metadata.Attribute {
	if r := application.Register(name); r != nil {
		return r.Dimensions[:first]
	}
	return application.Record(name).Dimensions[:first]
}

// need is a balance of a register, guarded by its locks.
func need(d *document.Document, name string, keys *rowset.Table) posting.Balance {
	return posting.Balance{Register: name, Keys: keys, Locks: func() []lock.Key {
		return register.Locks(application.Register(name), d.Organisation, keys)
	}}
}

// guard is the locks of a register without its balance.
func guard(d *document.Document, name string, keys *rowset.Table) posting.Balance {
	n := need(d, name, keys)
	n.Keys = nil
	return n
}

// moves makes an empty record set of an accumulation register.
func moves(name string, capacity int) *register.Movements {
	return register.NewMovements(application.Register(name), capacity)
}

// record makes a record set of one record of an information register.
func record(name string, values ...any) *information.Records {
	r := information.NewRecords(application.Record(name))
	r.Rows.Append(values...)
	return r
}

// fewItems are told apart by looking at all; of more an index is made.
const fewItems = 32

// distinct items in the order in which they come first, and where among them each one is.
func distinct(items []id.ID) (once []id.ID, at []int) {
	once, at = make([]id.ID, 0, len(items)), make([]int, len(items))
	var index map[id.ID]int
	if len(items) > fewItems {
		index = make(map[id.ID]int, len(items))
	}
	for i, item := range items {
		n := -1
		if index == nil {
			n = slices.Index(once, item)
		} else if known, found := index[item]; found {
			n = known
		}
		if n < 0 {
			n, once = len(once), append(once, item)
			if index != nil {
				index[item] = n
			}
		}
		at[i] = n
	}
	return once, at
}

// quantities of a document's lines by item, and the items in the order in which they come first.
func quantities(d *document.Document) (items []id.ID, sums []amount.Quantity) {
	lines := d.Section("lines")
	items, at := distinct(rowset.Column[id.ID](lines, "item"))
	sums = make([]amount.Quantity, len(items))
	for i, quantity := range rowset.Column[amount.Quantity](lines, "quantity") {
		sums[at[i]] += quantity
	}
	return items, sums
}

// byItem are keys of two dimensions: one thing, and each item of the document's lines.
func byItem(d *document.Document, name string, one id.ID) *rowset.Table {
	items, _ := distinct(rowset.Column[id.ID](d.Section("lines"), "item"))
	table := rowset.New(dimensionsOf(name, 2), len(items))
	table.Grow(len(items))
	first := rowset.ColumnAt[id.ID](table, 0)
	for i := range first {
		first[i] = one
	}
	copy(rowset.ColumnAt[id.ID](table, 1), items)
	return table
}
