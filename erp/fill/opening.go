package fill

import (
	"plimsoll/erp"
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
)

// openingSum is what lies on every bank account before anything is paid.
const openingSum = amount.Money(1e13)

const openingComment = "Ввод начальных остатков"

// opening is what an organisation begins with: cash on every bank account, and the assortment of every warehouse.
func (h *history) opening() (all []func() *document.Document) {
	for _, account := range h.o.banks() {
		all = append(all, func() *document.Document { return h.openingCash(account) })
	}
	for _, warehouse := range h.o.warehouses {
		for from := 0; from < len(h.itemIDs); from += openingLines {
			all = append(all, func() *document.Document {
				return h.openingReceipt(warehouse, from, min(from+openingLines, len(h.itemIDs)))
			})
		}
	}
	return all
}

// openingCash has been paid ahead by the customer that trades least.
func (h *history) openingCash(account id.ID) *document.Document {
	last := min(h.o.counterparties.count, dealsActive) - 1
	d := h.deal(erp.BankReceipt, h.under(last, h.o.contractsOf(last).first), openingComment)
	set(d, "cash_account", account)
	set(d, "bank_reference", "BR-0")
	set(d, "amount", openingSum)
	return d
}

// openingReceipt brings more of what is hot.
func (h *history) openingReceipt(warehouse id.ID, from, to int) *document.Document {
	d := h.trade(erp.GoodsReceipt, warehouse, h.supplier(), openingComment)
	for i := from; i < to; i++ {
		addLine(d, h.itemIDs[i], amount.Quantity(1000*(20+h.rng.IntN(80)+openingOfHottest/(i+1))))
	}
	return d
}

// openingOfHottest is how much more there is of the first item.
const openingOfHottest = 4000
