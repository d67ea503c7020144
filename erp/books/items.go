package books

import (
	"slices"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
)

// fewItems are told apart by looking at all; of more an index is made.
const fewItems = 32

// distinct items in the order in which they come first, and where among them each one is.
func distinct(items []id.ID) (once []id.ID, at []int) {
	once, at = make([]id.ID, 0, len(items)), make([]int, len(items))
	var index map[id.ID]int
	if len(items) > fewItems {
		index = make(map[id.ID]int, len(items))
	}
	for i, item := range items {
		n := -1
		if index == nil {
			n = slices.Index(once, item)
		} else if known, found := index[item]; found {
			n = known
		}
		if n < 0 {
			n, once = len(once), append(once, item)
			if index != nil {
				index[item] = n
			}
		}
		at[i] = n
	}
	return once, at
}

// Quantities of a document's lines by item, and the items in the order in which they come first.
func Quantities(d *document.Document) (items []id.ID, sums []amount.Quantity) {
	lines := Lines(d)
	items, at := distinct(Item.Of(lines))
	sums = make([]amount.Quantity, len(items))
	for i, quantity := range Quantity.Of(lines) {
		sums[at[i]] += quantity
	}
	return items, sums
}
