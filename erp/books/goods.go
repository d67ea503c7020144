package books

import (
	"slices"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// sectionLines is the name of the section that has the lines of a document.
const sectionLines = "lines"

// LinesMax is how many lines a document can have; 5-20 are typical.
const LinesMax = 200

// Lines of a document.
func Lines(d *document.Document) *rowset.Table { return d.Section(sectionLines) }

// LineSection describes lines, of which there are at least so many.
func LineSection(least int, attributes ...Described) metadata.Section {
	return metadata.Section{Name: sectionLines, MinRows: least, MaxRows: LinesMax,
		Attributes: Attributes(attributes...)}
}

// PricedLines are lines of things that have a price and a rate of VAT: goods or services. Prices are without VAT; a
// price not given is taken from the thing.
func PricedLines(thing Attribute[id.ID], more ...Described) metadata.Section {
	return LineSection(1, append([]Described{thing.Required(), Quantity.Required(), Price, Amount.Computed(),
		VATRate.Computed(), VAT.Computed()}, more...)...)
}

// DealHeader is the header of a document of a deal.
func DealHeader(more ...Described) []metadata.Attribute {
	return Attributes(append([]Described{Counterparty.Required(), Contract.Required(), Amount.Computed(),
		VAT.Computed(), Total.Computed()}, more...)...)
}

// GoodsHeader is the header of a document that moves goods of a deal.
func GoodsHeader(more ...Described) []metadata.Attribute {
	return DealHeader(append([]Described{Warehouse.Required()}, more...)...)
}

// PriceLines computes what lines of things have besides the thing and its quantity, and the sums in the header. The
// default of a thing stands in for a price that was not given.
func PriceLines(d *document.Document, facts *posting.Facts, thing Attribute[id.ID],
	byDefault Attribute[amount.Money]) error {
	lines, things := Lines(d), facts.Catalogs[thing.Meta().Catalog]
	rates, prices := VATRate.Of(things.Rows), byDefault.Of(things.Rows)
	quantity, price := Quantity.Of(lines), Price.Of(lines)
	net, rate, vat := Amount.Of(lines), VATRate.Of(lines), VAT.Of(lines)
	for i, one := range thing.Of(lines) {
		row, _ := things.Row(one)
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

func sumHeader(d *document.Document, nets, vats []amount.Money) error {
	net, err := amount.Sum(nets...)
	if err != nil {
		return err
	}
	vat, err := amount.Sum(vats...)
	if err != nil {
		return err
	}
	total, err := amount.Sum(net, vat)
	if err != nil {
		return err
	}
	SetSums(d, net, vat, total)
	return nil
}

// SetSums sets the sums of a deal in the header.
func SetSums(d *document.Document, net, vat, total amount.Money) {
	Amount.Set(d, net)
	VAT.Set(d, vat)
	Total.Set(d, total)
}

// StockMovements makes the record set of a document of goods: a row for each line, at the given values.
func StockMovements(d *document.Document, expense bool, value []amount.Money) *register.Movements {
	m := Stock.Movements(len(value))
	m.Rows.Grow(len(value))
	lines, warehouse := Lines(d), Warehouse.In(d)
	copy(Item.Of(m.Rows), Item.Of(lines))
	copy(Quantity.Of(m.Rows), Quantity.Of(lines))
	copy(Amount.Of(m.Rows), value)
	to := Warehouse.Of(m.Rows)
	for i := range to {
		to[i] = warehouse
		m.Expense = append(m.Expense, expense)
	}
	return m
}

// Await adds to what is to be received or shipped, at an addressed warehouse; nothing at another.
func Await(d *document.Document, facts *posting.Facts, awaited Register) []*register.Movements {
	if !Attr(facts.Catalogs[Warehouses], Warehouse.In(d), Addressed) {
		return nil
	}
	items, sums := Quantities(d)
	m := awaited.Movements(len(items))
	for i, item := range items {
		m.Add(false, d.ID, item, Warehouse.In(d), sums[i])
	}
	return []*register.Movements{m}
}

// Value of goods on an account at the document's warehouse.
type Value struct {
	Account ledger.Account
	Sum     amount.Money
}

// ByAccount sums the values of lines by the account that their items stand on, in the order in which they come first.
func ByAccount(d *document.Document, facts *posting.Facts, amounts []amount.Money) (values []Value) {
	items := facts.Catalogs[Items]
	accounts := Account.Of(items.Rows)
	for i, item := range Item.Of(Lines(d)) {
		row, _ := items.Row(item)
		code := accounts[row]
		if code == "" {
			code = AccountGoods
		}
		at := slices.IndexFunc(values, func(v Value) bool { return v.Account.Code == code })
		if at < 0 {
			at = len(values)
			values = append(values, Value{Account: ledger.At(code, Warehouse.In(d))})
		}
		values[at].Sum += amounts[i] // their sum has been checked
	}
	return values
}

// LinesOf a document that another one refers to: the lines of all, and the rows that are its own.
func LinesOf(referred *document.Referred, basis id.ID) (all *rowset.Table, rows []int) {
	return referred.Sections[sectionLines], referred.Lines(sectionLines, basis)
}

// LineNames are names of attributes of the lines of a document that another one refers to.
func LineNames(list ...Named) []string {
	names := Names(list...)
	for i, name := range names {
		names[i] = sectionLines + "." + name
	}
	return names
}
