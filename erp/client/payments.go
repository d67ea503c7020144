package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"plimsoll/erp/operations"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// orderedShare of the requests are for an order at a supplier, as in a filled base, so that enough is paid ahead.
const orderedShare = 1.0 / 7

// postPaymentRequest opens a purchase that has not been paid, or an order to be paid ahead, and requests its payment;
// for some a second time, which must be refused. If none waits, it buys services.
func postPaymentRequest(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	k := &s.directory.stock
	basis, again := k.toRequest.lastDealt()
	from := &k.toRequest
	if again = again && rng.Float64() < c.options.RefusedShare; !again {
		if basis, from = k.toBeRequested(rng); from == nil {
			return c.instead(ctx, s, operations.PaymentRequestPost, rng)
		}
	}
	payment, outcome, err := c.purchased(ctx, s, basis)
	if outcome == OK {
		outcome, err = c.request(ctx, s, basis.id.String(), payment, rng)
	}
	if again {
		if outcome == OK {
			return Failed, errors.New("the payment of a purchase was requested twice: the control did not refuse")
		}
		return outcome, err
	}
	from.ended(basis, outcome)
	return outcome, err
}

// toBeRequested is a document whose payment has not been requested, and the queue it waited in; nil: there is none.
func (k *stock) toBeRequested(rng *rand.Rand) (purchase, *waiting[purchase]) {
	first, second := &k.toRequest, &k.ordered
	if rng.Float64() < orderedShare {
		first, second = second, first
	}
	for _, from := range []*waiting[purchase]{first, second} {
		if basis, found := from.take(); found {
			return basis, from
		}
	}
	return purchase{}, nil
}

// purchased is the total of a purchase, from its card.
func (c *Client) purchased(ctx context.Context, s *Session, basis purchase) (requested, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, "/v1/documents/"+basis.kind+"/"+basis.id.String(), "", nil)
	if err != nil {
		return requested{}, Failed, err
	}
	defer r.free()
	if outcome, err := r.outcome(); outcome != OK {
		return requested{}, outcome, err
	}
	var card struct {
		Counterparty, Contract id.ID
		Total                  amount.Money
	}
	if err := json.Unmarshal(r.body.Bytes(), &card); err != nil || card.Total == 0 {
		return requested{}, Failed, fmt.Errorf("the card of a purchase has no total: %w", err)
	}
	return requested{deal: deal{card.Counterparty, card.Contract}, amount: card.Total}, OK, nil
}

// paying starts the JSON of a payment or of a request.
func paying(p requested) []byte {
	b := p.deal.counterparty.AppendText(append(make([]byte, 0, 384), `{"counterparty":"`...))
	b = p.deal.contract.AppendText(append(b, `","contract":"`...))
	return append(p.amount.AppendText(append(b, `","amount":"`...)), '"')
}

// request a payment, and hand the request over to be paid.
func (c *Client) request(ctx context.Context, s *Session, basis string, p requested, rng *rand.Rand) (Outcome, error) {
	b := paying(p)
	if basis != "" {
		b = append(append(append(b, `,"basis":"`...), basis...), '"')
	}
	made, outcome, err := c.made(ctx, s, "payment-request", append(b, '}'), rng)
	if outcome == OK {
		p.id = made
		s.directory.stock.toPay.put(p)
	}
	return outcome, err
}

// postBankPayment for a waiting request; for some more than was requested, which must be refused. If none waits, it
// requests a payment.
func postBankPayment(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	p, found := d.stock.toPay.take()
	if !found {
		return c.instead(ctx, s, operations.BankPaymentPost, rng)
	}
	asked, more := p, rng.Float64() < c.options.RefusedShare
	if more {
		p.amount++
	}
	b := p.id.AppendText(append(paying(p), `,"request":"`...))
	b = d.bankAccounts[rng.IntN(len(d.bankAccounts))].AppendText(append(b, `","cash_account":"`...))
	b = append(append(append(b, `","bank_reference":"`...), c.reference(rng)...), `"}`...)
	_, outcome, err := c.made(ctx, s, "bank-payment", b, rng)
	if more && outcome == OK {
		return Failed, errors.New("more was paid than requested: the control did not refuse")
	}
	if more || outcome == Overloaded {
		d.stock.toPay.put(asked) // to be paid yet
	}
	return outcome, err
}
