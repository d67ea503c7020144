package client

import (
	"sync"

	"plimsoll/platform/id"
)

// handedMax bounds what is kept for others; older papers are forgotten.
const handedMax = 1000

// handed is what the people of a warehouse hand over to each other: documents that another one is still to be made of, and what is known
// to be there once, for those who are to be refused.
type handed struct {
	mutex     sync.Mutex
	toInvoice []id.ID
	invoiced  id.ID  // the last one
	reference string // the last one of the bank
}

// sold hands a sale over to be invoiced.
func (h *handed) sold(sale id.ID) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.toInvoice = append(h.toInvoice, sale); len(h.toInvoice) > handedMax {
		h.toInvoice = h.toInvoice[1:]
	}
}

// invoice takes the sale that has waited longest; false when there is none.
func (h *handed) invoice() (sale id.ID, found bool) {
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
func (h *handed) remember(invoiced id.ID, reference string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !invoiced.IsZero() {
		h.invoiced = invoiced
	}
	if reference != "" {
		h.reference = reference
	}
}

// there is what is there already; zero when nothing is known.
func (h *handed) there() (invoiced id.ID, reference string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.invoiced, h.reference
}
