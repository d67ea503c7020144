package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/rowset"
)

// registrar sets off what a counterparty owes as a customer against what it is owed as a supplier; where there is nothing to be set off, a debt
// of one customer is taken over by another.
func registrar(h *history, o *organisation, _ id.ID) *document.Document {
	d := h.begin(erp.SettlementRegistrar, o, "")
	one := skew.Pick(h.rng.Rand, len(o.customers), skew.Mild)
	customer, supplier := o.customers[one], o.suppliers[one]
	owed := h.owed(o, erp.CustomerSettlements, customer.contract)
	if sum := min(owed, h.owed(o, erp.SupplierSettlements, supplier.contract)); sum > 0 {
		addClaim(d, supplier, true, sum, 0)
		addClaim(d, customer, false, 0, sum)
		return d
	}
	if owed <= 0 {
		owed = amount.Money(100 * (1 + h.rng.IntN(10_000)))
	}
	addClaim(d, h.partner(o.customers), false, owed, 0)
	addClaim(d, customer, false, 0, owed)
	return d
}

func addClaim(d *document.Document, of deal, supplier bool, debit, credit amount.Money) {
	lines := d.Section("lines")
	row := lines.Grow(1)
	rowset.Column[id.ID](lines, "contract")[row], rowset.Column[bool](lines, "supplier")[row] = of.contract, supplier
	rowset.Column[amount.Money](lines, "debit")[row], rowset.Column[amount.Money](lines, "credit")[row] = debit, credit
}
