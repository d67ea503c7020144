// Package rowset holds tables of typed values in memory, column by column: a document's header and sections and a
// register's movements are such tables, and each column is sent to the database as one array.
package rowset

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Value is the type of a cell; each type of attribute has one.
type Value interface {
	id.ID | string | amount.Quantity | amount.Money | int64 | bool | time.Time
}

// Table holds rows of the given attributes.
type Table struct {
	Attributes []metadata.Attribute
	columns    []column
	rows       int
	released   bool
}

type column interface {
	grow(n int)
	empty()
	cell(row int) any // a pointer
	value(row int) any
	array() any
	add(from column, rows []int)
	same(row int, other column, otherRow int) bool
	set(row int, from column, fromRow int)
}

type values[T Value] struct{ all []T }

func (v *values[T]) grow(n int)        { v.all = append(v.all, make([]T, n)...) }
func (v *values[T]) empty()            { v.all = v.all[:0] }
func (v *values[T]) cell(row int) any  { return &v.all[row] }
func (v *values[T]) value(row int) any { return v.all[row] }
func (v *values[T]) array() any        { return v.all }

func (v *values[T]) add(from column, rows []int) {
	for _, row := range rows {
		v.all = append(v.all, from.(*values[T]).all[row])
	}
}

func (v *values[T]) set(row int, from column, fromRow int) {
	v.all[row] = from.(*values[T]).all[fromRow]
}

func (v *values[T]) same(row int, other column, otherRow int) bool {
	a, b := any(v.all[row]), any(other.(*values[T]).all[otherRow])
	if at, ok := a.(time.Time); ok { // one moment has many representations
		return at.Equal(b.(time.Time))
	}
	return a == b
}

// New makes an empty table with room for capacity rows. Columns of one type share an allocation: most tables are
// short-lived, and their cost is the number of allocations.
func New(attributes []metadata.Attribute, capacity int) *Table {
	if t := released(attributes); t != nil {
		return t
	}
	t := &Table{Attributes: attributes, columns: make([]column, len(attributes))}
	var count [metadata.Moment + 1]int
	for i := range attributes {
		count[attributes[i].Type]++
	}
	for kind, n := range count {
		if n == 0 {
			continue
		}
		switch kind := metadata.Type(kind); kind {
		case metadata.Reference:
			addColumns[id.ID](t, kind, n, capacity)
		case metadata.Quantity:
			addColumns[amount.Quantity](t, kind, n, capacity)
		case metadata.Money:
			addColumns[amount.Money](t, kind, n, capacity)
		case metadata.Integer:
			addColumns[int64](t, kind, n, capacity)
		case metadata.Boolean:
			addColumns[bool](t, kind, n, capacity)
		case metadata.Moment:
			addColumns[time.Time](t, kind, n, capacity)
		default:
			addColumns[string](t, kind, n, capacity)
		}
	}
	return t
}

// addColumns makes the n columns of a type.
func addColumns[T Value](t *Table, kind metadata.Type, n, capacity int) {
	columns, room := make([]values[T], n), make([]T, n*capacity)
	for i := range t.Attributes {
		if t.Attributes[i].Type != kind {
			continue
		}
		c := &columns[0]
		c.all, t.columns[i] = room[:0:capacity], c
		columns, room = columns[1:], room[capacity:]
	}
}

// Rows is the number of rows.
func (t *Table) Rows() int { return t.rows }

// Grow adds n rows of zero values and returns the index of the first.
func (t *Table) Grow(n int) int {
	for _, c := range t.columns {
		c.grow(n)
	}
	t.rows += n
	return t.rows - n
}

// Append adds a row of values, in the order of the attributes. A value of another type is a bug and panics.
func (t *Table) Append(values ...any) {
	if len(values) != len(t.columns) {
		panic(fmt.Sprintf("rowset: %d values for %d attributes", len(values), len(t.columns)))
	}
	for i, c := range t.columns {
		add(c, values[i])
	}
	t.rows++
}

// add a value. Naming the columns here, instead of calling their interface, keeps the values of a row off the heap.
func add(c column, value any) {
	switch c := c.(type) {
	case *values[id.ID]:
		c.all = append(c.all, value.(id.ID))
	case *values[string]:
		c.all = append(c.all, value.(string))
	case *values[amount.Quantity]:
		c.all = append(c.all, value.(amount.Quantity))
	case *values[amount.Money]:
		c.all = append(c.all, value.(amount.Money))
	case *values[int64]:
		c.all = append(c.all, value.(int64))
	case *values[bool]:
		c.all = append(c.all, value.(bool))
	case *values[time.Time]:
		c.all = append(c.all, value.(time.Time))
	}
}

// Column is the values of one attribute, to be read and written in place. It panics if there is none of that name and
// type.
func Column[T Value](t *Table, name string) []T {
	for i := range t.Attributes { // by index: copying attributes would cost more than the search
		if t.Attributes[i].Name == name {
			return t.columns[i].(*values[T]).all
		}
	}
	panic(fmt.Sprintf("rowset: no column %s", name))
}

// ColumnAt is the values of the i-th attribute, to be read and written in place.
func ColumnAt[T Value](t *Table, i int) []T { return t.columns[i].(*values[T]).all }

// Cell is a pointer to the value in a row of the i-th column, as a destination for Scan.
func (t *Table) Cell(i, row int) any { return t.columns[i].cell(row) }

// Cells are pointers to the values of a row.
func (t *Table) Cells(row int) []any {
	cells := make([]any, len(t.columns))
	for i := range cells {
		cells[i] = t.Cell(i, row)
	}
	return cells
}

// Value is the value itself.
func (t *Table) Value(i, row int) any { return t.columns[i].value(row) }

// Arrays appends every column as a slice: the parameters of a statement that unnests them.
func (t *Table) Arrays(args []any) []any {
	for _, c := range t.columns {
		args = append(args, c.array())
	}
	return args
}

// Parameters are the placeholders of such arrays in a statement, with types: "$4::uuid[], $5::numeric[]".
func Parameters(first int, attributes []metadata.Attribute) string {
	all := make([]string, len(attributes))
	for i, a := range attributes {
		all[i] = fmt.Sprintf("$%d::%s", first+i, a.Array())
	}
	return strings.Join(all, ", ")
}

// Values appends the values of one row: the parameters of a statement that writes it alone.
func (t *Table) Values(args []any, row int) []any {
	for _, c := range t.columns {
		args = append(args, c.value(row))
	}
	return args
}

// Add appends some rows of a table with the same attributes.
func (t *Table) Add(from *Table, rows []int) {
	for i, c := range t.columns {
		c.add(from.columns[i], rows)
	}
	t.rows += len(rows)
}

// Columns is a table of some of the columns, which it shares.
func (t *Table) Columns(first, end int) *Table {
	return &Table{Attributes: t.Attributes[first:end], columns: t.columns[first:end], rows: t.rows}
}

// AddRange appends a range of rows of a table with the same attributes.
func (t *Table) AddRange(from *Table, first, end int) {
	rows := make([]int, 0, end-first)
	for row := first; row < end; row++ {
		rows = append(rows, row)
	}
	t.Add(from, rows)
}

// Assign copies columns from all rows of another table, by name and type, to the rows from one on.
func Assign(t *Table, at int, from *Table) {
	for i := range t.Attributes {
		for j := range from.Attributes {
			if t.Attributes[i].Name != from.Attributes[j].Name {
				continue
			}
			for row := range from.rows {
				t.columns[i].set(at+row, from.columns[j], row)
			}
		}
	}
}

// Same says whether a row equals a row of a table with the same attributes.
func (t *Table) Same(row int, other *Table, otherRow int) bool {
	for i, c := range t.columns {
		if !c.same(row, other.columns[i], otherRow) {
			return false
		}
	}
	return true
}

// Difference compares two tables of the same attributes row by row, and returns the rows of each that have no equal at
// the same position in the other.
func Difference(one, other *Table) (ofOne, ofOther []int) {
	for row := range max(one.rows, other.rows) {
		if row < one.rows && row < other.rows && one.Same(row, other, row) {
			continue
		}
		if row < one.rows {
			ofOne = append(ofOne, row)
		}
		if row < other.rows {
			ofOther = append(ofOther, row)
		}
	}
	return ofOne, ofOther
}

// Lines are the numbers of rows as they are stored, from 1 on.
func Lines(rows []int) []int32 {
	lines := make([]int32, len(rows))
	for i, row := range rows {
		lines[i] = int32(row + 1)
	}
	return lines
}
