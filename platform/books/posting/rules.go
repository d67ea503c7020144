// Package posting turns a document into books: it reads what the rules of its type need, under locks, lets the rules
// decide, and writes document, movements, entries and totals in one transaction.
//
// The rules are pure: they see values and return record sets, or a refusal. A strategy fetches the values and writes
// the record sets, and every strategy makes the same books. Lean, the default, posts so:
//
//	number ─▶ BEGIN, key, locks, references, balances ─▶ Rules.Record ─▶ document, movements, entries, totals, COMMIT
//	          └────────── one round trip ──────────┘        │            └──────────── one round trip ─────────────┘
//	                                                        └─▶ Refusal ─▶ ROLLBACK
//
// An existing document is locked first, so that its record sets are known and do not change; removing them is
// controlled as adding them is:
//
//	BEGIN, key, document held, record sets ─▶ locks, references, balances ─▶ Rules.Record, controls
//	─▶ differences, COMMIT
//
// Life of a document:
//
//	        create                 post                 change, repost
//	(none) ────────▶ not posted ──────────▶ posted ◀──────┐
//	   │              ▲   │ ▲                │  │ └────────┘
//	   │       change └───┘ └───── unpost ───┘  │
//	   └──────────────── create and post ───────▶
package posting

import (
	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/lock"
)

// Rules define how one type of document is posted.
type Rules interface {
	// Reads names the attributes of referred catalogs and documents that Record uses, by the name of the catalog or
	// document type; those of a document's section as "lines.item". That references exist and belong to the
	// organisation is checked in any case.
	Reads() map[string][]string
	// Needs says what must be locked and read from registers before Record decides.
	Needs(d *document.Document) Needs
	// Record computes the document's computed attributes and its record sets, or refuses. It may be called again for
	// the same document.
	Record(d *document.Document, facts *Facts) (*Records, error)
}

// Costing are rules of documents that take from layers, whose cost depends on the layers at their moment.
type Costing interface {
	Rules
	// Recost recomputes the costs of a posted document, and completely those of its record sets that depend on them;
	// the others stay. It sees catalogs and layers, and refuses only for lack of goods: what was agreed is not decided
	// again.
	Recost(d *document.Document, facts *Facts) (*Records, error)
}

// Needs of a document. All locks are taken before anything is read.
type Needs struct {
	Read []Need
	Lock []Lock // for what Record writes without having read it
}

// Lock lists keys to be locked. It is not called if no other transaction can run.
type Lock func() []lock.Key

// Need asks for current balances of an accumulation register, or for records of an information register.
type Need struct {
	Register string
	// As is the name of the answer in Facts, for rules that ask one register in two ways. Defaults to the register.
	As string
	// Keys have the dimensions: of a layered register the leading ones, of others all or the first ones (then the
	// balance is the sum below them); no combination twice.
	Keys *rowset.Table
	// Required is, for a layered register, the quantity of its first resource to be taken under each key, in the same
	// row.
	Required *rowset.Table
	// Lock guards what is read.
	Lock Lock
}

func (n Need) name() string {
	if n.As != "" {
		return n.As
	}
	return n.Register
}

// Facts are the answers to the rules' needs.
type Facts struct {
	Catalogs map[string]*catalog.Elements
	// Documents referred to, by type, read after all locks are taken: what a lock guards in them does not change.
	Documents map[string]*document.Referred
	// Information holds what recorders other than the document state under the keys of the register's Need, in the same
	// row, at the document's moment.
	Information map[string]*information.Slice
	// Balances holds the resources of each key of the register's Need, in the same row.
	Balances map[string]*rowset.Table
	// Layers holds, for the keys of a layered register's Need, at least the oldest layers that contain the required
	// quantity.
	Layers map[string]*register.Layers
	// Period is the result of Closing.Look.
	Period any
}

func newFacts() *Facts {
	return &Facts{
		Catalogs: map[string]*catalog.Elements{}, Information: map[string]*information.Slice{},
		Balances: map[string]*rowset.Table{}, Layers: map[string]*register.Layers{},
	}
}

// Records are the record sets of a document.
type Records struct {
	Information []*information.Records
	Movements   []*register.Movements
	Entries     []*ledger.Entries
}

// Refusal by a business control: a valid outcome, not a failure.
type Refusal struct {
	Control string // which control
	Message string // for the person
	Items   any    // what exactly was refused, for the client
}

func (r *Refusal) Error() string { return r.Control + ": " + r.Message }
