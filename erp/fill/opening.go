package fill

import (
	"plimsoll/erp/books"
	"plimsoll/platform/books/document"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// openingSum is the opening balance of every bank account.
const openingSum = amount.Money(1e13)

const openingComment = "Ввод начальных остатков"

// opening documents of an organisation: cash on every bank account, and the assortment of every warehouse.
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

// openingCash was prepaid by the customer that trades least.
func (h *history) openingCash(account id.ID) *document.Document {
	last := min(h.o.counterparties.count, dealsActive) - 1
	d := h.deal(books.BankReceipt, h.dealWith(last, h.o.contractsOf(last).first), openingComment)
	set(d, "cash_account", account)
	set(d, "bank_reference", "BR-0")
	set(d, "amount", openingSum)
	return d
}

// openingReceipt brings more of the hot items.
func (h *history) openingReceipt(warehouse id.ID, from, to int) *document.Document {
	d := h.trade(books.GoodsReceipt, warehouse, h.supplier(), openingComment)
	for i := from; i < to; i++ {
		addLine(d, h.itemIDs[i], amount.Quantity(1000*(20+h.rng.IntN(80)+openingOfHottest/(i+1))))
	}
	return d
}

// openingOfHottest is the extra quantity of the first item.
const openingOfHottest = 4000
