package fill

import (
	"plimsoll/erp"
	"plimsoll/erp/skew"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

// commissioning of an asset that services have been bought for, or else of one that is taken from stock; nil when there are no more assets, or the warehouse
// has nothing of the item drawn.
func commissioning(h *history, o *organisation, warehouse id.ID) *document.Document {
	d := h.begin(erp.AssetCommissioning, o, "")
	if len(o.invested) > 0 {
		set(d, "asset", o.invested[0])
		o.invested = o.invested[1:]
		return d
	}
	asset, found := o.asset()
	item := h.itemIDs[skew.Pick(h.rng.Rand, min(len(h.itemIDs), assortmentMax), skew.Strong)]
	if !found || h.free(o, warehouse, item) < amount.Quantity(1000) {
		return nil
	}
	o.assets = o.assets[:len(o.assets)-1]
	set(d, "asset", asset)
	set(d, "warehouse", warehouse)
	addLine(d, item, amount.Quantity(1000))
	return d
}
