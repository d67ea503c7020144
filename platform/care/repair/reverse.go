package repair

import (
	"context"
	"errors"
	"slices"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
)

// orphan plans for what is left of a document without a header. Operations are deleted after a while; totals are not.
func (p *planning) orphan(ctx context.Context, w *database.Work, d documentRef, there traces,
	findings []finding) error {
	s := Step{Object: d.kind + " ? " + d.id.String(), Document: d.id, Class: Restore}
	for _, f := range findings {
		s.Changes = append(s.Changes, Change{f.Field, f.Found, f.Expected})
	}
	switch {
	case there.lines:
		s.Why = "its header is gone, but lines of it exist"
	case there.operation && len(there.registers) > 0:
		s.Why = "it was acknowledged, but only its records are left"
	case len(there.registers) > 0:
		return p.reverse(ctx, w, d, there, there.registers, "there is no such "+
			"document, and no operation that created it")
	default:
		return nil
	}
	p.add(s)
	return p.noteRecordedKeys(ctx, w, d, there.registers)
}

// reverse what a recorder has in registers, if totals say that nobody ever posted it.
func (p *planning) reverse(ctx context.Context, w *database.Work, d documentRef, planned traces, registers []string,
	why string) error {
	if len(registers) == 0 {
		return nil
	}
	s := Step{Class: Reverse, Object: d.kind + " ? " + d.id.String(), Document: d.id, Risk: Low, Why: why}
	for _, name := range registers {
		s.Changes = append(s.Changes, Change{name, "rows", "none"})
	}
	claimed, err := p.books.AskTotals(ctx, w, registers, d.id)
	if err != nil {
		return err
	}
	if err := p.noteRecordedKeys(ctx, w, d, registers); err != nil {
		return err
	}
	switch claimed {
	case posting.DocumentChanged, posting.Undecided:
		s.Class, s.Risk, s.Why = Restore, "", why+", but totals contain its records: it was posted"
		p.add(s)
		return nil
	case posting.Silent:
		s.Risk, s.Why = High, why+"; totals do not show whether it was ever posted"
	}
	r := p.Repairer
	s.act = func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		recorded, err := r.recorded(ctx, w, d)
		switch {
		case err != nil:
			return false, err
		case !slices.ContainsFunc(recorded.registers, func(name string) bool {
			return slices.Contains(registers, name)
		}):
			return false, nil
		case !recorded.same(planned):
			return false, errChanged
		}
		all, err := r.books.RecordedBy(ctx, w, registers, d.id)
		if err != nil {
			return false, err
		}
		if err := p.open(ctx, w, append(r.document(d.id), totalsOf(r.books, all)...)...); err != nil {
			return false, err
		}
		for _, name := range registers {
			if err := r.books.Reverse(ctx, w, name, d.id); err != nil {
				return false, err
			}
		}
		return true, errors.Join(w.Flush(ctx), p.close(ctx, w))
	}
	p.add(s)
	return nil
}
