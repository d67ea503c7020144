package posting

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/lock"
)

// Restoration reposts, in the order of time, the documents that took from the layers of some keys since their boundary,
// so that they get the costs that posting one by one in the order (date, id) would give. It is one transaction: a key
// is either restored or unchanged.
//
// Dependencies: the layers of a key are used up by documents of that key alone, so keys are independent. A document
// takes from several keys; under keys that are not restored here it keeps what it has taken. So the rows of a document
// depend on the last restoration of each of its keys, in any order, as long as no two restorations write one document
// at once: each locks the documents that it writes.
//
//	documents held, by id ─▶ keys locked ─▶ documents again: new ones held too, or all once more
//	─▶ layers as before the boundary ─▶ documents in the order of time, so many at a time
//	─▶ totals, register by register, ledgers last ─▶ boundary cleared, COMMIT
//
// If goods left before they arrived, no order of time gives them a cost: they take from the first later receipts, and
// the boundary stays there.
type Restoration struct {
	Register     string
	Organisation id.ID
	Keys         *rowset.Table // the leading dimensions of the layers, no combination twice
	Locks        []lock.Key    // of the keys, those that the rules take
	How          Manner
	// Progress, if set, is called after each step with the number of lines processed; after a retry it starts again.
	Progress func(Restored)
}

// Manner of a restoration. All give the same books.
type Manner struct {
	// Classic reposts one document after the other: it reads balances at each document's moment through temp tables and
	// rewrites all its record sets row by row, with a round trip per statement. Otherwise layers are kept in memory,
	// many documents are read and written at a time, and only differences are written.
	Classic bool
	// Wide is a classic query that reads all layers of a warehouse and picks those of the document.
	Wide bool
	// TotalsUntil is the month up to whose first day a classic query uses totals; later movements are read one by one.
	// Zero is the month of each document.
	TotalsUntil time.Time
	// Documents at a time. Defaults to DocumentsAtATime; 1 for classic.
	Documents int
}

// DocumentsAtATime bounds the memory of a restoration besides layers.
const DocumentsAtATime = 500

// Restored counts the work of a restoration.
type Restored struct {
	Keys      int64 `json:"keys"`
	Documents int64 `json:"documents"` // processed
	Lines     int64 `json:"lines"`     // movements of the keys in them
	Changed   int64 `json:"changed"`   // with changed costs
	Rows      int64 `json:"rows"`      // of movements and entries written
	Short     int64 `json:"short"`     // keys whose goods left before they arrived
}

// Add sums.
func (r *Restored) Add(more Restored) {
	r.Keys, r.Documents, r.Lines, r.Changed = r.Keys+more.Keys, r.Documents+more.Documents, r.Lines+more.Lines,
		r.Changed+more.Changed
	r.Rows, r.Short = r.Rows+more.Rows, r.Short+more.Short
}

// errMoved: a document that is being changed got these keys while waiting for them; start again.
var errMoved = errors.New("a document of the keys is being changed")

const (
	restorationPatience = "SET LOCAL lock_timeout = '60s'"
	restorationAttempts = 20
	restorationPause    = 50 * time.Millisecond
)

// Restore runs it.
func (b *Books) Restore(ctx context.Context, r Restoration) (done Restored, err error) {
	if b.registers[r.Register] == nil || !b.registers[r.Register].Meta().Layered {
		return done, fmt.Errorf("restore: no layered register %q", r.Register)
	}
	if r.How.Documents < 1 {
		r.How.Documents = DocumentsAtATime
	}
	if r.How.Classic {
		r.How.Documents = 1
	}
	for attempt := 1; ; attempt++ {
		err = b.db.Run(ctx, func(w *database.Work) (err error) {
			done, err = b.restore(ctx, w, r)
			return err
		})
		if !errors.Is(err, errMoved) || attempt == restorationAttempts {
			break
		}
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(restorationPause/2 + rand.N(restorationPause)):
		}
	}
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", r.Register, err)
	}
	return done, nil
}

func (b *Books) restore(ctx context.Context, w *database.Work, r Restoration) (Restored, error) {
	if r.How.Classic {
		w.OneByOne()
	}
	layered := b.registers[r.Register]
	takers, boundaries, err := b.holdTakers(ctx, w, layered, r)
	if err != nil {
		return Restored{}, err
	}
	s := &sequence{
		books: b, layered: layered, restoration: r, writers: b.writers(), short: map[string]time.Time{},
		keys:  rowset.New(layered.Meta().Leading(), 0),
		since: map[string]time.Time{},
	}
	var moments []time.Time
	for row := range r.Keys.Rows() { // keys that another restoration has done meanwhile are left out
		if moment, ok := boundaries[layered.Leading(r.Keys, row)]; ok {
			s.keys.Add(r.Keys, []int{row})
			s.since[layered.Leading(r.Keys, row)] = moment
			moments = append(moments, moment)
		}
	}
	s.done.Keys = int64(s.keys.Rows())
	if s.done.Keys == 0 {
		return s.done, nil
	}
	if !r.How.Classic {
		untaken := layered.Untaken(w, r.Organisation, id.ID{}, s.keys, moments)
		if err := w.Flush(ctx); err != nil {
			return s.done, err
		}
		s.memory = newMemory(layered, untaken)
	}
	for some := range slices.Chunk(takers, r.How.Documents) {
		if err := s.repost(ctx, w, some); err != nil {
			return s.done, err
		}
		if r.Progress != nil {
			r.Progress(s.done)
		}
	}
	s.writers.totals(w)
	layered.Settle(w, r.Organisation, s.keys, s.short)
	s.done.Short = int64(len(s.short))
	return s.done, nil
}

// holdTakers locks the documents before the keys, as everybody does, and looks for documents that came in between.
func (b *Books) holdTakers(ctx context.Context, w *database.Work, layered *register.Register,
	r Restoration) ([]register.Taker, map[string]time.Time, error) {
	w.Queue("be patient", restorationPatience)
	w.Queue("be patient", "SET LOCAL statement_timeout = 0")
	before := layered.Takers(w, r.Organisation, r.Keys)
	if err := w.Flush(ctx); err != nil {
		return nil, nil, err
	}
	held := map[id.ID]bool{}
	if err := b.holdMany(w, *before, held, false); err != nil {
		return nil, nil, err
	}
	lock.Exclusive(w, r.Locks)
	boundaries := layered.Boundaries(w, r.Organisation, r.Keys)
	takers := layered.Takers(w, r.Organisation, r.Keys)
	if err := w.Flush(ctx); err != nil {
		return nil, nil, err
	}
	if err := b.holdMany(w, *takers, held, true); err != nil {
		return nil, nil, err
	}
	if err := w.Flush(ctx); database.IsLockTimeout(err) {
		return nil, nil, errMoved
	} else if err != nil {
		return nil, nil, err
	}
	return *takers, boundaries, nil
}

func (b *Books) holdMany(w *database.Work, takers []register.Taker, held map[id.ID]bool, atOnce bool) error {
	byType := map[string][]id.ID{}
	for _, t := range takers {
		if !held[t.ID] {
			held[t.ID] = true
			byType[t.Type] = append(byType[t.Type], t.ID)
		}
	}
	for _, name := range sortedKeys(byType) {
		if b.types[name] == nil {
			return fmt.Errorf("hold %s: it has no rules", name)
		}
		b.types[name].store.HoldMany(w, byType[name], atOnce)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// posted is a document in a restoration.
type posted struct {
	kind   *kind
	held   *document.Document
	before sets
	facts  *Facts

	required map[string]int64 // of the first resource, by key restored
	inside   *rowset.Table    // those keys
	outside  []int            // its movements under other keys
}
