package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
)

// mend a document and its record sets.
func (r *Repairer) mend(d papers, organisation id.ID, planned Step) deed {
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
		case slices.ContainsFunc(planned.After, func(v id.ID) bool { return !r.mended[v] }):
			return false, skip("it refers to a document that is not mended")
		case again.Class == "":
			return false, nil
		case len(planned.After) > 0 && again.Class == Restore:
			return false, skip(again.Why)
		case len(planned.After) > 0 && again.Risk == High && !r.trust:
			return false, skip(again.Why + ": --trust-documents does it")
		case len(planned.After) > 0:
		case !slices.Equal(again.Changes, planned.Changes):
			return false, errChanged
		}
		if e.Bare() && len(e.Own) > 0 {
			return true, r.post(ctx, w, p, e)
		}
		parts := append(r.document(d.id), totalsOf(r.books, e.Mismatches())...)
		if err := p.open(ctx, w, parts...); err != nil {
			return false, err
		}
		e.Mend(w)
		if err := w.Flush(ctx); database.IsUniqueViolation(err) {
			return false, skip("another document has recorded what it would")
		} else if err != nil {
			return false, err
		}
		return true, errors.Join(r.inOrder(ctx, w, d), p.close(ctx, w))
	}
}

// errChanged: others have changed the object; the same command makes a new plan.
const errChanged = skip("it was changed since the plan was made: repeat the repair")

// inOrder after a step: the object is audited in the step's own transaction, which is undone if it is not.
func (r *Repairer) inOrder(ctx context.Context, w *database.Work, d papers) error {
	e, err := r.books.Examine(ctx, w, d.kind, d.id)
	if err != nil {
		return err
	}
	if s := judge(e, nil); s.Class != "" {
		return skip(fmt.Sprintf("it would not be in order: %s: %s instead of %s", s.Changes[0].Field,
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
	return errors.Join(r.inOrder(ctx, w, papers{d.Meta.Name, d.ID}), p.close(ctx, w))
}

// traces of a document in the database.
type traces struct {
	registers     []string
	header, lines bool
	operation     bool
	elsewhere     string // another type of which there is such a document
}

// any of the document itself, or of what it has recorded.
func (t traces) any() bool { return t.header || t.elsewhere != "" || t.lines || len(t.registers) > 0 }

func (t traces) same(other traces) bool {
	return slices.Equal(t.registers, other.registers) && t.header == other.header && t.lines == other.lines &&
		t.operation == other.operation && t.elsewhere == other.elsewhere
}

func (r *Repairer) recorded(ctx context.Context, w *database.Work, d papers) (t traces, err error) {
	var found []string
	for name, table := range r.books.Tables() {
		found = append(found, fmt.Sprintf("SELECT '%s' WHERE EXISTS (SELECT FROM %s WHERE recorder = $1)", name, table))
	}
	slices.Sort(found)
	w.Queue("look for traces", strings.Join(found, " UNION ALL "), d.id).Rows(func(rows pgx.Rows) error {
		var name string
		err := rows.Scan(&name)
		t.registers = append(t.registers, name)
		return err
	})
	if meta, known := r.app.Document(d.kind); known {
		w.Queue("look for the header", "SELECT EXISTS (SELECT FROM "+meta.Table()+" WHERE id = $1)", d.id).
			Rows(func(rows pgx.Rows) error { return rows.Scan(&t.header) })
		for i := range meta.Sections {
			w.Queue("look for lines", "SELECT EXISTS (SELECT FROM "+meta.SectionTable(&meta.Sections[i])+
				" WHERE document = $1)", d.id).Rows(func(rows pgx.Rows) error {
				var some bool
				err := rows.Scan(&some)
				t.lines = t.lines || some
				return err
			})
		}
	}
	w.Queue("look for the operation", "SELECT EXISTS (SELECT FROM plimsoll_operation WHERE document = $1)", d.id).
		Rows(func(rows pgx.Rows) error { return rows.Scan(&t.operation) })
	var others []string
	for i := range r.app.Documents {
		if meta := &r.app.Documents[i]; meta.Name != d.kind {
			others = append(others, fmt.Sprintf("SELECT '%s' WHERE EXISTS (SELECT FROM %s WHERE id = $1)", meta.Name,
				meta.Table()))
		}
	}
	if len(others) > 0 {
		w.Queue("look for other headers", strings.Join(others, " UNION ALL "), d.id).
			Rows(func(rows pgx.Rows) error { return rows.Scan(&t.elsewhere) })
	}
	err = w.Flush(ctx)
	slices.Sort(t.registers)
	return t, err
}

// orphan is what is left of a document without a header. Operations are forgotten after a while; totals are not.
func (p *planning) orphan(ctx context.Context, w *database.Work, d papers, there traces, findings []finding) error {
	s := Step{Object: d.kind + " ? " + d.id.String(), Document: d.id, Class: Restore}
	for _, f := range findings {
		s.Changes = append(s.Changes, Change{f.Field, f.Found, f.Expected})
	}
	switch {
	case there.lines:
		s.Why = "its header is gone, and lines of it are there"
	case there.operation && len(there.registers) > 0:
		s.Why = "it was acknowledged, and only what it has recorded is left"
	case len(there.registers) > 0:
		return p.reverse(ctx, w, d, there, there.registers, "there is no such document, nor an operation that made it")
	default:
		return nil
	}
	p.add(s)
	return p.explainRecorded(ctx, w, d, there.registers)
}

// reverse what a recorder has in registers, if totals say that nobody ever posted it.
func (p *planning) reverse(ctx context.Context, w *database.Work, d papers, planned traces, registers []string,
	why string) error {
	if len(registers) == 0 {
		return nil
	}
	s := Step{Class: Reverse, Object: d.kind + " ? " + d.id.String(), Document: d.id, Risk: Low, Why: why}
	for _, name := range registers {
		s.Changes = append(s.Changes, Change{name, "rows", "none"})
	}
	claimed, err := p.books.Claimed(ctx, w, registers, d.id)
	if err != nil {
		return err
	}
	if err := p.explainRecorded(ctx, w, d, registers); err != nil {
		return err
	}
	switch claimed {
	case posting.Papers, posting.Undecided:
		s.Class, s.Risk, s.Why = Restore, "", why+", but totals have what it has recorded: it was posted"
		p.add(s)
		return nil
	case posting.Silent:
		s.Risk, s.Why = High, why+"; totals do not say whether it was ever posted"
	}
	r := p.Repairer
	s.do = func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		there, err := r.recorded(ctx, w, d)
		switch {
		case err != nil:
			return false, err
		case !slices.ContainsFunc(there.registers, func(name string) bool { return slices.Contains(registers, name) }):
			return false, nil
		case !there.same(planned):
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

// reorder the costs behind a document that did not take the oldest goods: a restoration puts them in order.
func (p *planning) reorder(e *posting.Examined, findings []finding) {
	for _, f := range findings {
		if f.about != "order" {
			continue
		}
		name, d, r := f.invariant, e.Document, p.Repairer
		p.add(Step{Class: Rebuild, Object: name + " boundary of " + d.Meta.Name + " " + d.Number + " " + d.ID.String(),
			Document: d.ID, Risk: Low, Why: "costs behind it are put in order by 'plimsoll restore'",
			Changes: []Change{{f.Field, f.Found, f.Expected}},
			do: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
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
				r.books.Disorder(w, name, d)
				return true, errors.Join(w.Flush(ctx), p.close(ctx, w))
			}})
	}
}

// operation whose document is gone. Where anything is left of it, only a backup has the rest.
func (p *planning) operation(ctx context.Context, w *database.Work, f finding) error {
	var key string
	at := strings.LastIndex(f.Subject, " document=")
	if !strings.HasPrefix(f.Subject, "key=") || at < 0 {
		return nil
	}
	key = f.Subject[len("key="):at]
	v, err := id.Parse(f.Subject[at+len(" document="):])
	if err != nil {
		return nil
	}
	r, kind := p.Repairer, f.invariant
	if there, err := r.recorded(ctx, w, papers{kind, v}); err != nil || there.any() {
		return err
	}
	p.add(Step{Class: Resubmit, Object: fmt.Sprintf("operation %q of %s %s", key, kind, v), Document: v, Risk: Low,
		Why:     "acknowledged, and gone: its client must send it again with the same key",
		Changes: []Change{{"key", "done", "free"}},
		do: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
			there, err := r.recorded(ctx, w, papers{kind, v})
			if err != nil {
				return false, err
			}
			if there.any() || !there.operation {
				return false, nil
			}
			at := part{"plimsoll_operation", "plimsoll_operation t WHERE t.document = $1 AND t.key = $2", []any{v, key}}
			if err := p.open(ctx, w, at); err != nil {
				return false, err
			}
			w.Queue("free key", "DELETE FROM plimsoll_operation WHERE document = $1 AND key = $2", v, key)
			return true, errors.Join(w.Flush(ctx), p.close(ctx, w))
		}})
	return nil
}

const (
	renumberSQL = `INSERT INTO plimsoll_number AS n (organisation, kind, next)
SELECT $1, $2, coalesce(max(substr(number, $3)::bigint), 0) + 1 FROM %s
WHERE organisation = $1 AND number ~ ('^' || $4 || '-[0-9]{1,18}$')
ON CONFLICT (organisation, kind) DO UPDATE SET next = excluded.next WHERE n.next < excluded.next`
)

func (p *planning) counter(f finding) {
	meta, known := p.app.Document(f.invariant)
	v, err := id.Parse(uuidPattern.FindString(f.Subject))
	if !known || err != nil {
		return
	}
	p.add(Step{Class: Renumber, Object: f.Subject, Risk: Low, Why: "numbers beyond the counter are in use",
		Changes: []Change{{f.Field, f.Found, f.Expected}},
		do: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
			at := part{"plimsoll_number", "plimsoll_number t WHERE t.organisation = $1 AND t.kind = $2",
				[]any{v, meta.Name}}
			if err := p.open(ctx, w, at); err != nil {
				return false, err
			}
			var moved int64
			w.Queue("renumber", fmt.Sprintf(renumberSQL, meta.Table()), v, meta.Name, len(meta.Prefix)+2, meta.Prefix).
				Affected(func(n int64) error { moved = n; return nil })
			return moved > 0, errors.Join(w.Flush(ctx), p.close(ctx, w))
		}})
}

// boundary of a key that nothing can have: a boundary may be too early, but this one is of nothing.
func (p *planning) boundary(f finding) {
	name := strings.TrimSuffix(f.invariant, "_boundary")
	v, err := id.Parse(uuidPattern.FindString(f.Subject))
	if err != nil {
		return
	}
	r := p.Repairer
	p.add(Step{Class: Rebuild, Object: name + " boundary of " + f.Subject, Risk: Low,
		Why: "nothing was ever moved under its key", Changes: []Change{{f.Field, f.Found, "no boundary"}},
		do: func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
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
				w.Queue("drop boundary", r.books.IdleBoundariesSQL(name), v).
					Affected(func(n int64) error { gone = n; return nil })
				return gone > 0, errors.Join(w.Flush(ctx), p.close(ctx, w))
			}
			return false, nil
		}})
}

// rebuilds of totals. Those under the record sets of wrong documents are a witness of what these were: they are summed
// when nothing under them is wrong any more.
func (p *planning) rebuilds() {
	for _, name := range p.books.Totalled() {
		s := Step{Class: Rebuild, Object: "totals of " + name, Risk: Low,
			Why: "they are not the sums of what moved them"}
		for _, v := range p.totals[name] {
			c := Change{v.Subject, v.Found, v.Expected}
			if of, _, _ := strings.Cut(v.Subject, " month="); len(p.under[name][of]) > 0 {
				c.WillHave = "as the documents above make it"
			}
			s.Changes = append(s.Changes, c)
		}
		if len(s.Changes) > 0 {
			s.do = p.rebuild(name, p.under[name])
			p.add(s)
		}
	}
}

// rebuild what is not under a wrong document.
func (r *Repairer) rebuild(name string, under map[string][]id.ID) deed {
	return func(ctx context.Context, w *database.Work, p *proof) (bool, error) {
		left := map[string]bool{}
		for text, documents := range under {
			left[text] = slices.ContainsFunc(documents, func(v id.ID) bool { return !r.mended[v] })
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
