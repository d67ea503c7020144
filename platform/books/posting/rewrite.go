package posting

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Rewriting says how record sets are rewritten.
type Rewriting struct {
	// Documents per transaction. Defaults to 1.
	Documents int
	// Rows per statement; 0 means all of the transaction's.
	Rows int
	// Asynchronous transactions do not wait for the log flush. A crash may lose the last of them as a whole: record
	// sets are then as they were, and the rewriting would not change them.
	Asynchronous bool
}

// Rewritten counts the work that the server has acknowledged.
type Rewritten struct {
	Documents int64 `json:"documents"`
	Rows      int64 `json:"rows"` // of record sets, deleted and inserted
}

// Plus is the sum.
func (r Rewritten) Plus(other Rewritten) Rewritten {
	return Rewritten{r.Documents + other.Documents, r.Rows + other.Rows}
}

// Rewrite deletes the record sets of posted documents of one type and inserts them again unchanged, as is done after a
// register has changed its form. The books stay the same. It returns what was done; documents before an error are done.
func (b *Books) Rewrite(ctx context.Context, kindName string, documents []id.ID, manner Rewriting) (done Rewritten,
	err error) {
	k := b.types[kindName]
	if k == nil {
		return done, fmt.Errorf("rewrite %s: it has no rules", kindName)
	}
	for some := range slices.Chunk(documents, max(1, manner.Documents)) {
		var rows int64
		err := b.db.Run(ctx, func(w *database.Work) (err error) {
			rows, err = b.rewrite(ctx, w, k, some, manner)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("rewrite %s: %w", kindName, err)
		}
		done = done.Plus(Rewritten{int64(len(some)), rows})
	}
	return done, nil
}

func (b *Books) rewrite(ctx context.Context, w *database.Work, k *kind, documents []id.ID, manner Rewriting) (
	rows int64,
	err error) {
	if manner.Asynchronous {
		w.Queue("commit asynchronously", "SET LOCAL synchronous_commit = off")
	}
	k.store.HoldMany(w, documents, false)
	headers := k.store.ReadMany(w, documents)
	s := &sequence{books: b, writers: b.writers()}
	read := s.recordSets(w, k, documents)
	if err := w.Flush(ctx); err != nil {
		return 0, err
	}
	for _, v := range documents {
		if d := headers[v]; d != nil {
			s.writers.replace(&posted{kind: k, held: d, before: read(v)}, d, read(v), true)
		}
	}
	_, rows = s.writers.write(w, manner.Rows)
	return rows, nil
}

// recordSets queues reading the record sets of documents of one kind; the result has them by document after the flush.
func (s *sequence) recordSets(w *database.Work, k *kind, documents []id.ID) func(id.ID) sets {
	var collect []func(v id.ID, to sets)
	for _, name := range k.meta.Recorded() {
		if s.books.known[name] != nil {
			continue
		}
		if r := s.books.registers[name]; r != nil {
			found := r.ReadMany(w, documents)
			collect = append(collect, func(v id.ID, to sets) { to.movements[name] = orNone(found[v], r) })
			continue
		}
		found := s.books.ledgers[name].ReadMany(w, documents)
		collect = append(collect, func(v id.ID, to sets) {
			if e := found[v]; e != nil {
				to.entries[name] = e
			}
		})
	}
	return func(v id.ID) sets {
		to := s.books.sets(&Records{})
		for _, each := range collect {
			each(v, to)
		}
		return to
	}
}
