package fill

import (
	"fmt"
	"slices"

	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// memory holds the registers of an organisation while its history is generated, so that rules can ask what they ask
// when posting. Documents come in order of time and are never changed. It holds what can still be asked for: zero
// balances and used-up layers are deleted, and what belongs to a document goes with it.
type memory struct {
	kept     map[string]*keptRegister // all there are
	balances lookup[sums]
	layers   lookup[*layers]
}

// keptRegister says by how many leading dimensions balances are kept: by as many as somebody asks for.
type keptRegister struct {
	meta   *metadata.Accumulation
	number uint8
	depths []int
}

// asked lists the registers whose balances rules and generators ask for, each with the number of dimensions.
var asked = map[string][]int{
	books.Stock.Name(): {2}, books.Reserves.Name(): {2}, books.CustomerOrders.Name(): {2},
	books.SupplierOrders.Name(): {2},
	books.ToReceive.Name():      {2},
	books.ToShip.Name():         {2}, books.Cells.Name(): {3},
	books.CustomerSettlements.Name(): {1}, books.SupplierSettlements.Name(): {1}, books.Cash.Name(): {1},
	books.PaymentPlan.Name():      {1, 2},
	books.Investments.Name():      {1},
	books.CustomerAdvances.Name(): {1}, books.SupplierAdvances.Name(): {1},
}

// sums of resources; no register has more of them.
type sums [2]int64

// layers of a place, oldest first, starting with the first that is not used up.
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
	m := &memory{kept: map[string]*keptRegister{}}
	for i := range app.Accumulation {
		r := &app.Accumulation[i]
		m.kept[r.Name] = &keptRegister{meta: r, number: uint8(i), depths: asked[r.Name]}
	}
	return m
}

// referenceColumns are the leading columns of a table, which are references.
func referenceColumns(t *rowset.Table, columns int) (all [dimensionsMax][]id.ID) {
	for i := range columns {
		all[i] = rowset.ColumnAt[id.ID](t, i)
	}
	return all
}

// dimensionsMax of a balance that is kept.
const dimensionsMax = 3

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

// answer what the rules ask about registers.
func (m *memory) answer(d *document.Document, needs []posting.Need, facts *posting.Facts) error {
	clear(facts.Balances)
	clear(facts.Layers)
	for _, n := range needs {
		name := n.Register
		if n.As != "" {
			name = n.As
		}
		switch k := m.kept[n.Register]; {
		case k == nil:
			return fmt.Errorf("the rules of %s read information register %s, which a fill does not keep in "+
				"memory", d.Meta.Name,
				n.Register)
		case k.meta.Layered:
			facts.Layers[name] = m.oldestLayers(d, k.meta, n.Keys)
		default:
			var err error
			if facts.Balances[name], err = m.balancesOf(k, n.Keys); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) balancesOf(k *keptRegister, keys *rowset.Table) (*rowset.Table, error) {
	r, dimensions := k.meta, len(keys.Attributes)
	if !slices.Contains(k.depths, dimensions) {
		return nil, fmt.Errorf("a fill keeps no balances of %s by %d dimensions", r.Name, dimensions)
	}
	found := rowset.New(r.Resources, keys.Rows())
	found.Grow(keys.Rows())
	values := referenceColumns(keys, dimensions)
	for row := range keys.Rows() {
		key := keyOf(k.number, dimensions)
		for i := range dimensions {
			key = key.add(&values[i][row])
		}
		sums := m.balances.value(key)
		for i := range r.Resources {
			put(found.Cell(i, row), sums[i])
		}
	}
	return found, nil
}

// balance of the first resource of a register under references.
func (m *memory) balance(register string, under ...id.ID) int64 {
	return m.balances.value(m.key(register, under...))[0]
}

func (m *memory) key(register string, under ...id.ID) key {
	k := keyOf(m.kept[register].number, len(under))
	for i := range under {
		k = k.add(&under[i])
	}
	return k
}

// oldestLayers returns the oldest layers of a document's places, enough for what it takes and others have reserved.
func (m *memory) oldestLayers(d *document.Document, r *metadata.Accumulation, keys *rowset.Table) *register.Layers {
	lines := d.Section("lines")
	lineItems, quantity := rowset.Column[id.ID](lines, "item"), rowset.Column[amount.Quantity](lines, "quantity")
	warehouses, items := rowset.ColumnAt[id.ID](keys, 0), rowset.ColumnAt[id.ID](keys, 1)
	lent, all := make([][]layer, len(items)), 0
	for row, item := range items {
		there := m.layers.value(placeOf(&warehouses[row], &item))
		if there == nil {
			continue
		}
		required := m.balance(books.Reserves.Name(), warehouses[row], item)
		for i := range lineItems {
			if lineItems[i] == item {
				required += int64(quantity[i])
			}
		}
		lent[row] = there.first(required)
		all += len(lent[row])
	}
	found := register.NewLayers(r, all)
	found.Keys.Grow(all)
	found.Left.Grow(all)
	to := 0
	inWarehouse, ofItem := rowset.ColumnAt[id.ID](found.Keys, 0), rowset.ColumnAt[id.ID](found.Keys, 1)
	documents, numbers := rowset.ColumnAt[id.ID](found.Keys, 2), rowset.ColumnAt[int64](found.Keys, 3)
	for row := range lent {
		for i := range lent[row] {
			l := &lent[row][i]
			inWarehouse[to], ofItem[to], documents[to], numbers[to] = warehouses[row], items[row], l.document, l.line
			for n := range r.Resources {
				put(found.Left.Cell(n, to), l.left[n])
			}
			to++
		}
	}
	return found
}

// first layers that hold the required quantity.
func (l *layers) first(required int64) []layer {
	n := l.used
	for ; n < len(l.all) && required > 0; n++ {
		required -= l.all[n].left[0]
	}
	return l.all[l.used:n]
}

// Layers have a lookup of their own with only one register, so any number stands for it.
const (
	layersNumber    = 0
	placeDimensions = 2
)

// placeOf layers.
func placeOf(warehouse, item *id.ID) key {
	return keyOf(layersNumber, placeDimensions).add(warehouse).add(item)
}

// keep the record sets of a document. Information registers are not kept: generators and unique indexes see to it
// that nothing is stated twice.
func (m *memory) keep(records *posting.Records) error {
	for _, moved := range records.Movements {
		k := m.kept[moved.Register]
		if k.meta.Layered {
			if err := m.layer(k.meta, moved); err != nil {
				return err
			}
		} else if k.depths != nil {
			m.add(k, moved)
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

func (m *memory) add(kept *keptRegister, moved *register.Movements) {
	columns := referenceColumns(moved.Rows, kept.depths[len(kept.depths)-1])
	for row := range moved.Rows.Rows() {
		values := resourcesOf(kept.meta, moved, row)
		for _, dimensions := range kept.depths {
			k := keyOf(kept.number, dimensions)
			for i := range dimensions {
				k = k.add(&columns[i][row])
			}
			sums := m.balances.place(k)
			for i, v := range values {
				sums[i] += v
			}
			if sums[0] == 0 && sums[1] == 0 {
				m.balances.drop(k)
			}
		}
	}
}

func (m *memory) layer(r *metadata.Accumulation, moved *register.Movements) error {
	columns := referenceColumns(moved.Rows, dimensionsMax)
	numbers := rowset.ColumnAt[int64](moved.Rows, dimensionsMax)
	for row := range moved.Rows.Rows() {
		at := m.layers.place(placeOf(&columns[0][row], &columns[1][row]))
		if *at == nil {
			*at = &layers{}
		}
		place, from, line := *at, columns[2][row], numbers[row]
		values := resourcesOf(r, moved, row)
		if !moved.Expense[row] {
			place.all = append(place.all, layer{from, line, values})
			continue
		}
		if place.used == len(place.all) || place.all[place.used].document != from ||
			place.all[place.used].line != line {
			return fmt.Errorf("the rules use layers in a different order than they were given")
		}
		place.take(values)
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

// forget what belongs to a document without further follow-up.
func (m *memory) forget(d *document.Document) {
	if d.Meta.Name == books.PaymentRequest {
		m.drop(books.PaymentPlan.Name(), rowset.Column[id.ID](d.Header, "contract")[0], d.ID)
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

// waitsIn lists the registers that know what is still to be done for a document.
func waitsIn(kind string) []string {
	switch kind {
	case books.CustomerOrder:
		return []string{books.CustomerOrders.Name()}
	case books.SupplierOrder:
		return []string{books.SupplierOrders.Name()}
	case books.GoodsReceipt, books.OtherGoodsReceipt:
		return []string{books.ToReceive.Name()}
	case books.GoodsSale, books.InternalConsumption, books.AssetCommissioning:
		return []string{books.ToShip.Name()}
	}
	return nil
}

func (m *memory) drop(register string, under ...id.ID) { m.balances.drop(m.key(register, under...)) }
