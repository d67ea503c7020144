package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

// investedEvery n-th purchase of services is for an asset that will be commissioned.
const investedEvery = 3

func servicePurchase(h *history, o *organisation, _ id.ID) *document.Document {
	d := h.deal(erp.ServicePurchase, o, h.partner(o.suppliers), "")
	set(d, "supplier_number", h.supplierNumber())
	if asset, found := o.asset(); found && h.rng.IntN(investedEvery) == 0 {
		set(d, "asset", asset)
		o.assets, o.invested = o.assets[:len(o.assets)-1], append(o.invested, asset)
	} else {
		set(d, "department", o.departments[skew.Pick(h.rng.Rand, len(o.departments), skew.Mild)])
		set(d, "expense_item", o.expenseItems[h.rng.IntN(len(o.expenseItems))])
	}
	h.addServices(d)
	return d
}

// asset that nothing has been spent on: the last one, so that the first ones are left for users.
func (o *organisation) asset() (asset id.ID, found bool) {
	if len(o.assets) == 0 {
		return asset, false
	}
	return o.assets[len(o.assets)-1], true
}
