package erp

import (
	"plimsoll/platform/document"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
)

// SupplierOrder is the type of document.
const SupplierOrder = "supplier_order"

func supplierOrder() metadata.Document {
	return metadata.Document{
		Name: SupplierOrder, Title: "Supplier order", Prefix: "SO", Search: []string{"counterparty"},
		Registers: []string{SupplierOrders, SupplierPlan}, Optional: []string{SupplierNumbers},
		Attributes: header(text("supplier_number", 50), typed("receive_by", metadata.Moment)), Sections: []metadata.Section{lines()},
	}
}

// supplierOrderRules: what is ordered is to be received and paid; the supplier's number of it comes once.
//
//	OR+ · SS plan+ · supplier's number
type supplierOrderRules struct{}

func (supplierOrderRules) Reads() map[string][]string {
	return map[string][]string{"items": {"vat_rate", "purchase_price"}, "contracts": settlementReads}
}

func (supplierOrderRules) Balances(d *document.Document) []posting.Balance {
	return []posting.Balance{guard(d, SupplierOrders, orderKeys(d, SupplierOrders, d.ID))}
}

func (supplierOrderRules) Record(d *document.Document, facts *posting.Facts) (*posting.Records, error) {
	if err := deal(d, facts, "supplier"); err != nil {
		return nil, err
	}
	if err := priceLines(d, facts, "purchase_price"); err != nil {
		return nil, err
	}
	items, sums := quantities(d)
	ordered, plan := moves(SupplierOrders, len(items)), moves(SupplierPlan, 1)
	for i, item := range items {
		ordered.Add(false, d.ID, item, sums[i])
	}
	plan.Add(false, refOf(d, "contract"), d.ID, sumOf(d, "total"))
	return &posting.Records{Movements: []*register.Movements{ordered, plan}, Information: supplierNumber(d)}, nil
}
