package books

import (
	"time"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Attribute is a named value of documents, of what they refer to and of registers. It describes itself, and reads
// itself from a table that has it: Quantity.Of(lines).
type Attribute[T rowset.Value] struct{ meta *metadata.Attribute }

// Name of the attribute in tables and requests.
func (a Attribute[T]) Name() string { return a.meta.Name }

// Meta describes the attribute.
func (a Attribute[T]) Meta() metadata.Attribute { return *a.meta }

// Required is the attribute where it must be given.
func (a Attribute[T]) Required() Attribute[T] {
	meta := *a.meta
	meta.Required = true
	return Attribute[T]{&meta}
}

// Computed is the attribute where posting sets it.
func (a Attribute[T]) Computed() Attribute[T] {
	meta := *a.meta
	meta.Computed = true
	return Attribute[T]{&meta}
}

// Indexed is the attribute of a catalog whose elements are looked up by it.
func (a Attribute[T]) Indexed() Attribute[T] {
	meta := *a.meta
	meta.Indexed = true
	return Attribute[T]{&meta}
}

// Among is the attribute of a catalog where it has one of these values.
func (a Attribute[T]) Among(values ...string) Attribute[T] {
	meta := *a.meta
	meta.Among = values
	return Attribute[T]{&meta}
}

// Of is the attribute's column of a table, to be read and written in place.
func (a Attribute[T]) Of(t *rowset.Table) []T { return rowset.Column[T](t, a.meta.Name) }

// In is the attribute's value in the header of a document.
func (a Attribute[T]) In(d *document.Document) T { return a.Of(d.Header)[0] }

// Set gives the attribute a value in the header of a document.
func (a Attribute[T]) Set(d *document.Document, value T) { a.Of(d.Header)[0] = value }

// Attr is an attribute of an element of a catalog, which is there: references have been checked.
func Attr[T rowset.Value](elements *catalog.Elements, element id.ID, a Attribute[T]) T {
	row, _ := elements.Row(element)
	return a.Of(elements.Rows)[row]
}

// ReferredAttr is an attribute of a document that another one refers to.
func ReferredAttr[T rowset.Value](referred *document.Referred, v id.ID, a Attribute[T]) T {
	row, _ := referred.Row(v)
	return a.Of(referred.Rows)[row]
}

// Described is an attribute of any type.
type Described interface{ Meta() metadata.Attribute }

// Attributes are the descriptions, in their order.
func Attributes(list ...Described) []metadata.Attribute {
	described := make([]metadata.Attribute, len(list))
	for i, a := range list {
		described[i] = a.Meta()
	}
	return described
}

// Named is an attribute or a register.
type Named interface{ Name() string }

// Names of attributes or registers, in their order.
func Names(list ...Named) []string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.Name()
	}
	return names
}

// TextAttr has at most so many characters.
func TextAttr(name string, length int) Attribute[string] {
	return Attribute[string]{&metadata.Attribute{Name: name, Type: metadata.Text, Length: length}}
}

// QuantityAttr counts in thousandths.
func QuantityAttr(name string) Attribute[amount.Quantity] {
	return Attribute[amount.Quantity]{&metadata.Attribute{Name: name, Type: metadata.Quantity}}
}

// MoneyAttr counts in kopecks.
func MoneyAttr(name string) Attribute[amount.Money] {
	return Attribute[amount.Money]{&metadata.Attribute{Name: name, Type: metadata.Money}}
}

// IntegerAttr is a whole number.
func IntegerAttr(name string) Attribute[int64] {
	return Attribute[int64]{&metadata.Attribute{Name: name, Type: metadata.Integer}}
}

// BooleanAttr is yes or no.
func BooleanAttr(name string) Attribute[bool] {
	return Attribute[bool]{&metadata.Attribute{Name: name, Type: metadata.Boolean}}
}

// MomentAttr is a point in time.
func MomentAttr(name string) Attribute[time.Time] {
	return Attribute[time.Time]{&metadata.Attribute{Name: name, Type: metadata.Moment}}
}

// CatalogRef refers to an element of a catalog.
func CatalogRef(name, catalog string) Attribute[id.ID] {
	return Attribute[id.ID]{&metadata.Attribute{Name: name, Type: metadata.Reference, Catalog: catalog}}
}

// DocumentRef is an attribute where it refers to a document of one of the types.
func DocumentRef(a Attribute[id.ID], types ...string) Attribute[id.ID] {
	return Attribute[id.ID]{&metadata.Attribute{Name: a.Name(), Type: metadata.Reference, Documents: types}}
}

// AnyDocumentRef refers to a document of any type.
func AnyDocumentRef(name string) Attribute[id.ID] {
	return Attribute[id.ID]{&metadata.Attribute{Name: name, Type: metadata.Reference, Document: true}}
}

// References to catalogs that several documents or registers have.
var (
	Asset        = CatalogRef("asset", FixedAssets)
	CashAccount  = CatalogRef("cash_account", CashAccounts)
	Cell         = CatalogRef("cell", WarehouseCells)
	Contract     = CatalogRef("contract", Contracts)
	Counterparty = CatalogRef("counterparty", Counterparties)
	Department   = CatalogRef("department", Departments)
	ExpenseItem  = CatalogRef("expense_item", ExpenseItems)
	Item         = CatalogRef("item", Items)
	Service      = CatalogRef("service", Services)
	Warehouse    = CatalogRef("warehouse", Warehouses)
)

// References to documents. A register refers to documents of any type, a document to those of some (DocumentRef).
var (
	Basis       = AnyDocumentRef("basis")        // that something is made of
	Object      = AnyDocumentRef("object")       // of settlement
	Payment     = AnyDocumentRef("payment")      // that is paid ahead
	Receipt     = AnyDocumentRef("receipt")      // that brought goods
	Request     = AnyDocumentRef("request")      // for a payment
	SourceOrder = AnyDocumentRef("source_order") // that is fulfilled
)

// Values of documents and registers.
var (
	Amount        = MoneyAttr("amount") // of a deal: without VAT
	BankReference = TextAttr("bank_reference", 50)
	Cost          = MoneyAttr("cost")
	Price         = MoneyAttr("price")
	Quantity      = QuantityAttr("quantity")
	Reserved      = QuantityAttr("reserved")
	ReceiptLine   = IntegerAttr("receipt_line")
	Total         = MoneyAttr("total")
	UsefulMonths  = IntegerAttr("useful_months")
	VAT           = MoneyAttr("vat")
	VATRate       = IntegerAttr("vat_rate") // in per cent
)

// Numbers that others give their documents.
var (
	InvoiceNumber  = TextAttr("invoice_number", 50)
	SupplierNumber = TextAttr("supplier_number", 50)
)

// What catalogs say about their elements.
var (
	Account       = TextAttr("account", 10)
	Addressed     = BooleanAttr("addressed")
	Bank          = BooleanAttr("bank")
	ByOrder       = BooleanAttr("by_order")
	CreditLimit   = MoneyAttr("credit_limit")
	Customer      = BooleanAttr("customer")
	PaymentLimit  = MoneyAttr("payment_limit")
	PurchasePrice = MoneyAttr("purchase_price")
	Supplier      = BooleanAttr("supplier")
)

// What every element of a catalog (Code, Name) and every document (Number, Posted) has without being described.
var (
	Code   = TextAttr("code", 0)
	Name   = TextAttr("name", 0)
	Number = TextAttr("number", 0)
	Posted = BooleanAttr("posted")
)
