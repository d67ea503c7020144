package posting

import (
	"context"
	"fmt"
	"time"

	"plimsoll/platform/database"
	"plimsoll/platform/document"
	"plimsoll/platform/lock"
)

// Strategy names a way to fetch facts and to write record sets.
type Strategy string

const (
	// Lean has nothing to spare: lines travel as arrays, all that is needed comes in one round trip, only differences are written, set by set. The default.
	Lean Strategy = "lean"
	// Classic works as platforms of this kind do: through temp tables, one row per statement, whole record sets deleted and inserted anew.
	Classic Strategy = "classic"
)

// strategy is how a unit of work talks with the database. What is decided, which keys are locked, and that the order of locks is
// idempotency key, document, managed locks, movements, totals, is the same in all of them, so that workers of several serve one database.
type strategy interface {
	// open queues what a unit of work begins with, behind its key.
	open(w *database.Work, k *kind, d *document.Document, isNew bool)
	// gather locks what is to be locked, then fetches what was asked for.
	gather(ctx context.Context, w *database.Work, k *kind, d *document.Document, q question) (*Facts, error)
	// write makes of the document held (nil when there is none yet) and its record sets the new ones.
	write(ctx context.Context, w *database.Work, k *kind, held, d *document.Document, before, after sets) error
}

// question is what must be known before the rules decide.
type question struct {
	references bool // of the document
	needs      []Balance
	checks     []check     // their left and needed are filled in
	closed     **time.Time // up to when the books are; filled in
}

// With makes the books work by another strategy.
func (b *Books) With(s Strategy) (*Books, error) {
	switch s {
	case Lean, "":
		b.how = lean{b}
	case Classic:
		b.how = newClassic(b)
	default:
		return nil, fmt.Errorf("post by strategy %q: %s or %s", s, Lean, Classic)
	}
	return b, nil
}

type lean struct{ *Books }

// open lets the texts, which never change, be planned once for a connection: the planner would go on planning some of them at every call, because
// it takes ten keys for dearer than the one that is given.
func (lean) open(w *database.Work, _ *kind, _ *document.Document, _ bool) {
	w.Queue("plan once", "SET LOCAL plan_cache_mode = force_generic_plan")
}

func (b lean) gather(ctx context.Context, w *database.Work, k *kind, d *document.Document, q question) (*Facts, error) {
	facts := &Facts{}
	b.lock(w, d, q)
	if q.references {
		facts = k.references(w, d)
	}
	b.balances(w, d, q.needs, facts)
	for i := range q.checks {
		c := &q.checks[i]
		c.left = c.register.Balances(w, d.Organisation, c.keys)
		if c.covered != nil {
			c.needed = c.covered.Balances(w, d.Organisation, c.keys)
		}
	}
	return facts, w.Flush(ctx)
}

func (b lean) write(_ context.Context, w *database.Work, k *kind, held, d *document.Document, before, after sets) error {
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

// locks of everything, taken in one statement before anything is read: a statement sees what was committed before it began, so nothing can
// come between.
func (q question) locks() (locks []lock.Key) {
	for i := range q.checks {
		locks = append(locks, q.checks[i].locks...)
	}
	for _, n := range q.needs {
		locks = append(locks, n.Locks()...)
	}
	return locks
}
