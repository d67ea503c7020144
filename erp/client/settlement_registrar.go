package client

import (
	"context"
	"errors"
	"math/rand/v2"

	"plimsoll/erp/skew"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// postRegistrar sets a customer's debt off against one to a supplier; in some the two sides differ, and must be
// refused.
func postRegistrar(c *Client, ctx context.Context, s *Session, rng *rand.Rand) (Outcome, error) {
	d := s.directory
	customer := d.customers[skew.Pick(rng, len(d.customers), skew.Mild)]
	supplier := d.suppliers[skew.Pick(rng, len(d.suppliers), skew.Mild)]
	sum, unequal := amount.Money(100*(1+rng.Int64N(10_000))), rng.Float64() < c.options.RefusedShare
	b := claim([]byte(`{"lines":[`), supplier.contract, true, "debit", sum)
	if unequal {
		sum++
	}
	b = claim(append(b, ','), customer.contract, false, "credit", sum)
	_, outcome, err := c.made(ctx, s, "settlement-registrar", append(b, "]}"...), rng)
	if unequal && outcome == OK {
		return Failed, errors.New("setting off debts changed their total: the control did not refuse")
	}
	return outcome, err
}

func claim(b []byte, contract id.ID, supplier bool, side string, sum amount.Money) []byte {
	b = contract.AppendText(append(b, `{"contract":"`...))
	b = append(b, `","supplier":`...)
	if supplier {
		b = append(b, "true"...)
	} else {
		b = append(b, "false"...)
	}
	b = append(append(append(b, `,"`...), side...), `":"`...)
	return append(sum.AppendText(b), `"}`...)
}
