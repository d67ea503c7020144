package client

import (
	"bytes"
	"sync"

	"plimsoll/platform/id"
)

// handedMax bounds what is kept for others; older papers are forgotten.
const handedMax = 1000

// handed is what the people of a warehouse hand over to each other: documents that another one is still to be made of, and what is known
// to be there once, for those who are to be refused.
type handed struct {
	mutex     sync.Mutex
	toInvoice []under
	invoiced  under  // the last one
	reference string // the last one of the bank
}

// under is a document under a contract.
type under struct{ id, contract id.ID }

// of a document that has been made of a body with a contract, which comes before whatever else might be called so.
func of(made id.ID, body []byte) under {
	const name = `"contract":"`
	u := under{id: made}
	if at := bytes.Index(body, []byte(name)); at >= 0 && u.contract.UnmarshalText(body[at+len(name):][:idLength]) != nil {
		u.contract = id.ID{}
	}
	return u
}

// idLength of an id in text.
const idLength = 36

// invoice begins the JSON of an invoice of the document.
func (u under) invoice() []byte {
	b := u.id.AppendText(append(make([]byte, 0, 160), `{"basis":"`...))
	return append(u.contract.AppendText(append(b, `","contract":"`...)), '"')
}

// sold hands a sale over to be invoiced.
func (h *handed) sold(sale under) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.toInvoice = append(h.toInvoice, sale); len(h.toInvoice) > handedMax {
		h.toInvoice = h.toInvoice[1:]
	}
}

// invoice takes the sale that has waited longest; false when there is none.
func (h *handed) invoice() (sale under, found bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.toInvoice) == 0 {
		return sale, false
	}
	sale, h.toInvoice = h.toInvoice[0], h.toInvoice[1:]
	return sale, true
}

// some sale waits.
func (h *handed) some() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return len(h.toInvoice) > 0
}

// remember what is there now.
func (h *handed) remember(invoiced under, reference string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if invoiced != (under{}) {
		h.invoiced = invoiced
	}
	if reference != "" {
		h.reference = reference
	}
}

// there is what is there already; zero when nothing is known.
func (h *handed) there() (invoiced under, reference string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.invoiced, h.reference
}
