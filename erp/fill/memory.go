package fill

import (
	"fmt"

	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"

	"plimsoll/erp"
)

// memory is what the registers of an organisation hold while its history is made, so that rules can be asked as posting asks them. Documents come in the
// order of time and are never changed. It holds what can still be asked for, not all that was: balances at zero and layers used up are gone, and what
// belongs to a paper goes with it.
type memory struct {
	app      *metadata.Application
	kept     map[string]*keptRegister
	balances map[key]sums
	layers   map[place]*layers
}

// keptRegister says under how many of the first dimensions balances are kept: by as many as somebody asks.
type keptRegister struct {
	number uint8
	by     []int
}

// asked are the registers whose balances rules and generators ask for, each by so many of its dimensions.
var asked = map[string][]int{
	erp.Stock: {2}, erp.Reserves: {2}, erp.CustomerOrders: {2}, erp.SupplierOrders: {2}, erp.ToReceive: {2}, erp.ToShip: {2}, erp.Cells: {3},
	erp.CustomerSettlements: {1}, erp.SupplierSettlements: {1}, erp.Cash: {1}, erp.PaymentPlan: {1, 2}, erp.Investments: {1},
	erp.CustomerAdvances: {1}, erp.SupplierAdvances: {1},
}

// key of a balance: the register, how many dimensions, and their values. It has no pointers, so that millions of them cost the collector nothing.
type key struct {
	register, dimensions uint8
	values               [dimensionsMax]id.ID
}

const dimensionsMax = 3

// sums are what resources come to; no register has more of them.
type sums [2]int64

// place is what layers lie under.
type place struct{ warehouse, item id.ID }

// layers of a place, the oldest first, from the first that is not used up.
type layers struct {
	all  []layer
	used int
}

type layer struct {
	document id.ID
	line     int64
	left     sums
}

func newMemory(app *metadata.Application) *memory {
	m := &memory{app: app, kept: map[string]*keptRegister{}, balances: map[key]sums{}, layers: map[place]*layers{}}
	for name, by := range asked {
		m.kept[name] = &keptRegister{by: by}
	}
	for i := range app.Accumulation {
		if k := m.kept[app.Accumulation[i].Name]; k != nil {
			k.number = uint8(i)
		}
	}
	return m
}

// key of the first columns of a row.
func keyOf(number uint8, t *rowset.Table, row, columns int) key {
	k := key{register: number, dimensions: uint8(columns)}
	for i := range columns {
		k.values[i] = *t.Cell(i, row).(*id.ID)
	}
	return k
}

func resource(cell any) int64 {
	if m, ok := cell.(*amount.Money); ok {
		return int64(*m)
	}
	return int64(*cell.(*amount.Quantity))
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
func (m *memory) answer(d *document.Document, needs []posting.Balance, facts *posting.Facts) error {
	facts.Balances, facts.Layers = map[string]*rowset.Table{}, map[string]*register.Layers{}
	for _, n := range needs {
		name := n.Register
		if n.As != "" {
			name = n.As
		}
		switch r := m.app.Register(n.Register); {
		case n.Keys == nil: // nobody else is here to be locked out
		case r == nil:
			return fmt.Errorf("the rules of %s ask what is stated in %s, which a fill does not keep", d.Meta.Name, n.Register)
		case r.Layered:
			facts.Layers[name] = m.lend(d, r, n.Keys)
		default:
			var err error
			if facts.Balances[name], err = m.balancesOf(r, n.Keys); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) balancesOf(r *metadata.Accumulation, keys *rowset.Table) (*rowset.Table, error) {
	k, by := m.kept[r.Name], len(keys.Attributes)
	if k == nil || !contains(k.by, by) {
		return nil, fmt.Errorf("a fill keeps no balances of %s by %d dimensions", r.Name, by)
	}
	found := rowset.New(r.Resources, keys.Rows())
	found.Grow(keys.Rows())
	for row := range keys.Rows() {
		sums := m.balances[keyOf(k.number, keys, row, by)]
		for i := range r.Resources {
			put(found.Cell(i, row), sums[i])
		}
	}
	return found, nil
}

func contains(by []int, n int) bool {
	for _, v := range by {
		if v == n {
			return true
		}
	}
	return false
}

// balance of the first resource of a register under references.
func (m *memory) balance(register string, under ...id.ID) int64 {
	k := key{register: m.kept[register].number, dimensions: uint8(len(under))}
	copy(k.values[:], under)
	return m.balances[k][0]
}

// lend the oldest layers of the places of a document, as many as hold what it takes and what others have reserved.
func (m *memory) lend(d *document.Document, r *metadata.Accumulation, keys *rowset.Table) *register.Layers {
	found := register.NewLayers(r)
	lines := d.Section("lines")
	of, quantity := rowset.Column[id.ID](lines, "item"), rowset.Column[amount.Quantity](lines, "quantity")
	for row := range keys.Rows() {
		p := place{*keys.Cell(0, row).(*id.ID), *keys.Cell(1, row).(*id.ID)}
		there := m.layers[p]
		if there == nil {
			continue
		}
		required := m.balance(erp.Reserves, p.warehouse, p.item)
		for i, item := range of {
			if item == p.item {
				required += int64(quantity[i])
			}
		}
		for i := there.used; i < len(there.all) && required > 0; i++ {
			l := &there.all[i]
			to := found.Keys.Grow(1)
			*found.Keys.Cell(0, to).(*id.ID), *found.Keys.Cell(1, to).(*id.ID) = p.warehouse, p.item
			*found.Keys.Cell(2, to).(*id.ID), *found.Keys.Cell(3, to).(*int64) = l.document, l.line
			found.Left.Grow(1)
			for i := range r.Resources {
				put(found.Left.Cell(i, to), l.left[i])
			}
			required -= l.left[0]
		}
	}
	return found
}

// keep the record sets of a document. What it states in information registers nobody asks for: that nothing is stated twice is up to the
// generators, and to the unique indexes.
func (m *memory) keep(records *posting.Records) error {
	for _, moved := range records.Movements {
		r := m.app.Register(moved.Register)
		if r.Layered {
			if err := m.layer(r, moved); err != nil {
				return err
			}
		} else if k := m.kept[r.Name]; k != nil {
			m.add(r, k, moved)
		}
	}
	return nil
}

func resourcesOf(r *metadata.Accumulation, moved *register.Movements, row int) (values sums) {
	for i := range r.Resources {
		if values[i] = resource(moved.Rows.Cell(len(r.Dimensions)+i, row)); moved.Expense[row] {
			values[i] = -values[i]
		}
	}
	return values
}

func (m *memory) add(r *metadata.Accumulation, kept *keptRegister, moved *register.Movements) {
	for row := range moved.Rows.Rows() {
		values := resourcesOf(r, moved, row)
		for _, by := range kept.by {
			k := keyOf(kept.number, moved.Rows, row, by)
			sums := m.balances[k]
			for i, v := range values {
				sums[i] += v
			}
			if sums[0] == 0 && sums[1] == 0 {
				delete(m.balances, k)
			} else {
				m.balances[k] = sums
			}
		}
	}
}

func (m *memory) layer(r *metadata.Accumulation, moved *register.Movements) error {
	for row := range moved.Rows.Rows() {
		p := place{*moved.Rows.Cell(0, row).(*id.ID), *moved.Rows.Cell(1, row).(*id.ID)}
		from, line := *moved.Rows.Cell(2, row).(*id.ID), *moved.Rows.Cell(3, row).(*int64)
		there := m.layers[p]
		if there == nil {
			there = &layers{}
			m.layers[p] = there
		}
		values := resourcesOf(r, moved, row)
		if !moved.Expense[row] {
			there.all = append(there.all, layer{from, line, values})
			continue
		}
		if there.used == len(there.all) || there.all[there.used].document != from || there.all[there.used].line != line {
			return fmt.Errorf("the rules take layers in another order than that in which they are given")
		}
		there.take(values)
	}
	return nil
}

// take from the oldest layer.
func (l *layers) take(values sums) {
	oldest := &l.all[l.used]
	for i, v := range values {
		oldest.left[i] += v
	}
	if oldest.left[0] != 0 {
		return
	}
	if l.used++; l.used*2 > len(l.all) { // most are used up
		l.all, l.used = append(l.all[:0], l.all[l.used:]...), 0
	}
}

// forget what belongs to a paper that nothing will be made of any more.
func (m *memory) forget(d *document.Document) {
	if d.Meta.Name == erp.PaymentRequest {
		m.drop(erp.PaymentPlan, rowset.Column[id.ID](d.Header, "contract")[0], d.ID)
		return
	}
	registers := waitsIn(d.Meta.Name)
	for i := range d.Sections {
		if _, has := metadata.Find(d.Sections[i].Attributes, "item"); !has || registers == nil {
			continue
		}
		for _, item := range rowset.Column[id.ID](d.Sections[i], "item") {
			for _, name := range registers {
				m.drop(name, d.ID, item)
			}
		}
	}
}

// waitsIn are the registers that know what of a document is still to be done.
func waitsIn(kind string) []string {
	switch kind {
	case erp.CustomerOrder:
		return []string{erp.CustomerOrders}
	case erp.SupplierOrder:
		return []string{erp.SupplierOrders}
	case erp.GoodsReceipt, erp.OtherGoodsReceipt:
		return []string{erp.ToReceive}
	case erp.GoodsSale, erp.InternalConsumption, erp.AssetCommissioning:
		return []string{erp.ToShip}
	}
	return nil
}

func (m *memory) drop(register string, under ...id.ID) {
	k := key{register: m.kept[register].number, dimensions: uint8(len(under))}
	copy(k.values[:], under)
	delete(m.balances, k)
}
