package fill

import (
	"fmt"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/catalog"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/number"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

const (
	openingLines = 100
	batchSize    = 500
	// assortmentMax is how many items a warehouse opens with: the hottest ones.
	assortmentMax = 2000
	// receiptShare of the documents after the opening; receipts are larger than sales, so stock grows slowly.
	receiptShare = 0.35
)

// history makes documents in the order of time, each by the rules that would post it.
type history struct {
	*base
	app     *metadata.Application
	rules   map[string]posting.Rules
	stock   map[place]*holding
	issued  map[sequence]int64
	opening []opening // still to be made
	left    int       // documents after the opening still to be made
	at      time.Time
	step    time.Duration
}

type place struct{ warehouse, item id.ID }

type holding struct {
	quantity amount.Quantity
	layers   []layer // the oldest first
}

type layer struct {
	receipt  id.ID
	line     int64
	quantity amount.Quantity
	amount   amount.Money
}

type sequence struct {
	organisation id.ID
	kind         string
}

// opening is a receipt that brings a part of a warehouse's assortment.
type opening struct {
	organisation *organisation
	warehouse    id.ID
	from, to     int // items
}

func newHistory(b *base) *history {
	h := &history{
		base: b, app: erp.Metadata(), rules: erp.Rules(), stock: map[place]*holding{}, issued: map[sequence]int64{},
		left: b.options.Documents, at: b.options.Until.Add(-historyLength),
	}
	for _, o := range b.organisations {
		for _, w := range o.warehouses {
			for from := 0; from < min(len(b.itemIDs), assortmentMax); from += openingLines {
				h.opening = append(h.opening, opening{o, w, from, min(from+openingLines, len(b.itemIDs), assortmentMax)})
			}
		}
	}
	h.step = historyLength / time.Duration(h.total()+1)
	return h
}

func (h *history) total() int { return len(h.opening) + h.left }

// batch is the rows of some documents, by table.
type batch struct {
	documents int
	tables    []*rows
}

// next makes up to batchSize documents; nil when there are no more.
func (h *history) next() (*batch, error) {
	w := newWriter(h.app)
	for w.documents < batchSize && h.total() > 0 {
		d := h.document()
		records, err := h.record(d)
		if err != nil {
			return nil, err
		}
		w.add(d, records)
	}
	if w.documents == 0 {
		return nil, nil
	}
	return &batch{w.documents, w.all()}, nil
}

func (h *history) document() *document.Document {
	h.at = h.at.Add(h.step).Truncate(time.Microsecond)
	if len(h.opening) > 0 {
		o := h.opening[0]
		h.opening = h.opening[1:]
		return h.openingReceipt(o)
	}
	h.left--
	o := h.owner(len(h.organisations)) // any, by skew
	warehouse := o.warehouses[skew.Pick(h.rng.Rand, len(o.warehouses), skew.Mild)]
	if h.rng.Float64() >= receiptShare {
		if d := h.sale(o, warehouse); d != nil {
			return d
		}
	}
	return h.receipt(o, warehouse)
}

func (h *history) begin(kind string, o *organisation, warehouse id.ID, comment string) *document.Document {
	meta, _ := h.app.Document(kind)
	d := document.New(meta)
	d.ID, d.Organisation, d.Date, d.Comment = id.At(h.at, h.rng.Uint64(), h.rng.Uint64()), o.id, h.at, comment
	d.Author = o.users[h.rng.IntN(len(o.users))]
	s := sequence{o.id, kind}
	h.issued[s]++
	d.Number = number.Format(meta.Prefix, h.issued[s])
	rowset.Column[id.ID](d.Header, "warehouse")[0] = warehouse
	rowset.Column[id.ID](d.Header, "counterparty")[0] = o.counterparties[skew.Pick(h.rng.Rand, len(o.counterparties), skew.Mild)]
	return d
}

func addLine(d *document.Document, item id.ID, q amount.Quantity) {
	lines := d.Section("lines")
	row := lines.Grow(1)
	rowset.Column[id.ID](lines, "item")[row], rowset.Column[amount.Quantity](lines, "quantity")[row] = item, q
}

// openingReceipt brings more of what is hot.
func (h *history) openingReceipt(o opening) *document.Document {
	d := h.begin(erp.GoodsReceipt, o.organisation, o.warehouse, "Ввод начальных остатков")
	for i := o.from; i < o.to; i++ {
		units := 20 + h.rng.IntN(80) + 4000/(i+1)
		addLine(d, h.itemIDs[i], amount.Quantity(1000*units))
	}
	return d
}

func (h *history) receipt(o *organisation, warehouse id.ID) *document.Document {
	d := h.begin(erp.GoodsReceipt, o, warehouse, "")
	rowset.Column[string](d.Header, "supplier_number")[0] = h.rng.digits(6)
	for range 5 + h.rng.IntN(16) {
		addLine(d, h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)], amount.Quantity(1000*(10+h.rng.IntN(60))))
	}
	return d
}

// sale takes at most half of what there is; nil when the warehouse has none of the items drawn.
func (h *history) sale(o *organisation, warehouse id.ID) *document.Document {
	var d *document.Document
	for range 5 + h.rng.IntN(16) {
		item := h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)]
		left := h.stock[place{warehouse, item}]
		units := 1 + h.rng.IntN(9)
		if left == nil || left.quantity < amount.Quantity(40*1000*units) { // 20 lines may draw the same item
			continue
		}
		if d == nil {
			d = h.begin(erp.GoodsSale, o, warehouse, "")
		}
		addLine(d, item, amount.Quantity(1000*units))
	}
	return d
}

// record lets the rules decide on the layers in memory, and keeps those.
func (h *history) record(d *document.Document) (*posting.Records, error) {
	rules := h.rules[d.Meta.Name]
	facts := &posting.Facts{Catalogs: map[string]*catalog.Elements{"items": h.items}, Layers: map[string]*register.Layers{}}
	for _, need := range rules.Balances(d) {
		if need.Keys == nil {
			continue // nobody else is here to be locked out
		}
		if need.Register != erp.Batches {
			return nil, fmt.Errorf("fill keeps no balances of %s", need.Register)
		}
		facts.Layers[need.Register] = h.layers(need.Keys)
	}
	records, err := rules.Record(d, facts)
	if err != nil {
		return nil, err
	}
	for _, m := range records.Movements {
		if m.Register == erp.Batches {
			h.move(m)
		}
	}
	return records, nil
}

// move keeps the layers. Documents are made in the order of time, so a layer comes behind the others and goes from before them.
func (h *history) move(m *register.Movements) {
	warehouses, items := rowset.Column[id.ID](m.Rows, "warehouse"), rowset.Column[id.ID](m.Rows, "item")
	receipts, lines := rowset.Column[id.ID](m.Rows, "receipt"), rowset.Column[int64](m.Rows, "receipt_line")
	quantities, amounts := rowset.Column[amount.Quantity](m.Rows, "quantity"), rowset.Column[amount.Money](m.Rows, "amount")
	for i := range warehouses {
		p := place{warehouses[i], items[i]}
		left := h.stock[p]
		if left == nil {
			left = &holding{}
			h.stock[p] = left
		}
		if !m.Expense[i] {
			left.quantity += quantities[i]
			left.layers = append(left.layers, layer{receipts[i], lines[i], quantities[i], amounts[i]})
			continue
		}
		left.quantity -= quantities[i]
		oldest := &left.layers[0]
		oldest.quantity, oldest.amount = oldest.quantity-quantities[i], oldest.amount-amounts[i]
		if oldest.quantity == 0 {
			left.layers = left.layers[1:]
		}
	}
}

func (h *history) layers(keys *rowset.Table) *register.Layers {
	found := register.NewLayers(h.app.Register(erp.Batches))
	items := rowset.Column[id.ID](keys, "item")
	for i, warehouse := range rowset.Column[id.ID](keys, "warehouse") {
		left := h.stock[place{warehouse, items[i]}]
		if left == nil {
			continue
		}
		for _, l := range left.layers {
			found.Keys.Grow(1)
			row := found.Left.Grow(1)
			rowset.Column[id.ID](found.Keys, "warehouse")[row], rowset.Column[id.ID](found.Keys, "item")[row] = warehouse, items[i]
			rowset.Column[id.ID](found.Keys, "receipt")[row], rowset.Column[int64](found.Keys, "receipt_line")[row] = l.receipt, l.line
			rowset.Column[amount.Quantity](found.Left, "quantity")[row], rowset.Column[amount.Money](found.Left, "amount")[row] = l.quantity, l.amount
		}
	}
	return found
}

// numbers go on after the last one given.
func (h *history) numbers() *rows {
	r := &rows{name: "numbers", table: "plimsoll_number", columns: []string{"organisation", "kind", "next"}}
	for s, last := range h.issued {
		r.rows = append(r.rows, []any{s.organisation, s.kind, last + 1})
	}
	return r
}
