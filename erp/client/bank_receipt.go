package client

import (
	"context"
	"errors"
	"math/rand/v2"

	"plimsoll/platform/data/amount"
)

// postBankReceipt of a sum; some repeat an existing reference, and must be refused.
func postBankReceipt(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	account, reference := d.bankAccounts[0], c.reference(rng)
	used, known := d.stock.references.lastDealt()
	twice := rng.Float64() < c.options.RefusedShare && known
	if twice {
		reference = used
	}
	b := account.AppendText(append(s.deal(d.customers, rng), `,"cash_account":"`...))
	b = append(append(append(b, `","bank_reference":"`...), reference...), `","amount":"`...)
	b = amount.Money(100 * (1 + rng.Int64N(100_000))).AppendText(b)
	_, outcome, err := c.made(ctx, s, "bank-receipt", append(b, `"}`...), rng)
	switch {
	case outcome == OK && twice:
		return Failed, errors.New("a bank reference was accepted twice: the control did not refuse")
	case outcome == OK:
		d.stock.references.done(reference)
	}
	return outcome, err
}
