package client

import (
	"sync"

	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// bought is what the people of a warehouse hand over to each other of what has been bought: purchases that an invoice is still to come for, those that a payment
// is still to be requested of, and requests that are to be paid.
type bought struct {
	toEnter   waiting[purchase]
	toRequest waiting[purchase]
	toPay     waiting[requested]
	numbered  waiting[[]byte] // purchases of services that have a number of the supplier
	assets    waiting[commissioned]
}

// purchase is a document of a type of the API.
type purchase struct {
	kind string
	under
}

// requested payment.
type requested struct {
	id     id.ID
	with   deal
	amount amount.Money
}

// commissioned is an asset in use, and the document that has put it there.
type commissioned struct{ asset, document id.ID }

func (b *bought) add(p purchase) {
	b.toEnter.put(p)
	b.toRequest.put(p)
}

// waiting is a queue of what waits to be dealt with, at most handedMax, and what has been dealt with last.
type waiting[T any] struct {
	mutex sync.Mutex
	all   []T
	last  T
	known bool
}

func (w *waiting[T]) put(v T) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.all = append(w.all, v); len(w.all) > handedMax {
		w.all = w.all[1:]
	}
}

// take what has waited longest; false when nothing waits.
func (w *waiting[T]) take() (v T, found bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.all) == 0 {
		return v, false
	}
	v, w.all = w.all[0], w.all[1:]
	return v, true
}

// some waits.
func (w *waiting[T]) some() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.all) > 0
}

// done remembers what has been dealt with.
func (w *waiting[T]) done(v T) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.last, w.known = v, true
}

// again is what has been dealt with last, for who is to be refused; false when nothing has.
func (w *waiting[T]) again() (v T, known bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.last, w.known
}

// forget what has been dealt with last.
func (w *waiting[T]) forget() (v T, known bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	v, known = w.last, w.known
	w.known = false
	return v, known
}
