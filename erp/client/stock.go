package client

import (
	"bytes"
	"slices"
	"sync"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

const (
	// waitingMax bounds what waits for one operation; the oldest is dropped.
	waitingMax = 1000
	// keptMax bounds the sales, and the receipts, that are kept to be changed: a few are enough, since they come back,
	// and kept ones are not invoiced.
	keptMax = 16
)

// stock is what the people of an organisation hand over to each other: the documents that operations act on. Whoever
// acts takes a document, so that no two act on it at once, and returns it if it can be acted on again.
//
//	posted ──put──▶ waiting ──take──▶ in hand ──done──▶ forgotten
//	                   ▲                 │
//	                   └──────put────────┘  changed, or the worker shed the request
type stock struct {
	toInvoice    waiting[under]        // sales that are not invoiced
	toEnter      waiting[purchase]     // purchases that wait for an invoice
	toRequest    waiting[purchase]     // purchases that wait for a payment request
	ordered      waiting[purchase]     // orders at suppliers, which may be paid ahead
	toPay        waiting[requested]    // requests that wait to be paid
	toCommission waiting[commissioned] // assets
	sales        waiting[standing]     // to be changed
	receipts     waiting[standing]

	numbered   waiting[[]byte] // purchases of services that have a supplier's number
	references waiting[string] // of the bank

	held held
}

// under is a document under a contract.
type under struct{ id, contract id.ID }

// underContract finds the contract in a document's body: the first field of that name.
func underContract(made id.ID, body []byte) under {
	const name = `"contract":"`
	u := under{id: made}
	if at := bytes.Index(body, []byte(name)); at >= 0 &&
		u.contract.UnmarshalText(body[at+len(name):][:idLength]) != nil {
		u.contract = id.ID{}
	}
	return u
}

// idLength of an id in text.
const idLength = 36

// invoice starts the JSON of an invoice of the document.
func (u under) invoice() []byte {
	b := u.id.AppendText(append(make([]byte, 0, 160), `{"basis":"`...))
	return append(u.contract.AppendText(append(b, `","contract":"`...)), '"')
}

// purchase is a document of a type of the API.
type purchase struct {
	kind string
	under
}

// commissioned is an asset and, when it is in use, the document that commissioned it.
type commissioned struct{ asset, document id.ID }

// requested payment.
type requested struct {
	id     id.ID
	deal   deal
	amount amount.Money
}

// standing is a posted document of a warehouse that may be changed.
type standing struct{ id, warehouse id.ID }

// buy hands a purchase over to be invoiced and paid.
func (k *stock) buy(p purchase) {
	k.toEnter.put(p)
	k.toRequest.put(p)
}

// keep a sale or a receipt to be changed; until then it is not moved to or from cells.
func (k *stock) keep(w *waiting[standing], v standing) {
	k.held.take(v.id)
	w.put(v)
}

// back returns a kept document, unless it could not be changed: then another one takes its place.
func (k *stock) back(w *waiting[standing], v standing, outcome Outcome) {
	if outcome == OK || outcome == Overloaded {
		w.put(v)
		return
	}
	k.held.release(v.id)
}

// held are the documents that nobody else may act on: those kept to be changed, and those in work.
type held struct {
	mutex sync.Mutex
	ids   map[id.ID]bool
}

// take returns false if somebody else has it.
func (h *held) take(v id.ID) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.ids[v] {
		return false
	}
	if h.ids == nil {
		h.ids = map[id.ID]bool{}
	}
	h.ids[v] = true
	return true
}

func (h *held) has(v id.ID) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.ids[v]
}

func (h *held) release(v id.ID) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.ids, v)
}

// free are the documents that nobody has.
func (h *held) free(all []id.ID) []id.ID {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.DeleteFunc(all, func(v id.ID) bool { return h.ids[v] })
}

// waiting is a queue of documents that wait, and of those dealt with last.
type waiting[T any] struct {
	mutex sync.Mutex
	all   []T
	last  T
	known bool
}

func (w *waiting[T]) put(v T) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.all = append(w.all, v); len(w.all) > waitingMax {
		w.all = w.all[1:]
	}
}

// take what has waited longest; false if nothing waits.
func (w *waiting[T]) take() (v T, found bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.all) == 0 {
		return v, false
	}
	v, w.all = w.all[0], w.all[1:]
	return v, true
}

// count what waits.
func (w *waiting[T]) count() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.all)
}

// ended records the outcome for a document that had waited: it is remembered, or waits again if the worker did not
// start.
func (w *waiting[T]) ended(v T, outcome Outcome) {
	switch outcome {
	case OK:
		w.done(v)
	case Overloaded:
		w.put(v)
	}
}

// done remembers what has been dealt with.
func (w *waiting[T]) done(v T) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.last, w.known = v, true
}

// lastDealt returns what was dealt with last, for an operation that must be refused; false if nothing was.
func (w *waiting[T]) lastDealt() (v T, known bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.last, w.known
}

// forget what was dealt with last.
func (w *waiting[T]) forget() (v T, known bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	v, known = w.last, w.known
	w.known = false
	return v, known
}
