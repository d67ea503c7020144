package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/id"
)

// postPaymentRequest opens a purchase that has not been paid and requests its payment; of some again, which must be refused. When none waits, a payment ahead is
// requested.
func postPaymentRequest(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	waiting := &s.directory.bought.toRequest
	of, again := waiting.again()
	if again = again && rng.Float64() < c.options.RefusedShare; !again {
		found := false
		if of, found = waiting.take(); !found {
			return c.request(ctx, s, "", s.ahead(rng), rng)
		}
	}
	payment, outcome, err := c.purchased(ctx, s, of)
	if outcome != OK {
		return outcome, err
	}
	outcome, err = c.request(ctx, s, of.id.String(), payment, rng)
	switch {
	case outcome == OK && again:
		return Failed, errors.New("the payment of a purchase was requested twice: the control did not refuse")
	case outcome == OK:
		waiting.done(of)
	}
	return outcome, err
}

// ahead is a payment to one of the suppliers.
func (s *Session) ahead(rng *rand.Rand) requested {
	d := s.directory
	return requested{with: d.suppliers[skew.Pick(rng, len(d.suppliers), skew.Mild)], amount: amount.Money(100 * (1 + rng.Int64N(100_000)))}
}

// purchased is what a purchase comes to, as its card says.
func (c *Client) purchased(ctx context.Context, s *Session, of purchase) (requested, Outcome, error) {
	r, err := c.send(ctx, s, http.MethodGet, "/v1/documents/"+of.kind+"/"+of.id.String(), "", nil, "")
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
		return requested{}, Failed, fmt.Errorf("the card of a purchase has no total: %v", err)
	}
	return requested{with: deal{card.Counterparty, card.Contract}, amount: card.Total}, OK, nil
}

// paying begins the JSON of a payment or of a request.
func paying(p requested) []byte {
	b := p.with.counterparty.AppendText(append(make([]byte, 0, 384), `{"counterparty":"`...))
	b = p.with.contract.AppendText(append(b, `","contract":"`...))
	return append(p.amount.AppendText(append(b, `","amount":"`...)), '"')
}

// request a payment, and hand it over to be paid.
func (c *Client) request(ctx context.Context, s *Session, basis string, p requested, rng *rand.Rand) (Outcome, error) {
	b := paying(p)
	if basis != "" {
		b = append(append(append(b, `,"basis":"`...), basis...), '"')
	}
	made, outcome, err := c.made(ctx, s, "payment-request", append(b, '}'), rng)
	if outcome == OK {
		p.id = made
		s.directory.bought.toPay.put(p)
	}
	return outcome, err
}

// postBankPayment by a request that waits for it; of some more than has been requested, which must be refused. When none waits, a payment is requested.
func postBankPayment(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	p, found := d.bought.toPay.take()
	if !found {
		return c.request(ctx, s, "", s.ahead(rng), rng)
	}
	asked, more := p, rng.Float64() < c.options.RefusedShare
	if more {
		p.amount++
	}
	b := p.id.AppendText(append(paying(p), `,"request":"`...))
	b = d.bankAccounts[rng.IntN(len(d.bankAccounts))].AppendText(append(b, `","cash_account":"`...))
	b = append(append(append(b, `","bank_reference":"`...), c.reference(rng)...), `"}`...)
	_, outcome, err := c.made(ctx, s, "bank-payment", b, rng)
	if more {
		d.bought.toPay.put(asked) // to be paid yet
		if outcome == OK {
			return Failed, errors.New("more was paid than requested: the control did not refuse")
		}
	}
	return outcome, err
}
