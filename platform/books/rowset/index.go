package rowset

import (
	"slices"

	"plimsoll/platform/data/id"
)

// Index finds the rows of a table by its first column, the id. Without an index they are searched one by one.
type Index map[id.ID]int

// Add the last row of the table.
func (x Index) Add(t *Table) {
	last := t.Rows() - 1
	x[ColumnAt[id.ID](t, 0)[last]] = last
}

// Row is the position of an id in the table.
func (x Index) Row(t *Table, v id.ID) (row int, found bool) {
	if x == nil {
		row = slices.Index(ColumnAt[id.ID](t, 0), v)
		return max(row, 0), row >= 0
	}
	row, found = x[v]
	return row, found
}
