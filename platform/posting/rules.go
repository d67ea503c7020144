// Package posting owns how a document becomes books: it reads what the rules of its type need, under
// locks, lets the rules decide, and writes document, movements, entries and totals in one transaction.
//
// The rules are pure: they see values and return record sets, or a refusal. How the values are fetched and the record sets written is the strategy's,
// so every strategy makes the same books. Lean, the default, posts so:
//
//	number ─▶ BEGIN, key, locks, references, balances ─▶ Rules.Record ─▶ document, movements+totals, entries+totals, COMMIT
//	          └────────── one round trip ──────────┘        │            └──────────────── one round trip ────────────┘
//	                                                        └─▶ Refusal ─▶ ROLLBACK
//
// A document that exists is held first, so that its record sets are known and stay so; taking them back is controlled as bringing them is:
//
//	BEGIN, key, document held, record sets ─▶ locks, references, balances ─▶ Rules.Record, controls ─▶ differences, COMMIT
//
// Life of a document:
//
//	        create                 post                 change, post anew
//	(none) ────────▶ not posted ──────────▶ posted ◀──────┐
//	   │              ▲   │ ▲                │  │ └────────┘
//	   │       change └───┘ └───── unpost ───┘  │
//	   └──────────────── create and post ───────▶
package posting

import (
	"plimsoll/platform/catalog"
	"plimsoll/platform/document"
	"plimsoll/platform/information"
	"plimsoll/platform/ledger"
	"plimsoll/platform/lock"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Rules are what an application says about posting one type of document.
type Rules interface {
	// Reads names the attributes of referred catalogs and documents that Record looks at, by the name of the catalog or document type; those
	// of a document's section as "lines.item". That every reference of the document exists and belongs to the organisation is checked
	// without being asked for.
	Reads() map[string][]string
	// Balances says which current balances and records Record needs, and what must be locked before they are read.
	Balances(d *document.Document) []Balance
	// Record computes the document's computed attributes and its record sets, or refuses. It may be called again for the same document.
	Record(d *document.Document, facts *Facts) (*Records, error)
}

// Costing are rules of documents that take from layers, whose cost depends on what was there at their moment.
type Costing interface {
	Rules
	// Recost computes the costs of a posted document anew, and those of its record sets that depend on them, each whole; the others
	// stay. It sees catalogs and layers, and refuses nothing but what there is not enough of: what was agreed is not decided again.
	Recost(d *document.Document, facts *Facts) (*Records, error)
}

// Balance is a need for the current balances of an accumulation register, or for what an information register knows.
type Balance struct {
	Register string
	// As names the answer in Facts, for rules that ask one register in two ways. Defaults to the register.
	As string
	// Keys have the dimensions, of a layered register the leading ones, of others the first ones or all (the balance is then of all that lies
	// under them); no combination twice. Nil only locks.
	Keys *rowset.Table
	// Required says, of a layered register, how much of its first resource is to be taken under each key, in the same row.
	Required *rowset.Table
	// Locks says what must be locked before. Nobody asks who is alone.
	Locks func() []lock.Key
}

func (b Balance) name() string {
	if b.As != "" {
		return b.As
	}
	return b.Register
}

// Facts are what the rules asked for.
type Facts struct {
	Catalogs map[string]*catalog.Elements
	// Documents referred to, by their type, read after everything is locked: what of them a lock guards stays as it is.
	Documents map[string]*document.Referred
	// Information has what others than the document state under the keys of the register's Balance, in the same row: at the document's moment.
	Information map[string]*information.Slice
	// Balances has the resources of each key of the register's Balance, in the same row.
	Balances map[string]*rowset.Table
	// Layers has, of what there is under the keys of a layered register's Balance, at least the oldest layers that hold what is required.
	Layers map[string]*register.Layers
	// Period is what rules that close books have looked for.
	Period any
}

func newFacts() *Facts {
	return &Facts{
		Catalogs: map[string]*catalog.Elements{}, Information: map[string]*information.Slice{}, Balances: map[string]*rowset.Table{}, Layers: map[string]*register.Layers{},
	}
}

// Records are the record sets of a document.
type Records struct {
	Information []*information.Records
	Movements   []*register.Movements
	Entries     []*ledger.Entries
}

// Refusal is a business control saying no: a valid outcome, not a failure.
type Refusal struct {
	Control string // which control
	Message string // for the person
	Items   any    // what exactly was refused, for the screen
}

func (r *Refusal) Error() string { return r.Control + ": " + r.Message }
