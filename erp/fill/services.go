package fill

import (
	"plimsoll/erp/books"
	"plimsoll/erp/skew"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// Every investedEvery-th purchase of services is for an asset that will be commissioned.
const investedEvery = 3

func servicePurchase(h *history) *document.Document {
	d := h.deal(books.ServicePurchase, h.supplier(), "")
	set(d, "supplier_number", h.foreign("%d"))
	if asset, found := h.asset(); found && h.rng.IntN(investedEvery) == 0 {
		set(d, "asset", asset)
		h.spendOn(asset)
		h.invested = append(h.invested, asset)
	} else {
		h.spend(d)
	}
	h.addServices(d)
	return d
}

// spend on a department.
func (h *history) spend(d *document.Document) {
	set(d, "department", h.o.departments[skew.Pick(h.rng.Rand, len(h.o.departments), skew.Mild)])
	set(d, "expense_item", h.o.expenseItems[h.rng.IntN(len(h.o.expenseItems))])
}

func serviceSale(h *history) *document.Document {
	d := h.deal(books.ServiceSale, h.customer(), "")
	h.addServices(d)
	return d
}

// addServices to the lines of a document.
func (h *history) addServices(d *document.Document) {
	lines := d.Section("lines")
	for range 1 + h.rng.IntN(3) {
		row := lines.Grow(1)
		rowset.Column[id.ID](lines, "service")[row] = h.serviceIDs[skew.Pick(h.rng.Rand, len(h.serviceIDs), skew.Mild)]
		rowset.Column[amount.Quantity](lines, "quantity")[row] = amount.Quantity(1000 * (1 + h.rng.IntN(5)))
	}
}

// asset without expenses: the last one, so that the first ones are left for users.
func (h *history) asset() (asset id.ID, found bool) {
	if h.assetsLeft == 0 {
		return asset, false
	}
	return h.assetID(h.o, h.assetsLeft-1), true
}

// spendOn the asset just found.
func (h *history) spendOn(asset id.ID) {
	h.assetsLeft--
	h.spent[asset] = h.assetsLeft
}

// commissioning of an asset for which services were bought, or else of one taken from stock; nil when there are no
// more assets or the warehouse has none of the items drawn.
func commissioning(h *history) *document.Document {
	if len(h.invested) > 0 {
		d := h.begin(books.AssetCommissioning, "")
		set(d, "asset", h.invested[0])
		h.invested = h.invested[1:]
		return d
	}
	asset, found := h.asset()
	if !found {
		return nil
	}
	return h.take(func(warehouse id.ID) *document.Document {
		d := h.begin(books.AssetCommissioning, "")
		h.spendOn(asset)
		set(d, "asset", asset)
		set(d, "warehouse", warehouse)
		return d
	}, 1, 1, func(_ int, free int64) int64 { return min(1, free) })
}
