package posting

import (
	"context"
	"fmt"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/lock"
)

// Strategy names a way to fetch facts and to write record sets.
type Strategy string

const (
	// Lean is the fastest: lines travel as arrays, everything needed comes in one round trip, only differences are
	// written, set by set. The default.
	Lean Strategy = "lean"
	// Classic works as platforms of this kind do: through temp tables, one row per statement, whole record sets deleted
	// and inserted again.
	Classic Strategy = "classic"
)

// strategy is how a unit of work talks to the database. The decisions, the locked keys and the order of locks
// (idempotency key, document, managed locks, movements, totals) are the same in all, so that workers with different
// strategies can serve one database.
type strategy interface {
	// open queues the first statements of a unit of work, after its key.
	open(w *database.Work, k *kind, d *document.Document, isNew bool)
	// gather takes the locks, then fetches what is needed.
	gather(ctx context.Context, w *database.Work, k *kind, d *document.Document, q question) (*Facts, error)
	// write changes the locked document (nil if it is new) and its record sets to the new ones.
	write(ctx context.Context, w *database.Work, k *kind, held, d *document.Document, before, after sets) error
}

// question is what must be known before the rules decide.
type question struct {
	references bool // of the document
	needs      Needs
	checks     []check     // left and needed are filled in
	closed     **time.Time // until when the books are closed; filled in
}

// With makes the books use another strategy.
func (b *Books) With(s Strategy) (*Books, error) {
	switch s {
	case Lean, "":
		b.strategy = lean{b}
	case Classic:
		b.strategy = newClassic(b)
	default:
		return nil, fmt.Errorf("unknown posting strategy %q: use %s or %s", s, Lean, Classic)
	}
	return b, nil
}

type lean struct{ *Books }

// open lets statements with a constant text be planned once per connection: otherwise the planner would replan some of
// them at every call, because it assumes ten keys and takes the generic plan for dearer.
func (lean) open(w *database.Work, _ *kind, _ *document.Document, _ bool) {
	w.Queue("plan once", "SET LOCAL plan_cache_mode = force_generic_plan")
}

func (b lean) gather(ctx context.Context, w *database.Work, k *kind, d *document.Document, q question) (*Facts, error) {
	facts := &Facts{}
	b.lock(w, d, q)
	if q.references {
		facts = k.references(w, d)
	}
	b.balances(w, d, q.needs.Read, facts)
	for i := range q.checks {
		c := &q.checks[i]
		c.left = c.register.Balances(w, d.Organisation, c.keys)
		if c.covered != nil {
			c.needed = c.covered.Balances(w, d.Organisation, c.keys)
		}
	}
	return facts, w.Flush(ctx)
}

func (b lean) write(_ context.Context, w *database.Work, k *kind, held, d *document.Document, before,
	after sets) error {
	was := d.Date
	if held == nil {
		k.store.Write(w, d)
	} else {
		k.store.Change(w, held, d)
		was = held.Date
	}
	b.Books.write(w, d, was, before, after)
	return nil
}

// locks of everything, taken in one statement before anything is read: a statement sees what was committed before it
// began, so nothing can come between.
func (q question) locks() (locks []lock.Key) {
	for i := range q.checks {
		locks = append(locks, q.checks[i].locks...)
	}
	for _, n := range q.needs.Read {
		locks = append(locks, n.Lock()...)
	}
	for _, guard := range q.needs.Lock {
		locks = append(locks, guard()...)
	}
	return locks
}
