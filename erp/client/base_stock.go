package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// listedMax is how many documents of a type, the newest, are searched for waiting ones.
const listedMax = 1000

// listed is a row of a list of documents, as far as needed.
type listed struct {
	ID                     id.ID
	Date                   time.Time
	Posted                 bool
	Counterparty, Contract id.ID
	Basis, Request         id.ID
	Amount                 amount.Money
}

func (l listed) contract() under { return under{l.ID, l.Contract} }

// documents of a type, newest first.
func (c *Client) documents(ctx context.Context, s *Session, documentType string) ([]listed, error) {
	var found struct{ Items []listed }
	err := c.fetch(ctx, s, "/v1/documents/"+documentType, fmt.Sprintf("limit=%d", listedMax), &found)
	return found.Items, err
}

// waitingFor returns the documents that have no follower yet, the oldest first. If the list of followers does not reach
// back to a document, nothing is known about it.
func waitingFor(all, followers []listed, basis func(listed) id.ID) (wait []listed) {
	followed, since := map[id.ID]bool{}, time.Time{}
	for _, f := range followers {
		followed[basis(f)] = true
	}
	if len(followers) == listedMax {
		since = followers[len(followers)-1].Date
	}
	for _, d := range slices.Backward(all) {
		if d.Posted && !followed[d.ID] && !d.Date.Before(since) {
			wait = append(wait, d)
		}
	}
	return wait
}

func ofBasis(l listed) id.ID   { return l.Basis }
func ofRequest(l listed) id.ID { return l.Request }

// mine reports whether a document found in the base belongs to this client's part of the load: its own provided
// documents do, and a share of all others.
func (c *Client) mine(v id.ID) bool {
	return c.options.Parts < 2 || int(v[len(v)-1])%c.options.Parts == c.options.Part || c.provided.has(v)
}

// loadStock finds what waits in the base. Documents are read before their followers, so that followers added meanwhile
// are known. It changes nothing in the base: people correct what they have just written, and changing an old document
// would put everything after it out of order.
func (o *office) loadStock(ctx context.Context, c *Client, s *Session) error {
	lists := map[string][]listed{}
	for _, documentType := range []string{"goods-sale", "service-sale", "goods-receipt", "service-purchase",
		"supplier-order", "payment-request", "bank-payment", "invoice-issued", "invoice-received"} {
		found, err := c.documents(ctx, s, documentType)
		if err != nil {
			return err
		}
		lists[documentType] = found
	}
	for _, sale := range lists["goods-sale"][:min(documentsMax, len(lists["goods-sale"]))] {
		o.documents = append(o.documents, sale.ID)
	}
	each := func(all, followers []listed, basis func(listed) id.ID, put func(listed)) {
		for _, d := range waitingFor(all, followers, basis) {
			if c.mine(d.ID) {
				put(d)
			}
		}
	}
	k := &o.stock
	for _, documentType := range []string{"goods-sale", "service-sale"} {
		each(lists[documentType], lists["invoice-issued"], ofBasis, func(d listed) { k.toInvoice.put(d.contract()) })
	}
	for _, documentType := range []string{"goods-receipt", "service-purchase"} {
		each(lists[documentType], lists["invoice-received"], ofBasis, func(d listed) {
			k.toEnter.put(purchase{documentType, d.contract()})
		})
		each(lists[documentType], lists["payment-request"], ofBasis, func(d listed) {
			k.toRequest.put(purchase{documentType, d.contract()})
		})
	}
	each(lists["supplier-order"], lists["payment-request"], ofBasis, func(d listed) {
		k.ordered.put(purchase{"supplier-order", d.contract()})
	})
	each(lists["payment-request"], lists["bank-payment"], ofRequest, func(d listed) {
		k.toPay.put(requested{d.ID, deal{d.Counterparty, d.Contract}, d.Amount})
	})
	return nil
}
