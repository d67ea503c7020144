package fill

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/erp/books"
	"plimsoll/erp/invoices"
	"plimsoll/erp/skew"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/number"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// LinesAverage is the average number of lines of a goods document; it gives as many cost movements as the report's
// base has. No document has fewer than linesLeast.
const (
	LinesAverage = 15.5
	linesLeast   = 5
)

const (
	openingLines = 100
	// dealsActive is how many counterparties of an organisation are traded with: the big ones. The others only fill
	// the catalog.
	dealsActive = 20_000
)

// generator makes documents of one type as the people of an organisation would. It returns nil when there is nothing
// to make a document of now, or when the rules refuse it.
type generator func(h *history) *document.Document

// generators of all types in a history. A new type adds its generator here and its count to the proportions.
var generators = map[string]generator{
	books.CustomerOrder:         order,
	books.GoodsSale:             sale,
	books.SupplierOrder:         supplierOrder,
	books.GoodsReceipt:          receipt,
	books.ServiceSale:           serviceSale,
	books.InvoiceIssued:         invoiceIssued,
	books.BankReceipt:           bankReceipt,
	books.InternalConsumption:   consumption,
	books.WarehouseIssueOrder:   issueOrder,
	books.SettlementRegistrar:   registrar,
	books.OtherGoodsReceipt:     otherReceipt,
	books.ServicePurchase:       servicePurchase,
	books.InvoiceReceived:       invoiceReceived,
	books.PaymentRequest:        paymentRequest,
	books.BankPayment:           bankPayment,
	books.WarehouseReceiptOrder: receiptOrder,
	books.AssetCommissioning:    commissioning,
}

// waitingMax is how many documents of a type wait for a follow-up document of another type; older ones get none. All
// sales and purchases are invoiced, so those may wait longer; prepayments do not wait until all of it is shipped.
const (
	waitingMax  = 250
	invoicesMax = 4000
	paymentsMax = 20
)

// history makes the documents of an organisation in order of time, by the rules that would post them.
type history struct {
	*base
	o        *organisation
	rng      words // of the unit of work
	types    map[string]*kind
	memory   *memory
	papers   map[id.ID]*keptDocument // those that others may refer to
	waiting  map[queue][]id.ID
	taken    []taken // papers taken out of a queue since the last document
	issued   map[string]int64
	facts    posting.Facts
	found    map[string]*document.Referred // of the document in work, when there are any
	referred []*document.Referred          // those of them that are its own
	left     []int                         // still to be made, by the number of their type
	at       time.Time
	foreigns int // numbers that partners and banks have given

	assetsLeft int           // that nothing has been spent on: the first ones
	invested   []id.ID       // assets to be commissioned
	spent      map[id.ID]int // numbers of the assets that are not commissioned yet
}

// keptDocument is a document that is kept while it waits in queues.
type keptDocument struct {
	*document.Document
	queues int
}

// queue of documents of one type that each wait for a follow-up of another type.
type queue struct{ kind, follower string }

type taken struct {
	document id.ID
	from     queue
}

func (b *base) history(o *organisation) *history {
	b.loadElements(o)
	return &history{
		base: b, o: o, types: b.ownKinds(), memory: newMemory(b.app), papers: map[id.ID]*keptDocument{},
		waiting: map[queue][]id.ID{},
		issued:  map[string]int64{}, facts: newFacts(), found: map[string]*document.Referred{},
		left:       make([]int, len(historyTypes)),
		assetsLeft: o.assets.count, spent: map[id.ID]int{},
	}
}

// part makes the documents of one part of the history and passes each on; parts follow one another. A document that
// cannot be made yet is left to the next part; in the last part it becomes a goods receipt.
func (h *history) part(n int, each func(*document.Document, *posting.Records) error) error {
	parts := h.o.parts
	h.rng = words{h.chance(ofUnit, h.o.n, n)}
	total := 0
	for i, name := range historyTypes {
		h.left[i] += h.o.documents[n][name]
		total += h.left[i]
	}
	var opening []func() *document.Document
	if n == 0 {
		opening = h.opening()
	}
	from, step := parts[n].from, parts[n].to.Sub(parts[n].from)/time.Duration(total+len(opening)+1)
	for i := range total + len(opening) {
		h.at = from.Add(time.Duration(i+1) * step).Truncate(time.Microsecond)
		var d *document.Document
		var records *posting.Records
		var err error
		if i < len(opening) {
			d = opening[i]()
			records, err = h.record(d)
		} else if d, records, err = h.next(); d == nil && err == nil {
			if n < len(parts)-1 {
				break // the others wait for what the next part brings
			}
			d, records, err = h.instead()
		}
		if err == nil {
			err = each(d, records)
		}
		if err != nil {
			return err
		}
		h.written(d, records)
	}
	return nil
}

// next document. Its type is drawn in proportion to what is left; nil when no document that is left can be made.
func (h *history) next() (*document.Document, *posting.Records, error) {
	sum, blocked := 0, []bool(nil)
	for _, some := range h.left {
		sum += some
	}
	for sum > 0 {
		n := h.draw(sum, blocked)
		h.release()
		if d := generators[historyTypes[n]](h); d != nil {
			records, err := h.record(d)
			var refusal *posting.Refusal
			if !errors.As(err, &refusal) {
				h.left[n]--
				return d, records, err
			}
		}
		if blocked == nil {
			blocked = make([]bool, len(historyTypes))
		}
		blocked[n], sum = true, sum-h.left[n]
	}
	return nil, nil, nil
}

// draw the number of a type.
func (h *history) draw(sum int, blocked []bool) int {
	at := h.rng.IntN(sum)
	for n, some := range h.left {
		if blocked != nil && blocked[n] {
			continue
		}
		if at -= some; at < 0 {
			return n
		}
	}
	panic("fill: nothing is left to be drawn")
}

// historyTypes are the types of documents in a history, by number.
var historyTypes = typesOf()

// instead receives goods where a document cannot be made.
func (h *history) instead() (*document.Document, *posting.Records, error) {
	if n := slices.IndexFunc(h.left, func(some int) bool { return some > 0 }); n >= 0 {
		h.left[n]--
	}
	h.release()
	d := h.received()
	records, err := h.record(d)
	return d, records, err
}

// begin a document at the current moment.
func (h *history) begin(kind, comment string) *document.Document {
	k := h.types[kind]
	d := document.Of(k.meta, id.At(h.at, h.rng.Uint64(), h.rng.Uint64()), k.room)
	d.Organisation = h.o.id
	d.Date = h.at
	d.Comment = comment
	d.Posted = true
	d.Author = h.o.users[h.rng.IntN(len(h.o.users))]
	d.Number = number.Format(d.Meta.Prefix, h.issued[kind]+1) // it counts when the document is recorded
	d.Seal()
	return d
}

// set an attribute of the header.
func set[T rowset.Value](d *document.Document, name string, v T) {
	rowset.Column[T](d.Header, name)[0] = v
}

// trade begins a goods document with one of the partners.
func (h *history) trade(kind string, warehouse id.ID, partner deal, comment string) *document.Document {
	d := h.deal(kind, partner, comment)
	set(d, "warehouse", warehouse)
	return d
}

// deal begins a document under a contract.
func (h *history) deal(kind string, partner deal, comment string) *document.Document {
	d := h.begin(kind, comment)
	set(d, "counterparty", partner.counterparty)
	set(d, "contract", partner.contract)
	return d
}

func (h *history) customer() deal { return h.dealOf(h.active(), 0) }
func (h *history) supplier() deal { return h.dealOf(h.active(), 1) }

// active counterparty: the first ones are big.
func (h *history) active() int {
	return skew.Pick(h.rng.Rand, min(h.o.counterparties.count, dealsActive), skew.Mild)
}

// dealOf a counterparty as customer (0) or supplier (1), mostly under the first contract of its kind.
func (h *history) dealOf(counterparty, side int) deal {
	candidates := h.o.contractsOf(counterparty)
	return h.dealWith(counterparty, candidates.first+side+
		contractsLeast*skew.Pick(h.rng.Rand, (candidates.count-side+1)/contractsLeast, skew.Strong))
}

func (h *history) dealWith(counterparty, contract int) deal {
	return deal{h.id(counterparties, h.o.counterparties.first+counterparty), h.contractID(h.o, contract)}
}

// addressedShare of the goods documents use an addressed warehouse, whatever its rank, so that warehouse orders have
// enough to carry.
const addressedShare = 0.35

// warehouse of the organisation: the first ones are hot.
func (h *history) warehouseDrawn() id.ID {
	if len(h.o.addressed) > 0 && h.rng.Float64() < addressedShare {
		return h.o.warehouses[h.o.addressed[skew.Pick(h.rng.Rand, len(h.o.addressed), skew.Mild)]]
	}
	return h.o.warehouses[skew.Pick(h.rng.Rand, len(h.o.warehouses), skew.Mild)]
}

// itemDrawn is the number of an item: the first ones are hot.
func (h *history) itemDrawn() int { return skew.Pick(h.rng.Rand, len(h.itemIDs), skew.Strong) }

func addLine(d *document.Document, item id.ID, q amount.Quantity) {
	lines := d.Section("lines")
	row := lines.Grow(1)
	rowset.Column[id.ID](lines, "item")[row], rowset.Column[amount.Quantity](lines, "quantity")[row] = item, q
}

// await queues a document for the types that follow it.
func (h *history) await(d *document.Document) {
	p := &keptDocument{Document: d}
	for _, follower := range h.types[d.Meta.Name].followed {
		if !h.mayFollow(d, follower) {
			continue
		}
		p.queues++
		h.papers[d.ID] = p
		q := queue{d.Meta.Name, follower}
		most := waitingMax
		if invoiced := invoices.InvoicedBy(follower); invoiced != nil {
			most = invoicesMax
			if invoiced.Payment == d.Meta.Name {
				most = paymentsMax
			}
		}
		if h.waiting[q] = append(h.waiting[q], d.ID); len(h.waiting[q]) > most {
			first := h.waiting[q][0]
			h.waiting[q] = h.waiting[q][1:]
			h.forgetWaiting(first)
		}
	}
	if p.queues == 0 {
		h.memory.forget(d)
	}
}

// mayFollow reports whether a document of another type may follow.
func (h *history) mayFollow(d *document.Document, follower string) bool {
	switch follower {
	case books.SettlementRegistrar: // the registrars of a history are between contracts
		return false
	case books.GoodsSale: // of an order that reserves one of each nothing comes
		return h.severalOfEach(d)
	case books.InvoiceIssued, books.InvoiceReceived:
		return invoices.InvoicedBy(follower).Payment != d.Meta.Name ||
			d.Comment != openingComment && h.isAhead(follower, d)
	case books.BankPayment:
		return d.Meta.Name == books.PaymentRequest
	case books.WarehouseReceiptOrder, books.WarehouseIssueOrder:
		register := books.ToReceive.Name()
		if follower == books.WarehouseIssueOrder {
			register = books.ToShip.Name()
		}
		lines := d.Section("lines")
		return lines.Rows() > 0 && h.memory.balance(register, d.ID, rowset.Column[id.ID](lines, "item")[0]) > 0
	}
	return true
}

// take the document that has waited longest from a queue; nil when there is none. It is kept until the next document.
func (h *history) takeOf(q queue) *document.Document {
	if len(h.waiting[q]) == 0 {
		return nil
	}
	first := h.waiting[q][0]
	h.waiting[q], h.taken = h.waiting[q][1:], append(h.taken, taken{first, q})
	return h.papers[first].Document
}

// untake the document taken last, because something else may follow from it.
func (h *history) untake() {
	last := h.taken[len(h.taken)-1]
	h.taken = h.taken[:len(h.taken)-1]
	h.waiting[last.from] = slices.Insert(h.waiting[last.from], 0, last.document)
}

// release the documents taken.
func (h *history) release() {
	for _, t := range h.taken {
		h.forgetWaiting(t.document)
	}
	h.taken = h.taken[:0]
}

func (h *history) forgetWaiting(v id.ID) {
	p := h.papers[v]
	if p.queues--; p.queues == 0 {
		delete(h.papers, v)
		h.memory.forget(p.Document)
		releaseDocument(p.Document)
	}
}

// follow copies the shared attributes and all lines of an order to a document made from it, and closes the order.
func (h *history) follow(kind, orderKind string) *document.Document {
	order := h.takeOf(queue{orderKind, kind})
	if order == nil {
		return nil
	}
	d := h.begin(kind, "")
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

// numbers continue after the last one given.
func (h *history) numbers() (all [][]any) {
	for _, name := range historyTypes {
		if last := h.issued[name]; last > 0 {
			all = append(all, []any{h.o.id, name, last + 1})
		}
	}
	return all
}

// External numbers, such as a supplier's; no two of an organisation are the same.
func (h *history) foreign(format string) string {
	h.foreigns++
	return fmt.Sprintf(format, h.foreigns)
}
