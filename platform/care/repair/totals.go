package repair

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// addRebuilds plans to rebuild totals. Totals of wrong documents are a witness of what these were: they are summed when
// nothing under them is wrong any more.
func (p *planning) addRebuilds() {
	for _, name := range p.books.RegistersWithTotals() {
		s := Step{Class: Rebuild, Object: "totals of " + name, Risk: Low,
			Why: "they are not the sums of the movements"}
		for _, v := range p.totals[name] {
			c := Change{v.Subject, v.Found, v.Expected}
			if key, _, _ := strings.Cut(v.Subject, " month="); len(p.under[name][key]) > 0 {
				c.WillHave = "as the documents above determine"
			}
			s.Changes = append(s.Changes, c)
		}
		if len(s.Changes) > 0 {
			s.act = p.rebuild(name, p.under[name])
			p.add(s)
		}
	}
}

// rebuild what is not under a wrong document.
func (r *Repairer) rebuild(name string, under map[string][]id.ID) action {
	return func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		left := map[string]bool{}
		for text, documents := range under {
			left[text] = slices.ContainsFunc(documents, func(v id.ID) bool { return !r.repaired[v] })
		}
		r.books.LockTotals(w, name)
		found, err := r.books.Mismatched(ctx, w, name)
		if err != nil {
			return false, err
		}
		if found = found.Without(left); found.Len() == 0 {
			return false, nil
		}
		if err := p.open(ctx, w, totalsOf(r.books, []posting.Mismatch{found})...); err != nil {
			return false, err
		}
		r.books.Resum(w, found)
		again, err := r.books.Mismatched(ctx, w, name)
		if err == nil && again.Without(left).Len() > 0 {
			err = errors.New("they would still not be the sums of the movements")
		}
		return true, errors.Join(err, p.close(ctx, w))
	}
}

// addBoundary marks the costs behind a document that did not take the oldest goods: a restoration puts them in order.
func (p *planning) addBoundary(e *posting.Examined, findings []finding) {
	for _, f := range findings {
		if f.about != "order" {
			continue
		}
		name, d, r := f.invariant, e.Document, p.Repairer
		p.add(Step{Class: Rebuild, Object: name + " boundary of " + d.Meta.Name + " " + d.Number + " " + d.ID.String(),
			Document: d.ID, Risk: Low, Why: "'plimsoll restore' corrects the costs after it",
			Changes: []Change{{f.Field, f.Found, f.Expected}},
			act: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
				table := name
				for i := range r.app.Accumulation {
					if m := &r.app.Accumulation[i]; m.Name == name {
						table = m.Boundary()
					}
				}
				if err := p.open(ctx, w, part{table, table + " t WHERE t.organisation = $1",
					[]any{d.Organisation}}); err != nil {
					return false, err
				}
				r.books.MarkBoundary(w, name, d)
				return true, errors.Join(w.Flush(ctx), p.close(ctx, w))
			}})
	}
}

// boundary of a key without movements, or not at a document: a boundary may be too early, but this one belongs to
// nothing. Where costs are out of order, the replay names the first document, and the boundary is set there. A
// boundary that is not at a document is removed before documents are written, which makes them changed ones.
func (p *planning) boundary(f finding) {
	name := strings.TrimSuffix(f.invariant, "_boundary")
	v, err := id.Parse(uuidPattern.FindString(f.Subject))
	if err != nil {
		return
	}
	r, class, why := p.Repairer, Rebuild, "there are no movements under its key"
	if f.about == "moments" {
		class, why = Reverse, "it is not at a document"
	}
	p.add(Step{Class: class, Object: name + " boundary of " + f.Subject, Risk: Low,
		Why: why, Changes: []Change{{f.Field, f.Found, "no boundary"}},
		act: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
			for i := range r.app.Accumulation {
				m := &r.app.Accumulation[i]
				if m.Name != name {
					continue
				}
				at := part{m.Boundary(), m.Boundary() + " t WHERE t.organisation = $1", []any{v}}
				if err := p.open(ctx, w, at); err != nil {
					return false, err
				}
				var gone int64
				w.Queue("drop boundary", posting.IdleBoundariesSQL(r.app, m), v).
					Affected(func(n int64) error { gone = n; return nil })
				return gone > 0, errors.Join(w.Flush(ctx), p.close(ctx, w))
			}
			return false, nil
		}})
}
