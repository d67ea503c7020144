package erptest

import (
	"maps"

	"plimsoll/platform/data/id"
)

// Goods is a document of goods: so much of item 0 in the first warehouse.
func (d Desk) Goods(quantity string) Document {
	return Document{Warehouse: d.Org.Warehouses[0], Counterparty: d.Org.Counterparty,
		Lines: []Line{{Item: d.Items[0], Quantity: quantity}}}
}

// GoodsOn is Goods on a date.
func (d Desk) GoodsOn(date, quantity string) Document {
	doc := d.Goods(quantity)
	doc.Date = date
	return doc
}

// GoodsByOrder is Goods by an order.
func (d Desk) GoodsByOrder(order id.ID, quantity string) Document {
	doc := d.Goods(quantity)
	doc.Order = order
	return doc
}

// AddressedGoods is Goods in the warehouse with cells.
func (d Desk) AddressedGoods(quantity string) Document {
	doc := d.Goods(quantity)
	doc.Warehouse = d.Org.Addressed
	return doc
}

// Deal is a document under the contract with the counterparty.
func (d Desk) Deal(more Fields) Fields {
	f := Fields{"counterparty": d.Org.Counterparty, "contract": Contract(d.Org.Counterparty)}
	maps.Copy(f, more)
	return f
}

// ServiceSale sells service 0, at 10.00 and 20 % of VAT.
func (d Desk) ServiceSale(quantity string) Fields {
	return d.Deal(Fields{"lines": []Fields{{"service": d.Services[0], "quantity": quantity}}})
}

// ServicePurchase buys service 0 for a department, at 5.00 and 20 % of VAT.
func (d Desk) ServicePurchase(quantity string) Fields {
	return d.Deal(Fields{
		"department": d.Org.Department, "expense_item": d.Org.ExpenseItem,
		"lines": []Fields{{"service": d.Services[0], "quantity": quantity}},
	})
}

// Investment buys service 0 for an asset.
func (d Desk) Investment(asset id.ID, quantity string) Fields {
	return d.Deal(Fields{"asset": asset, "lines": []Fields{{"service": d.Services[0], "quantity": quantity}}})
}

// Payment is a bank receipt, or a bank payment that lacks its request.
func (d Desk) Payment(amount, reference string) Fields {
	return d.Deal(Fields{"cash_account": d.Org.Bank, "amount": amount, "bank_reference": reference})
}

// PaymentBy is a bank payment by a request.
func (d Desk) PaymentBy(request id.ID, amount, reference string) Fields {
	return d.Payment(amount, reference).With("request", request)
}

// PaymentRequest for a purchase or an order; without a basis, ahead.
func (d Desk) PaymentRequest(basis id.ID, amount string) Fields {
	return d.Deal(Fields{"basis": basis, "amount": amount})
}

// Invoice for a sale, or for a payment ahead.
func (d Desk) Invoice(basis id.ID) Fields {
	return Fields{"basis": basis, "contract": Contract(d.Org.Counterparty)}
}

// InvoiceReceived for a purchase, or for a payment ahead.
func (d Desk) InvoiceReceived(basis id.ID, number string) Fields {
	return d.Invoice(basis).With("invoice_number", number)
}

// Consumption uses up so much of items 0 and 1.
func (d Desk) Consumption(quantity string) Fields {
	return Fields{"warehouse": d.Org.Warehouses[0], "department": d.Org.Department, "expense_item": d.Org.ExpenseItem,
		"lines": []Line{{Item: d.Items[0], Quantity: quantity}, {Item: d.Items[1], Quantity: quantity}}}
}

// FoundGoods is an other goods receipt.
func (d Desk) FoundGoods(lines ...Line) Fields {
	return Fields{"warehouse": d.Org.Warehouses[0], "reason": "Inventory", "lines": lines}
}

// WarehouseOrder is a receipt or issue order for item 0, with a line for each quantity.
func (d Desk) WarehouseOrder(basis, cell id.ID, quantities ...string) Fields {
	var lines []Fields
	for _, quantity := range quantities {
		lines = append(lines, Fields{"item": d.Items[0], "cell": cell, "quantity": quantity})
	}
	return Fields{"basis": basis, "warehouse": d.Org.Addressed, "lines": lines}
}
