// Package metadata owns the description of an application: its catalogs, documents and registers, defined once in Go.
// Tables, statements, the API and the audit are derived from it.
package metadata

import "strings"

// Application is the whole description.
type Application struct {
	Name string
	// Version grows by one with every released change. A database made by a newer version is refused.
	Version  int
	Catalogs []Catalog
	// Owners is the catalog of the organisations that everything belongs to, Authors that of the users who write
	// documents. "" where an application has none.
	Owners, Authors string

	Documents    []Document
	Information  []Information
	Accumulation []Accumulation
	Accounting   []Accounting
}

// Catalog is a list of elements that others refer to. Every element has an id, a code and a name.
type Catalog struct {
	Name       string
	Title      string
	Attributes []Attribute
	// Shared catalogs are visible to all organisations; elements of the others belong to one each.
	Shared bool
	// Search names the attributes searched besides code and name.
	Search []string
}

// Document is a business event: a header, tabular sections, and movements in registers.
// Every document has an id, a number, a date, an author and a comment.
type Document struct {
	Name       string
	Title      string
	Prefix     string // of its numbers
	Attributes []Attribute
	Sections   []Section
	// Registers that every posted document of the type records in.
	Registers []string
	// Optional registers that a posted document may record in; if there are no others, in at least one of them.
	Optional []string
	// Search names the reference attributes by whose names (or document numbers) the list is searched.
	Search []string
	// ReopenHint, unless empty, makes a posted document of this type close the books of its organisation up to its
	// date, for documents of all types. The text explains how to reopen them, with MONTH for the month. At most one
	// type closes.
	ReopenHint string
}

// Section is a table inside a document.
type Section struct {
	Name       string
	Attributes []Attribute
	MinRows    int
	MaxRows    int
}

// Accumulation is a register of balances: movements of resources by dimensions.
type Accumulation struct {
	Name       string
	Title      string
	Dimensions []Attribute
	Resources  []Attribute
	// Controlled: no document may be unposted or changed so that a current balance falls below zero, or has some of
	// another resource where nothing of the first is left.
	Controlled bool
	// Turnovers: only receipts and expenses are needed, so no current balances are kept.
	Turnovers bool
	// IndexNonZero keeps an index of the keys with a non-zero current balance, in the order of the dimensions: for
	// balances that are soon used up, and listed, or summed under their first dimensions, until then.
	IndexNonZero bool
	// IndexMovements keeps an index of the movements by the dimensions and the period: for balances at a date of some
	// values of the first dimension. Layered registers always have one, since posting asks for later movements. Keys
	// come in no order, so each posting writes to pages of the index all over it. Repairs do without.
	IndexMovements bool
	// Covers names a register with the same or more dimensions: no document may be unposted or changed so that this
	// register has less of the first resource than that one has in all.
	Covers string
	// LockAs names the register whose locks guard this one too, so that registers about the same things share one lock.
	// Defaults to its own name.
	LockAs string
	// LockBy is the number of leading dimensions that a lock covers. Defaults to all.
	LockBy int
	// Layered: the last two dimensions are the document and the line of the movement that brought a balance. That makes
	// a layer, as old as the movement.
	Layered bool
	// SumIn names, for a layered register, the register that the same documents move by the leading dimensions alone,
	// with the same resources and locks: its balance is the sum of the layers, so that taking from the first ones does
	// not need to read all. Defaults to the layers themselves.
	SumIn string
}

// Accounting is a double-entry register.
type Accounting struct {
	Name     string
	Title    string
	Accounts []Account
	// Splits is how many rows a total is spread over, so that concurrent postings of one organisation do not queue for
	// one row. Readers sum them. At least 1.
	Splits int
}

// AnalyticsMax is how many analytics an account can have.
const AnalyticsMax = 3

// Account of the chart of accounts.
type Account struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	Kind  Kind   `json:"kind"`
	// Analytics are the catalogs by whose elements the balance is broken down, at most AnalyticsMax.
	Analytics []string `json:"analytics,omitempty"`
}

// Kind of an account: the side of its balance.
type Kind string

const (
	Active  Kind = "active"
	Passive Kind = "passive"
	Both    Kind = "both"
)

// Attribute is a named, typed value. None is ever NULL: an attribute that was not given holds the zero value of its
// type, such as an empty reference.
type Attribute struct {
	Name string
	Type Type
	// Catalog that a Reference refers to, unless it refers to Documents of the named types, or (in a register) to a
	// Document of any type.
	Catalog   string
	Documents []string
	Document  bool
	// Length of a Text in characters.
	Length int
	// Among are the values that a Text may have; none is any.
	Among []string
	// Required attributes must be given, and not be zero.
	Required bool
	// Indexed attributes of a catalog have an index: elements with a value are found without reading all.
	Indexed bool
	// Computed attributes are set by posting and never read from a request.
	Computed bool
}

// Names of attributes, which are those of their columns.
func Names(attributes []Attribute) []string {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.Name
	}
	return names
}

// Columns are the names as a list in SQL.
func Columns(attributes []Attribute) string { return strings.Join(Names(attributes), ", ") }

// Type of an attribute.
type Type uint8

const (
	Reference Type = iota + 1
	Text
	Quantity // thousandths
	Money    // kopecks
	Integer
	Boolean
	Moment // time with time zone
)

// Catalog finds by name.
func (a *Application) Catalog(name string) (*Catalog, bool) {
	return find(a.Catalogs, func(c *Catalog) bool { return c.Name == name })
}

// Document finds by name.
func (a *Application) Document(name string) (*Document, bool) {
	return find(a.Documents, func(d *Document) bool { return d.Name == name })
}

// Register finds an accumulation register by name; nil when there is none.
func (a *Application) Register(name string) *Accumulation {
	r, _ := find(a.Accumulation, func(r *Accumulation) bool { return r.Name == name })
	return r
}

// Record finds an information register by name; nil when there is none.
func (a *Application) Record(name string) *Information {
	r, _ := find(a.Information, func(r *Information) bool { return r.Name == name })
	return r
}

// Ledger finds an accounting register by name; nil when there is none.
func (a *Application) Ledger(name string) *Accounting {
	r, _ := find(a.Accounting, func(r *Accounting) bool { return r.Name == name })
	return r
}

func find[T any](all []T, matches func(*T) bool) (*T, bool) {
	for i := range all {
		if matches(&all[i]) {
			return &all[i], true
		}
	}
	return nil, false
}
