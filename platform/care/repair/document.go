package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// repairDocument rewrites a document and its record sets.
func (r *Repairer) repairDocument(d documentRef, organisation id.ID, planned Step) action {
	return func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		r.books.Hold(w, d.kind, organisation, d.id)
		if err := w.Flush(ctx); err != nil {
			return false, err
		}
		e, err := r.books.Examine(ctx, w, d.kind, d.id)
		if err != nil {
			return false, err
		}
		if e == nil {
			return false, errChanged
		}
		switch again := judge(e, nil); {
		case slices.ContainsFunc(planned.After, func(v id.ID) bool { return !r.repaired[v] }):
			return false, skip("it refers to a document that was not repaired")
		case again.Class == "":
			return false, nil
		case len(planned.After) > 0 && again.Class == Restore:
			return false, skip(again.Why)
		case len(planned.After) > 0 && again.Risk == High && !r.trust:
			return false, skip(again.Why + ": --trust-documents repairs it anyway")
		case len(planned.After) > 0:
		case !slices.Equal(again.Changes, planned.Changes):
			return false, errChanged
		}
		if e.NothingRecorded() && len(e.Own) > 0 {
			return true, r.post(ctx, w, p, e)
		}
		parts := append(r.document(d.id), totalsOf(r.books, e.Mismatches())...)
		if err := p.open(ctx, w, parts...); err != nil {
			return false, err
		}
		e.Repair(w)
		if err := w.Flush(ctx); database.IsUniqueViolation(err) {
			return false, skip("another document has already recorded the same")
		} else if err != nil {
			return false, err
		}
		return true, errors.Join(r.verify(ctx, w, d), p.close(ctx, w))
	}
}

// errChanged: others have changed the object; the same command makes a new plan.
const errChanged = skip("it was changed since the plan was made: run the repair again")

// verify after a step that the document is in order, in the step's own transaction, which is undone if it is not.
func (r *Repairer) verify(ctx context.Context, w *database.Work, d documentRef) error {
	e, err := r.books.Examine(ctx, w, d.kind, d.id)
	if err != nil {
		return err
	}
	if s := judge(e, nil); s.Class != "" {
		return skip(fmt.Sprintf("it would still be wrong: %s: %s instead of %s", s.Changes[0].Field,
			s.Changes[0].Has, s.Changes[0].WillHave))
	}
	return nil
}

// post a document of which nothing is recorded, and whose costs only layers have. What it will take is known when it
// has taken it, so it is tried first, and the rows it will change are digested after that trial is undone.
func (r *Repairer) post(ctx context.Context, w *database.Work, p *proof, e *posting.Examined) error {
	d := e.Document
	key := posting.Key{Name: "repair " + id.New().String(), Digest: []byte{}}
	w.Savepoint("trial")
	all, err := r.books.Post(ctx, w, e, key)
	if refused := new(posting.Refusal); errors.As(err, &refused) {
		return skip("its rules refuse it now: " + refused.Message)
	} else if err != nil {
		return err
	}
	if err := w.RollbackTo(ctx, "trial"); err != nil {
		return err
	}
	parts := append(r.document(d.ID), totalsOf(r.books, all)...)
	parts = append(parts, part{"plimsoll_operation", "plimsoll_operation t WHERE t.author = $1 AND t.key = $2",
		[]any{key.Author, key.Name}})
	for i := range r.app.Accumulation {
		if m := &r.app.Accumulation[i]; m.Layered {
			parts = append(parts, part{m.Boundary(), m.Boundary() + " t WHERE t.organisation = $1",
				[]any{d.Organisation}})
		}
	}
	if err := p.open(ctx, w, parts...); err != nil {
		return err
	}
	if _, err := r.books.Post(ctx, w, e, key); err != nil {
		return err
	}
	return errors.Join(r.verify(ctx, w, documentRef{d.Meta.Name, d.ID}), p.close(ctx, w))
}
