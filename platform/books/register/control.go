package register

import (
	"encoding/binary"

	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
	"plimsoll/platform/model/metadata"
)

// Keys are the distinct combinations of dimensions in a record set.
func (r *Register) Keys(m *Movements) *rowset.Table {
	keys, seen := rowset.New(r.meta.Dimensions, m.Rows.Rows()), map[string]bool{}
	for row := range m.Rows.Rows() {
		if key := r.Key(m.Rows, row); !seen[key] {
			seen[key] = true
			keys.Add(m.Rows, []int{row})
		}
	}
	return keys
}

// Locks of keys in an organisation: of all layers together, because a document takes from whichever is the oldest.
func (r *Register) Locks(organisation id.ID, keys *rowset.Table) []lock.Key {
	return Locks(r.meta, organisation, keys)
}

// Locks of keys of a register; the keys have at least the locked dimensions.
func Locks(meta *metadata.Accumulation, organisation id.ID, keys *rowset.Table) []lock.Key {
	locks, name := make([]lock.Key, keys.Rows()), meta.LockName()
	values := make([]id.ID, 1+meta.Locked())
	values[0] = organisation
	for row := range locks {
		for i := range values[1:] {
			switch v := keys.Cell(i, row).(type) {
			case *id.ID:
				values[1+i] = *v
			case *int64:
				values[1+i] = id.ID{}
				binary.BigEndian.PutUint64(values[1+i][8:], uint64(*v))
			}
		}
		locks[row] = lock.Of(name, values...)
	}
	return locks
}

// Apply adds a record set to balances, which are in the order of their keys; reversed subtracts it. Other keys are
// skipped. The keys may have only the first dimensions, like those of Balances.
func (r *Register) Apply(balances, keys *rowset.Table, m *Movements, reversed bool) {
	at := make(map[string]int, keys.Rows())
	for row := range keys.Rows() {
		at[keyOf(keys, row, len(keys.Attributes))] = row
	}
	for row := range m.Rows.Rows() {
		to, asked := at[keyOf(m.Rows, row, len(keys.Attributes))]
		if !asked {
			continue
		}
		for i := range r.meta.Resources {
			increase(balances.Cell(i, to), m.Rows.Value(len(r.meta.Dimensions)+i, row), m.Expense[row] != reversed)
		}
	}
}

// increase keeps within int64: both are limited to 18 digits.
func increase(cell, increment any, negative bool) {
	switch v := cell.(type) {
	case *amount.Quantity:
		if *v += increment.(amount.Quantity); negative {
			*v -= 2 * increment.(amount.Quantity)
		}
	case *amount.Money:
		if *v += increment.(amount.Money); negative {
			*v -= 2 * increment.(amount.Money)
		}
	}
}

// Short are the rows of balances that a controlled register must not have: negative, or without the first resource but
// with some of another.
func (r *Register) Short(balances *rowset.Table) (rows []int) {
	for row := range balances.Rows() {
		first, bad := number(balances.Value(0, row)), false
		for i := range r.meta.Resources {
			v := number(balances.Value(i, row))
			bad = bad || v < 0 || first == 0 && v != 0
		}
		if bad {
			rows = append(rows, row)
		}
	}
	return rows
}

// Less are the rows with less of the first resource in one table than in the other.
func Less(one, other *rowset.Table) (rows []int) {
	for row := range one.Rows() {
		if number(one.Value(0, row)) < number(other.Value(0, row)) {
			rows = append(rows, row)
		}
	}
	return rows
}

func number(value any) int64 {
	if m, ok := value.(amount.Money); ok {
		return int64(m)
	}
	return int64(value.(amount.Quantity))
}

// Key of a row whose first columns are the dimensions.
func (r *Register) Key(t *rowset.Table, row int) string {
	return keyOf(t, row, len(r.meta.Dimensions))
}

// keyOf joins the first columns of a row.
func keyOf(t *rowset.Table, row, columns int) string {
	b := make([]byte, 0, 64)
	for i := range columns {
		switch v := t.Value(i, row).(type) {
		case id.ID:
			b = append(b, v[:]...)
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
	}
	return string(b)
}

// Take subtracts a movement from a row of balances.
func (r *Register) Take(left *rowset.Table, to int, m *Movements, row int) {
	for i := range r.meta.Resources {
		increase(left.Cell(i, to), m.Rows.Value(len(r.meta.Dimensions)+i, row), true)
	}
}
