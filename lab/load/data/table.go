package data

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"plimsoll/ground/human"
	"plimsoll/lab/load/script"
)

// BytesMax is the memory that the rows of one source may take.
const BytesMax = 1 << 30

// cellBytes is what a cell takes beside its text.
const cellBytes = 4

// Table is rows in memory, by column.
type Table struct {
	Columns []string
	Rows    int
	Cells   []Cells
	used    int
	most    int // Defaults to BytesMax.
}

// Cells of a column: their texts one behind the other.
type Cells struct {
	Text  []byte
	Ends  []uint32
	Nulls []uint64 // a bit for each row; empty: none is null
}

// NewTable has the columns whose names can be names of variables; keep are their places.
func NewTable(names []string) (t *Table, keep []int, err error) {
	t = &Table{most: BytesMax}
	for i, name := range names {
		if !isColumn(name) {
			continue
		}
		if slices.Contains(t.Columns, name) {
			return nil, nil, fmt.Errorf("the column %s occurs twice", name)
		}
		t.Columns, keep = append(t.Columns, name), append(keep, i)
	}
	if len(keep) == 0 {
		return nil, nil, fmt.Errorf("no column has a name of letters, digits and _ alone")
	}
	t.Cells = make([]Cells, len(keep))
	return t, keep, nil
}

// isColumn: behind the prefix a name may begin with a digit.
func isColumn(name string) bool { return script.IsName("_"+name) && name != "" }

// add the next cell of a column; nil: null.
func (t *Table) add(column int, text []byte, null bool) error {
	c := &t.Cells[column]
	row := len(c.Ends)
	if t.used += len(text) + cellBytes; t.used > t.most {
		return &Mistake{Says: fmt.Sprintf("the rows take more than %s", human.Bytes(float64(t.most))),
			Hint: "leave out columns and rows that the load does not need"}
	}
	c.Text = append(c.Text, text...)
	c.Ends = append(c.Ends, uint32(len(c.Text)))
	if null {
		for len(c.Nulls) <= row/64 {
			c.Nulls = append(c.Nulls, 0)
		}
		c.Nulls[row/64] |= 1 << (row % 64)
	}
	return nil
}

// Value of a row in a column; row and column must exist.
func (t *Table) Value(row, column int) script.Value {
	c := &t.Cells[column]
	if len(c.Nulls) > row/64 && c.Nulls[row/64]&(1<<(row%64)) != 0 {
		return script.Value{}
	}
	from := uint32(0)
	if row > 0 {
		from = c.Ends[row-1]
	}
	return script.Text(string(c.Text[from:c.Ends[row]]))
}

// Encode the rows for another process.
func (t *Table) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(t); err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	return b.Bytes(), nil
}

// Decode what Encode made.
func Decode(text []byte) (*Table, error) {
	var t Table
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&t); err != nil {
		return nil, fmt.Errorf("decode rows: %w", err)
	}
	return &t, nil
}
