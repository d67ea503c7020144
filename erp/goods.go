package erp

import (
	"slices"

	"plimsoll/platform/amount"
	"plimsoll/platform/catalog"
	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// lines of goods: prices are without VAT; a price not given is taken from the item.
func lines(more ...metadata.Attribute) metadata.Section { return linesOf("item", "items", more...) }

// linesOf things of a catalog that have a price and a rate of VAT.
func linesOf(name, things string, more ...metadata.Attribute) metadata.Section {
	return metadata.Section{Name: "lines", MinRows: 1, MaxRows: LinesMax, Attributes: append([]metadata.Attribute{
		required(reference(name, things)), required(typed("quantity", metadata.Quantity)), typed("price", metadata.Money),
		computed("amount", metadata.Money), computed("vat_rate", metadata.Integer), computed("vat", metadata.Money),
	}, more...)}
}

// trade is the header of a document of a deal.
func trade(more ...metadata.Attribute) []metadata.Attribute {
	return append([]metadata.Attribute{
		required(reference("counterparty", "counterparties")), required(reference("contract", "contracts")),
		computed("amount", metadata.Money), computed("vat", metadata.Money), computed("total", metadata.Money),
	}, more...)
}

// header of a document that moves goods of a deal.
func header(more ...metadata.Attribute) []metadata.Attribute {
	return append(trade(required(reference("warehouse", "warehouses"))), more...)
}

// priceLines computes what every document of goods has in its lines, and their sums in its header.
// priceAttribute of the item stands in for a price that was not given.
func priceLines(d *document.Document, facts *posting.Facts, priceAttribute string) error {
	return priceLinesOf(d, facts.Catalogs["items"], "item", priceAttribute)
}

// priceLinesOf things that the attribute of the lines refers to.
func priceLinesOf(d *document.Document, things *catalog.Elements, attribute, priceAttribute string) error {
	lines := d.Section("lines")
	rates, prices := rowset.Column[int64](things.Rows, "vat_rate"), rowset.Column[amount.Money](things.Rows, priceAttribute)
	quantity, price := rowset.Column[amount.Quantity](lines, "quantity"), rowset.Column[amount.Money](lines, "price")
	net, rate, vat := rowset.Column[amount.Money](lines, "amount"), rowset.Column[int64](lines, "vat_rate"), rowset.Column[amount.Money](lines, "vat")
	for i, thing := range rowset.Column[id.ID](lines, attribute) {
		row, _ := things.Row(thing)
		if price[i] == 0 {
			price[i] = prices[row]
		}
		var err error
		if net[i], err = price[i].Times(quantity[i]); err != nil {
			return err
		}
		rate[i] = rates[row]
		if vat[i], err = net[i].Percent(rate[i]); err != nil {
			return err
		}
	}
	return sumHeader(d, net, vat)
}

func sumHeader(d *document.Document, net, vat []amount.Money) (err error) {
	sums := func(name string) *amount.Money { return &rowset.Column[amount.Money](d.Header, name)[0] }
	if *sums("amount"), err = amount.Sum(net...); err != nil {
		return err
	}
	if *sums("vat"), err = amount.Sum(vat...); err != nil {
		return err
	}
	*sums("total"), err = amount.Sum(*sums("amount"), *sums("vat"))
	return err
}

// placeKeys are the combinations of a document of goods in the registers by warehouse and item, each once.
func placeKeys(d *document.Document, name string) *rowset.Table {
	return byItem(d, name, refOf(d, "warehouse"))
}

// stockMovements makes the record set of a document of goods: a row for each line, at the given values.
func stockMovements(d *document.Document, expense bool, value []amount.Money) *register.Movements {
	m := moves(Stock, len(value))
	m.Rows.Grow(len(value))
	lines, warehouse := d.Section("lines"), refOf(d, "warehouse")
	copy(rowset.Column[id.ID](m.Rows, "item"), rowset.Column[id.ID](lines, "item"))
	copy(rowset.Column[amount.Quantity](m.Rows, "quantity"), rowset.Column[amount.Quantity](lines, "quantity"))
	copy(rowset.Column[amount.Money](m.Rows, "amount"), value)
	to := rowset.Column[id.ID](m.Rows, "warehouse")
	for i := range to {
		to[i] = warehouse
		m.Expense = append(m.Expense, expense)
	}
	return m
}

// await adds to what is to be received or shipped, at an addressed warehouse; nothing at another.
func await(d *document.Document, facts *posting.Facts, name string) []*register.Movements {
	if !of[bool](facts.Catalogs["warehouses"], refOf(d, "warehouse"), "addressed") {
		return nil
	}
	items, sums := quantities(d)
	m := moves(name, len(items))
	for i, item := range items {
		m.Add(false, d.ID, item, refOf(d, "warehouse"), sums[i])
	}
	return []*register.Movements{m}
}

// value of goods on an account at the document's warehouse.
type value struct {
	account ledger.Account
	sum     amount.Money
}

// valued sums the values of lines by the account that their items stand on, in the order in which they come first.
func valued(d *document.Document, facts *posting.Facts, amounts []amount.Money) (values []value) {
	items := facts.Catalogs["items"]
	accounts := rowset.Column[string](items.Rows, "account")
	for i, item := range rowset.Column[id.ID](d.Section("lines"), "item") {
		row, _ := items.Row(item)
		code := accounts[row]
		if code == "" {
			code = AccountGoods
		}
		at := slices.IndexFunc(values, func(v value) bool { return v.account.Code == code })
		if at < 0 {
			at, values = len(values), append(values, value{account: ledger.At(code, refOf(d, "warehouse"))})
		}
		values[at].sum += amounts[i] // their sum has been checked
	}
	return values
}
