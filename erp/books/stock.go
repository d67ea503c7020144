package books

import "plimsoll/platform/model/metadata"

// stock names the register that guards all registers of what lies at a warehouse.
const stock = "stock"

// Stock is strictly controlled, and covers what is reserved; its amount is the cost at which the goods stand on
// account 41, materials on 10.
var Stock = accumulation(metadata.Accumulation{
	Name: stock, Title: "Stock of goods", Controlled: true, Covers: Reserves.Name(), IndexMovements: true,
	Dimensions: Attributes(Warehouse, Item), Resources: Attributes(Quantity, Amount),
})

// Batches are what stock is made of: a layer for each line of a receipt, at its cost, used up oldest first.
var Batches = accumulation(metadata.Accumulation{
	Name: "batches", Title: "Cost batches", Controlled: true, Layered: true, LockAs: stock, SumIn: stock,
	Dimensions: Attributes(Warehouse, Item, Receipt, ReceiptLine), Resources: Attributes(Quantity, Amount),
})

// Reserves are what of the stock has been promised; to whom, the customer orders know.
var Reserves = accumulation(metadata.Accumulation{
	Name: "reserves", Title: "Reserves", Controlled: true, LockAs: stock,
	Dimensions: Attributes(Warehouse, Item), Resources: Attributes(Quantity),
})

// ToReceive is what a document has brought to an addressed warehouse and nobody has put into a cell yet.
var ToReceive = awaited("to_receive", "To be received")

// ToShip is what a document has sold from an addressed warehouse and nobody has taken out of a cell yet.
var ToShip = awaited("to_ship", "To be shipped")

// awaited is by warehouse too, so that a document cannot be moved to another one when its goods have been carried.
func awaited(name, title string) Register {
	return accumulation(metadata.Accumulation{
		Name: name, Title: title, Controlled: true, IndexNonZero: true, LockBy: 1,
		Dimensions: Attributes(Basis, Item, Warehouse), Resources: Attributes(Quantity),
	})
}

// Cells is where the goods of addressed warehouses lie.
var Cells = accumulation(metadata.Accumulation{
	Name: "cells", Title: "Goods in cells", Controlled: true,
	Dimensions: Attributes(Warehouse, Item, Cell), Resources: Attributes(Quantity),
})
