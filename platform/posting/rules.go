// Package posting owns how a document becomes books: it reads what the rules of its type need, under
// locks, lets the rules decide, and writes document, movements, entries and totals in one transaction.
//
// The rules are pure: they see values and return record sets, or a refusal. How the values are fetched and the record sets written is the strategy's
// (Lean here), so every strategy makes the same books.
//
//	number ─▶ BEGIN, key, references, locks, balances ─▶ Rules.Record ─▶ document, movements+totals, entries+totals, COMMIT
//	          └────────── one round trip ──────────┘        │            └──────────────── one round trip ────────────┘
//	                                                        └─▶ Refusal ─▶ ROLLBACK
//
// A document that exists is held first, so that its record sets are known and stay so; taking them back is controlled as bringing them is:
//
//	BEGIN, key, document held, record sets ─▶ references, locks, balances ─▶ Rules.Record, controls ─▶ differences, COMMIT
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
	"plimsoll/platform/ledger"
	"plimsoll/platform/lock"
	"plimsoll/platform/register"
	"plimsoll/platform/rowset"
)

// Rules are what an application says about posting one type of document.
type Rules interface {
	// Reads names the attributes of referred catalogs that Record looks at. That every reference of the document
	// exists and belongs to the organisation is checked without being asked for.
	Reads() map[string][]string
	// Balances says which current balances Record needs, and what must be locked before they are read.
	Balances(d *document.Document) []Balance
	// Record computes the document's computed attributes and its record sets, or refuses. It may be called again for the same document.
	Record(d *document.Document, facts *Facts) (*Records, error)
}

// Balance is a need for the current balances of a register.
type Balance struct {
	Register string
	Keys     *rowset.Table // the dimensions, of a layered register the leading ones; no combination twice; nil only locks
	Locks    []lock.Key
}

// Facts are what the rules asked for.
type Facts struct {
	Catalogs map[string]*catalog.Elements
	// Balances has the resources of each key of the register's Balance, in the same row.
	Balances map[string]*rowset.Table
	// Layers has what there is under the keys of a layered register's Balance.
	Layers map[string]*register.Layers
	// Restoring means that a posted document is posted anew only so that its costs follow the order of time: what has
	// been agreed with others is not refused now, whatever became of balances since.
	Restoring bool
}

func newFacts() *Facts {
	return &Facts{Catalogs: map[string]*catalog.Elements{}, Balances: map[string]*rowset.Table{}, Layers: map[string]*register.Layers{}}
}

// Records are the record sets of a document.
type Records struct {
	Movements []*register.Movements
	Entries   []*ledger.Entries
}

// Refusal is a business control saying no: a valid outcome, not a failure.
type Refusal struct {
	Control string // which control
	Message string // for the person
	Items   any    // what exactly was refused, for the screen
}

func (r *Refusal) Error() string { return r.Control + ": " + r.Message }
