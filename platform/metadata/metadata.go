// Package metadata owns the description of an application: its catalogs, documents and
// registers, said once in Go. Tables, statements, the API and the audit are derived from it.
package metadata

// Application is the whole description.
type Application struct {
	Name string
	// Version grows by one with every change that is released. A database made by a
	// newer version is refused.
	Version      int
	Catalogs     []Catalog
	Documents    []Document
	Information  []Information
	Accumulation []Accumulation
	Accounting   []Accounting
}

// Catalog is a list of things referred to. Every element has an id, a code and a name.
type Catalog struct {
	Name       string
	Title      string
	Attributes []Attribute
	// Shared catalogs are seen by all organisations; the others belong to one each.
	Shared bool
	// Search names the attributes looked into besides code and name.
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
	// Registers it records in, when posted: in each of them, or it is not posted.
	Registers []string
	// Optional registers it may record in, when posted; in some of them, if there are no others.
	Optional []string
	// Search names the reference attributes whose names (of documents the numbers) the list looks into.
	Search []string
	// Closes makes a posted document of this type close the books of its organisation up to its date, for documents of all types. Its text is how a
	// person opens them again, with MONTH where the month belongs. At most one type closes.
	Closes string
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
	// Controlled means that no document may be taken back or changed so that a current balance falls below zero, or
	// keeps something of a resource where nothing of the first one is left.
	Controlled bool
	// Turnovers means that nobody asks what there is, only what came and went: no current balances are kept.
	Turnovers bool
	// Awaited means that what stands is soon gone, and looked for while it stands: the keys of which there is anything are found, in their
	// order, without looking at all that are used up.
	Awaited bool
	// Covers names a register of the same dimensions, or of further ones: no document may be taken back or changed so that of the first resource
	// there is less here than there in all.
	Covers string
	// LockAs names the register whose locks guard this one too, so that registers of the same things are guarded by one
	// lock. Defaults to its own name.
	LockAs string
	// LockBy is how many of the leading dimensions a lock is on. Defaults to all.
	LockBy int
	// Layered means that the last two dimensions are the document and the line of the movement that brought a balance: a
	// layer, as old as that movement.
	Layered bool
	// SumIn names, of a layered register, the one that the same documents move by the leading dimensions alone, with the same resources and locks: its
	// balance is the sum of the layers, so that who takes from the first of them knows how much there is without reading all. Defaults to the layers themselves.
	SumIn string
}

// Accounting is a double-entry register.
type Accounting struct {
	Name     string
	Title    string
	Accounts []Account
	// Splits is how many rows a total is spread over, so that concurrent posters of one
	// organisation do not queue for one row. Readers sum them. At least 1.
	Splits int
}

// AnalyticsMax is how many analytics an account can have.
const AnalyticsMax = 3

// Account of the chart of accounts.
type Account struct {
	Code  string `json:"code"`
	Title string `json:"title"`
	Kind  Kind   `json:"kind"`
	// Analytics are the catalogs by whose elements the balance is kept, at most AnalyticsMax.
	Analytics []string `json:"analytics,omitempty"`
}

// Kind of an account: on which side its balance stands.
type Kind string

const (
	Active  Kind = "active"
	Passive Kind = "passive"
	Both    Kind = "both"
)

// Attribute is a named, typed value. None is ever NULL: an attribute not given holds the
// zero value of its type, as an empty reference does.
type Attribute struct {
	Name string
	Type Type
	// Catalog that a Reference refers to, unless it is to Documents of the types named, or (in a register) to a Document of any type.
	Catalog   string
	Documents []string
	Document  bool
	// Length of a Text in characters.
	Length int
	// Required attributes must be given, and not be zero.
	Required bool
	// Indexed attributes of a catalog are looked up by: its elements that have a value are found without reading all.
	Indexed bool
	// Computed attributes are set by posting and never read from a request.
	Computed bool
}

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
