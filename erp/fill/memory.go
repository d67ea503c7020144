package fill

import (
	"encoding/binary"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/information"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// memory is what all registers hold while a history is made, so that rules can be asked as posting asks them. Documents come in the order of time
// and are never changed.
type memory struct {
	app      *metadata.Application
	balances map[string][]int64  // by register, organisation and the first dimensions, of every number of them
	layers   map[string][]*layer // by register, organisation and leading dimensions, the oldest first
	stated   map[string]*statement
}

// layer of a layered register.
type layer struct {
	document id.ID
	line     int64
	left     []int64
}

// statement of an information register; of a periodic one the last.
type statement struct{ resources []any }

func newMemory(app *metadata.Application) *memory {
	return &memory{app, map[string][]int64{}, map[string][]*layer{}, map[string]*statement{}}
}

// key of the first columns of a row.
func key(register string, organisation id.ID, t *rowset.Table, row, columns int) string {
	b := make([]byte, 0, len(register)+2+16*(columns+1))
	b = append(append(append(b, register...), byte(columns)), organisation[:]...)
	for i := range columns {
		switch v := t.Value(i, row).(type) {
		case id.ID:
			b = append(b, v[:]...)
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case string:
			b = append(append(b, v...), 0)
		}
	}
	return string(b)
}

func resource(value any) int64 {
	if m, ok := value.(amount.Money); ok {
		return int64(m)
	}
	return int64(value.(amount.Quantity))
}

func put(cell any, v int64) {
	switch cell := cell.(type) {
	case *amount.Money:
		*cell = amount.Money(v)
	case *amount.Quantity:
		*cell = amount.Quantity(v)
	}
}

// answer what the rules need to know of registers.
func (m *memory) answer(d *document.Document, needs []posting.Balance, facts *posting.Facts) {
	facts.Balances, facts.Layers, facts.Information = map[string]*rowset.Table{}, map[string]*register.Layers{}, map[string]*information.Slice{}
	for _, n := range needs {
		name := n.Register
		if n.As != "" {
			name = n.As
		}
		switch r := m.app.Register(n.Register); {
		case n.Keys == nil: // nobody else is here to be locked out
		case r == nil:
			facts.Information[name] = m.slice(d.Organisation, m.app.Record(n.Register), n.Keys)
		case r.Layered:
			facts.Layers[name] = m.layersUnder(d.Organisation, r, n.Keys)
		default:
			facts.Balances[name] = m.balancesOf(d.Organisation, r, n.Keys)
		}
	}
}

func (m *memory) balancesOf(organisation id.ID, r *metadata.Accumulation, keys *rowset.Table) *rowset.Table {
	found := rowset.New(r.Resources, keys.Rows())
	found.Grow(keys.Rows())
	for row := range keys.Rows() {
		for i, v := range m.balances[key(r.Name, organisation, keys, row, len(keys.Attributes))] {
			put(found.Cell(i, row), v)
		}
	}
	return found
}

func (m *memory) layersUnder(organisation id.ID, r *metadata.Accumulation, keys *rowset.Table) *register.Layers {
	found := register.NewLayers(r)
	for row := range keys.Rows() {
		for _, l := range m.layers[key(r.Name, organisation, keys, row, len(r.Leading()))] {
			var values []any
			for i := range r.Leading() {
				values = append(values, keys.Value(i, row))
			}
			found.Keys.Append(append(values, l.document, l.line)...)
			to := found.Left.Grow(1)
			for i, v := range l.left {
				put(found.Left.Cell(i, to), v)
			}
		}
	}
	return found
}

func (m *memory) slice(organisation id.ID, r *metadata.Information, keys *rowset.Table) *information.Slice {
	found := information.NewSlice(r, keys.Rows())
	for row := range keys.Rows() {
		s := m.stated[key(r.Name, organisation, keys, row, len(r.Dimensions))]
		if s == nil {
			continue
		}
		found.Found[row] = true
		one := rowset.New(r.Resources, 1)
		one.Append(s.resources...)
		rowset.Assign(found.Resources, row, one, 0)
	}
	return found
}

// duplicate tells the register in which a document would state what has been stated, as posting would refuse it; "" when there is none.
func (m *memory) duplicate(d *document.Document, records *posting.Records) string {
	for _, s := range records.Information {
		r := m.app.Record(s.Register)
		for row := range s.Rows.Rows() {
			if m.stated[key(r.Name, d.Organisation, s.Rows, row, len(r.Dimensions))] != nil && !r.Periodic {
				return r.Name
			}
		}
	}
	return ""
}

// keep the record sets of a document.
func (m *memory) keep(d *document.Document, records *posting.Records) {
	for _, s := range records.Information {
		r := m.app.Record(s.Register)
		for row := range s.Rows.Rows() {
			var resources []any
			for i := range r.Resources {
				resources = append(resources, s.Rows.Value(len(r.Dimensions)+i, row))
			}
			m.stated[key(r.Name, d.Organisation, s.Rows, row, len(r.Dimensions))] = &statement{resources}
		}
	}
	for _, moved := range records.Movements {
		r := m.app.Register(moved.Register)
		for row := range moved.Rows.Rows() {
			switch {
			case r.Layered:
				m.layer(d.Organisation, r, moved, row)
			case !r.Turnovers:
				m.add(d.Organisation, r, moved, row)
			}
		}
	}
}

func resourcesOf(r *metadata.Accumulation, moved *register.Movements, row int) []int64 {
	values := make([]int64, len(r.Resources))
	for i := range values {
		if values[i] = resource(moved.Rows.Value(len(r.Dimensions)+i, row)); moved.Expense[row] {
			values[i] = -values[i]
		}
	}
	return values
}

// add to the balances under the first dimension, the first two, and so on.
func (m *memory) add(organisation id.ID, r *metadata.Accumulation, moved *register.Movements, row int) {
	values := resourcesOf(r, moved, row)
	for n := range r.Dimensions {
		k := key(r.Name, organisation, moved.Rows, row, n+1)
		sums, left := m.balances[k], false
		if sums == nil {
			sums = make([]int64, len(values))
			m.balances[k] = sums
		}
		for i, v := range values {
			sums[i] += v
			left = left || sums[i] != 0
		}
		if !left {
			delete(m.balances, k)
		}
	}
}

func (m *memory) layer(organisation id.ID, r *metadata.Accumulation, moved *register.Movements, row int) {
	n := len(r.Leading())
	k, values := key(r.Name, organisation, moved.Rows, row, n), resourcesOf(r, moved, row)
	from, line := moved.Rows.Value(n, row).(id.ID), moved.Rows.Value(n+1, row).(int64)
	for at, l := range m.layers[k] {
		if l.document != from || l.line != line {
			continue
		}
		for i, v := range values {
			l.left[i] += v
		}
		if l.left[0] == 0 {
			m.layers[k] = append(m.layers[k][:at:at], m.layers[k][at+1:]...)
		}
		return
	}
	m.layers[k] = append(m.layers[k], &layer{from, line, values})
}
