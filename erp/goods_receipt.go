package erp

import (
	"plimsoll/platform/amount"
	"plimsoll/platform/document"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// receiptRules: goods come in at their price without VAT. They read no balance, but lock what they bring, so that a sale either
// takes from it or is seen when it is looked for whether costs are still in the order of time.
//
//	ST+  ·  CB+  ·  Dr 41 Cr 60 amount  ·  Dr 19 Cr 60 VAT
type receiptRules struct{}

func (receiptRules) Reads() map[string][]string {
	return map[string][]string{"items": {"vat_rate", "purchase_price"}}
}

func (receiptRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{{Register: Batches, Locks: stockLocks(d, stockKeys(d))}}
}

func (receiptRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := priceLines(d, facts, "purchase_price"); err != nil {
		return nil, err
	}
	value := rowset.Column[amount.Money](d.Section("lines"), "amount")
	return &posting.Records{
		Movements: []*register.Movements{stockMovements(d, false, value), layersBrought(d, value)},
		Entries: entriesOf(
			entry{AccountGoods, AccountSuppliers, sumOf(d, "amount")},
			entry{AccountInputVAT, AccountSuppliers, sumOf(d, "vat")},
		),
	}, nil
}
