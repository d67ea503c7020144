package client

import (
	"context"
	"math/rand/v2"

	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
)

func postServiceSale(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	b := append(s.deal(d.customers, rng), `,"lines":[`...)
	for n := range 1 + rng.IntN(3) {
		if n > 0 {
			b = append(b, ',')
		}
		b = d.services[skew.Pick(rng, len(d.services), skew.Mild)].AppendText(append(b, `{"service":"`...))
		b = amount.Quantity(1000 * (1 + rng.IntN(5))).AppendText(append(b, `","quantity":"`...))
		b = append(b, `"}`...)
	}
	b = append(b, "]}"...)
	made, outcome, err := c.made(ctx, s, "service-sale", b, rng)
	if outcome == OK {
		d.stock.toInvoice.put(underContract(made, b))
	}
	return outcome, err
}

// deal starts the JSON of a document with one of the partners.
func (s *Session) deal(deals []deal, rng *rand.Rand) []byte {
	partner := deals[skew.Pick(rng, len(deals), skew.Mild)]
	b := partner.counterparty.AppendText(append(make([]byte, 0, 512), `{"counterparty":"`...))
	return append(partner.contract.AppendText(append(b, `","contract":"`...)), '"')
}
