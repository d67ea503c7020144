package fill

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/number"
	"plimsoll/platform/posting"
	"plimsoll/platform/rowset"
)

const (
	openingLines = 100
	batchSize    = 500
	// assortmentMax is how many items a warehouse opens with: the hottest ones.
	assortmentMax = 2000
)

// generator makes documents of one type as the people of an organisation would. Nil means that there is nothing to make one of now; one that the
// rules refuse is given up. Then goods are received instead.
type generator struct {
	kind string
	// often is how often, against the others: thousands of documents in the base of claim C02.
	often float64
	make  func(h *history, o *organisation, warehouse id.ID) *document.Document
}

// generators of all types that a history has; a new type adds its own.
var generators = []generator{
	{erp.CustomerOrder, 724, order},
	{erp.GoodsSale, 84, sale},
	{erp.GoodsSale, 250, saleByOrder},
	{erp.SupplierOrder, 779, supplierOrder},
	{erp.GoodsReceipt, 400, receiptByOrder},
	{erp.GoodsReceipt, 378, receipt},
	{erp.ServiceSale, 136, serviceSale},
	{erp.InvoiceIssued, 567, invoiceIssued},
	{erp.BankReceipt, 537, bankReceipt},
	{erp.InternalConsumption, 158, consumption},
	{erp.WarehouseIssueOrder, 339, issueOrder},
	{erp.SettlementRegistrar, 1622, registrar},
	{erp.OtherGoodsReceipt, 137, otherReceipt},
	{erp.ServicePurchase, 207, servicePurchase},
	{erp.InvoiceReceived, 1028, invoiceReceived},
	{erp.PaymentRequest, 1068, paymentRequest},
	{erp.BankPayment, 1067, bankPayment},
	{erp.WarehouseReceiptOrder, 286, receiptOrder},
	{erp.AssetCommissioning, 129, commissioning},
}

// trade is what a history of receipts and sales alone is made of.
var trade = []generator{{erp.GoodsSale, 4, sale}, {erp.GoodsReceipt, 1, receipt}}

// waitingMax is how many papers of a type wait for a document of another to be made of them; of older ones none comes any more.
const waitingMax = 1000

// history makes documents in the order of time, each by the rules that would post it.
type history struct {
	*base
	app     *metadata.Application
	types   map[string]*kind
	memory  *memory
	papers  map[id.ID]*paper // those that others may refer to
	waiting map[queue][]id.ID
	done    []id.ID // papers taken out of a queue since the last document
	issued  map[sequence]int64
	opening []opening // still to be made
	left    int       // documents after the opening still to be made
	at      time.Time
	step    time.Duration
}

// kind is a type of document as the history knows it.
type kind struct {
	rules    posting.Rules
	referred map[string]*document.ReferenceReader
	followed []string // the types that refer to it
}

// paper that is kept while it waits in queues.
type paper struct {
	*document.Document
	queues int
}

// queue of the papers of a type that an organisation will make a document of another type of, each once.
type queue struct {
	organisation id.ID
	kind, by     string
}

type sequence struct {
	organisation id.ID
	kind         string
}

// opening is a receipt that brings a part of a warehouse's assortment, or what lies on a bank account.
type opening struct {
	organisation *organisation
	account      id.ID
	warehouse    id.ID
	from, to     int // items
}

func newHistory(b *base) *history {
	app := erp.Metadata()
	h := &history{
		base: b, app: app, types: kindsOf(app), memory: newMemory(app), papers: map[id.ID]*paper{}, waiting: map[queue][]id.ID{},
		issued: map[sequence]int64{}, left: b.options.Documents, at: b.options.Until.Add(-historyLength),
	}
	for _, o := range b.organisations {
		for _, account := range o.banks() {
			h.opening = append(h.opening, opening{organisation: o, account: account})
		}
		for _, w := range o.warehouses {
			for from := 0; from < min(len(b.itemIDs), assortmentMax); from += openingLines {
				h.opening = append(h.opening, opening{o, id.ID{}, w, from, min(from+openingLines, len(b.itemIDs), assortmentMax)})
			}
		}
	}
	h.step = historyLength / time.Duration(h.total()+1)
	return h
}

func kindsOf(app *metadata.Application) map[string]*kind {
	kinds := map[string]*kind{}
	for name, rules := range erp.Rules() {
		kinds[name] = &kind{rules: rules, referred: map[string]*document.ReferenceReader{}}
	}
	for i := range app.Documents {
		meta := &app.Documents[i]
		name, k := meta.Name, kinds[meta.Name]
		attributes := meta.Attributes
		for i := range meta.Sections {
			attributes = append(attributes[:len(attributes):len(attributes)], meta.Sections[i].Attributes...)
		}
		for _, a := range attributes {
			for _, referred := range a.Documents {
				other, _ := app.Document(referred)
				k.referred[referred] = document.NewReferenceReader(other, k.rules.Reads()[referred]...)
				if !slices.Contains(kinds[referred].followed, name) {
					kinds[referred].followed = append(kinds[referred].followed, name)
				}
			}
		}
	}
	return kinds
}

func (h *history) total() int { return len(h.opening) + h.left }

// batch is the rows of some documents, by table.
type batch struct {
	documents int
	tables    []*rows
}

// batch makes up to batchSize documents; nil when there are no more.
func (h *history) batch() (*batch, error) {
	w := newWriter(h.app)
	for w.documents < batchSize && h.total() > 0 {
		d, records, err := h.document()
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

// document with its record sets.
func (h *history) document() (*document.Document, *posting.Records, error) {
	h.forget()
	h.at = h.at.Add(h.step).Truncate(time.Microsecond)
	if len(h.opening) > 0 {
		o := h.opening[0]
		h.opening = h.opening[1:]
		if !o.account.IsZero() {
			return h.record(openingCash(h, o))
		}
		return h.record(openingReceipt(h, o))
	}
	h.left--
	o := h.owner(len(h.organisations)) // any, by skew
	warehouse := o.warehouses[skew.Pick(h.rng.Rand, len(o.warehouses), skew.Mild)]
	if d := h.draw(o, warehouse); d != nil {
		_, records, err := h.record(d)
		var refusal *posting.Refusal
		if !errors.As(err, &refusal) {
			return d, records, err
		}
	}
	return h.record(receipt(h, o, warehouse))
}

func (h *history) draw(o *organisation, warehouse id.ID) *document.Document {
	makers, sum := generators, 0.0
	if h.options.Trade {
		makers = trade
	}
	for _, g := range makers {
		sum += g.often
	}
	at := h.rng.Float64() * sum
	for _, g := range makers {
		if at < g.often {
			return g.make(h, o, warehouse)
		}
		at -= g.often
	}
	return nil
}

// begin a document of the moment.
func (h *history) begin(kind string, o *organisation, comment string) *document.Document {
	meta, _ := h.app.Document(kind)
	d := document.New(meta)
	d.ID, d.Organisation, d.Date, d.Comment, d.Posted = id.At(h.at, h.rng.Uint64(), h.rng.Uint64()), o.id, h.at, comment, true
	d.Author = o.users[h.rng.IntN(len(o.users))]
	return d
}

// set an attribute of the header.
func set[T rowset.Value](d *document.Document, name string, v T) {
	rowset.Column[T](d.Header, name)[0] = v
}

// trade begins a document of goods with one of the partners.
func (h *history) trade(kind string, o *organisation, warehouse id.ID, with []deal, comment string) *document.Document {
	d := h.deal(kind, o, h.partner(with), comment)
	set(d, "warehouse", warehouse)
	return d
}

// deal begins a document under a contract.
func (h *history) deal(kind string, o *organisation, with deal, comment string) *document.Document {
	d := h.begin(kind, o, comment)
	set(d, "counterparty", with.counterparty)
	set(d, "contract", with.contract)
	return d
}

func (h *history) partner(with []deal) deal {
	return with[skew.Pick(h.rng.Rand, len(with), skew.Mild)]
}

func addLine(d *document.Document, item id.ID, q amount.Quantity) {
	lines := d.Section("lines")
	row := lines.Grow(1)
	rowset.Column[id.ID](lines, "item")[row], rowset.Column[amount.Quantity](lines, "quantity")[row] = item, q
}

// await puts a paper into the queues of the types that are made of it.
func (h *history) await(d *document.Document, by []string) {
	h.papers[d.ID] = &paper{d, len(by)}
	for _, kind := range by {
		q := queue{d.Organisation, d.Meta.Name, kind}
		if h.waiting[q] = append(h.waiting[q], d.ID); len(h.waiting[q]) > waitingMax {
			h.next(q)
		}
	}
}

// next takes the paper out of a queue that has waited longest; nil when there is none. It is kept until the next document.
func (h *history) next(q queue) *document.Document {
	if len(h.waiting[q]) == 0 {
		return nil
	}
	first := h.waiting[q][0]
	h.waiting[q], h.done = h.waiting[q][1:], append(h.done, first)
	return h.papers[first].Document
}

// forget the papers that wait no more.
func (h *history) forget() {
	for _, v := range h.done {
		if h.papers[v].queues--; h.papers[v].queues == 0 {
			delete(h.papers, v)
		}
	}
	h.done = nil
}

// follow copies to a document made by an order what they have in common, with all lines, and closes the order.
func (h *history) follow(kind, orderKind string, o *organisation) *document.Document {
	order := h.next(queue{o.id, orderKind, kind})
	if order == nil {
		return nil
	}
	d := h.begin(kind, o, "")
	for _, name := range []string{"warehouse", "counterparty", "contract"} {
		set(d, name, rowset.Column[id.ID](order.Header, name)[0])
	}
	set(d, "source_order", order.ID)
	quantity := rowset.Column[amount.Quantity](order.Section("lines"), "quantity")
	for i, item := range rowset.Column[id.ID](order.Section("lines"), "item") {
		addLine(d, item, quantity[i])
	}
	return d
}

// record lets the rules decide on what is in memory, and keeps what they did.
func (h *history) record(d *document.Document) (*document.Document, *posting.Records, error) {
	k := h.types[d.Meta.Name]
	facts := &posting.Facts{Catalogs: h.known, Documents: map[string]*document.Referred{}}
	for name, reader := range k.referred {
		var found []*document.Document
		d.References(func(a metadata.Attribute, v id.ID) {
			if referred := h.papers[v]; referred != nil && referred.Meta.Name == name {
				found = append(found, referred.Document)
			}
		})
		facts.Documents[name] = reader.Of(found...)
	}
	h.memory.answer(d, k.rules.Balances(d), facts)
	records, err := k.rules.Record(d, facts)
	if err == nil {
		if name := h.memory.duplicate(d, records); name != "" {
			err = &posting.Refusal{Control: name, Message: "stated before"}
		}
	}
	if err != nil {
		return d, nil, fmt.Errorf("%s: %w", d.Meta.Name, err)
	}
	h.memory.keep(d, records)
	s := sequence{d.Organisation, d.Meta.Name}
	h.issued[s]++
	d.Number = number.Format(d.Meta.Prefix, h.issued[s])
	if len(k.followed) > 0 {
		h.await(d, k.followed)
	}
	return d, records, nil
}

// numbers go on after the last one given.
func (h *history) numbers() *rows {
	r := &rows{name: "numbers", table: "plimsoll_number", columns: []string{"organisation", "kind", "next"}}
	for s, last := range h.issued {
		r.rows = append(r.rows, []any{s.organisation, s.kind, last + 1})
	}
	return r
}
