package erp

import "plimsoll/platform/metadata"

// Registers of goods.
const (
	Stock     = "stock"
	Batches   = "batches"
	Reserves  = "reserves"
	ToReceive = "to_receive"
	ToShip    = "to_ship"
	Cells     = "cells"
)

func place() []metadata.Attribute {
	return []metadata.Attribute{reference("warehouse", "warehouses"), reference("item", "items")}
}

// stock is strictly controlled, and covers what is reserved; its amount is the cost at which the goods stand on account 41, materials on 10.
func stock() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Stock, Title: "Stock of goods", Controlled: true, Covers: Reserves, Dimensions: place(),
		Resources: []metadata.Attribute{typed("quantity", metadata.Quantity), typed("amount", metadata.Money)},
	}
}

// batches are what stock is made of: a layer for each line of a receipt, at its cost, used up oldest first.
func batches() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Batches, Title: "Cost batches", Controlled: true, Layered: true, LockAs: Stock, SumIn: Stock,
		Dimensions: append(place(), anyPaper("receipt"), typed("receipt_line", metadata.Integer)),
		Resources:  []metadata.Attribute{typed("quantity", metadata.Quantity), typed("amount", metadata.Money)},
	}
}

// reserves are what of the stock has been promised; to whom, the customer orders know.
func reserves() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Reserves, Title: "Reserves", Controlled: true, LockAs: Stock, Dimensions: place(),
		Resources: []metadata.Attribute{typed("quantity", metadata.Quantity)},
	}
}

// toReceive is what a document has brought to an addressed warehouse and nobody has put into a cell yet.
func toReceive() metadata.Accumulation { return awaited(ToReceive, "To be received") }

// toShip is what a document has sold from an addressed warehouse and nobody has taken out of a cell yet.
func toShip() metadata.Accumulation { return awaited(ToShip, "To be shipped") }

// awaited is by warehouse too, so that a document cannot be moved to another one when its goods have been carried.
func awaited(name, title string) metadata.Accumulation {
	return metadata.Accumulation{
		Name: name, Title: title, Controlled: true, Awaited: true, LockBy: 1,
		Dimensions: []metadata.Attribute{anyPaper("basis"), reference("item", "items"), reference("warehouse", "warehouses")},
		Resources:  []metadata.Attribute{typed("quantity", metadata.Quantity)},
	}
}

// cells is where the goods of addressed warehouses lie.
func cells() metadata.Accumulation {
	return metadata.Accumulation{
		Name: Cells, Title: "Goods in cells", Controlled: true, Dimensions: append(place(), reference("cell", "warehouse_cells")),
		Resources: []metadata.Attribute{typed("quantity", metadata.Quantity)},
	}
}
