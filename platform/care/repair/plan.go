package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/care/audit"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// planning gathers the findings of an audit by the object that they are about. A finding about no object follows from
// another one, or is left for the audit at the end.
type planning struct {
	*Repairer
	documents  map[documentRef][]finding
	operations []finding
	totals     map[string][]audit.Violation // by register
	steps      []Step
	added      map[string]bool // classes and objects of the steps
	// under are the wrong documents whose record sets are summed in totals, by register and key.
	under map[string]map[string][]id.ID
}

// documentRef names a document by its id and by the type that its record sets name, which may not exist.
type documentRef struct {
	kind string
	id   id.ID
}

type finding struct {
	invariant string // of what the part before the dot names
	about     string // what must hold: the part behind the dot
	audit.Violation
}

var uuidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (r *Repairer) plan(ctx context.Context, report audit.Report) ([]Step, error) {
	p := &planning{Repairer: r, documents: map[documentRef][]finding{},
		totals: map[string][]audit.Violation{}, added: map[string]bool{},
		under: map[string]map[string][]id.ID{}}
	for _, c := range report.Checks {
		at := strings.LastIndex(c.Invariant, ".")
		for _, v := range c.Examples {
			p.sort(finding{c.Invariant[:max(at, 0)], c.Invariant[at+1:], v})
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(p.documents), func(a, b documentRef) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), a.id.Compare(b.id))
	}) {
		if err := r.db.Run(ctx, func(w *database.Work) error {
			return p.document(ctx, w, d, p.documents[d])
		}); err != nil {
			return nil, fmt.Errorf("%s %s: %w", d.kind, d.id, err)
		}
	}
	for _, f := range p.operations {
		if err := r.db.Run(ctx, func(w *database.Work) error { return p.operation(ctx, w, f) }); err != nil {
			return nil, err
		}
	}
	p.deferDependents()
	p.addRebuilds()
	slices.SortStableFunc(p.steps, func(a, b Step) int {
		return cmp.Compare(slices.Index(Classes, a.Class), slices.Index(Classes, b.Class))
	})
	return p.steps, nil
}

// totalsChecks are what must hold of totals.
var totalsChecks = []string{"current", "monthly", "accounts", "splits", "dated", "balanced"}

// sort a finding by its object.
func (p *planning) sort(f finding) {
	switch {
	case f.invariant == "groups": // finishing or undoing one is not for a repair to decide
	case f.Found == "missing" && f.Expected == "there":
		p.lost(f, f.Subject, "a table of the books is missing")
	case f.about == "operations":
		p.operations = append(p.operations, f)
	case f.about == "counter":
		p.counter(f)
	case f.about == "references" && strings.HasPrefix(f.invariant, "cat_"):
		p.lost(f, f.Subject, "a catalog refers to an element that does not exist")
	case f.about == "values":
		p.lost(f, f.Subject, "a catalog has an invalid value")
	case f.about == "acknowledged", f.about == "performers":
		p.lost(f, "operation of "+f.Subject, "only the client knows its key")
	case (f.about == "references" || f.about == "moments") && strings.HasSuffix(f.invariant, "_boundary"):
		p.boundary(f)
	case p.isRegister(f.invariant) && slices.Contains(totalsChecks, f.about):
		p.totals[f.invariant] = append(p.totals[f.invariant], f.Violation)
	default:
		kind, rest, _ := strings.Cut(f.Subject, " ")
		text := uuidPattern.FindString(rest)
		v, err := id.Parse(text)
		if text == "" || err != nil || strings.Contains(kind, "=") {
			return
		}
		p.documents[documentRef{kind, v}] = append(p.documents[documentRef{kind, v}], f)
	}
}

func (p *planning) isRegister(name string) bool {
	return slices.Contains(p.books.RegistersWithTotals(), name)
}

// add a step once.
func (p *planning) add(s Step) {
	if key := string(s.Class) + " " + s.Object; !p.added[key] {
		p.added[key] = true
		p.steps = append(p.steps, s)
	}
}

func (p *planning) lost(f finding, object, why string) {
	p.add(Step{Class: Restore, Object: object, Why: why, Changes: []Change{{f.Field, f.Found, f.Expected}}})
}

// document decides about one document.
func (p *planning) document(ctx context.Context, w *database.Work, d documentRef, findings []finding) error {
	recorded, err := p.recorded(ctx, w, d)
	if err != nil {
		return err
	}
	if recorded.elsewhere != "" && !recorded.header && !recorded.lines { // its rows name another type than its own
		other := documentRef{recorded.elsewhere, d.id}
		return p.document(ctx, w, other, p.documents[other])
	}
	_, known := p.app.Document(d.kind)
	if !known {
		return p.reverse(ctx, w, d, recorded, recorded.registers, "there is no document type "+d.kind)
	}
	e, err := p.books.Examine(ctx, w, d.kind, d.id)
	if err != nil {
		return err
	}
	if e == nil {
		return p.orphan(ctx, w, d, recorded, findings)
	}
	meta := e.Document.Meta
	if stray := slices.DeleteFunc(slices.Clone(recorded.registers), func(name string) bool {
		return slices.Contains(meta.Recorded(), name)
	}); len(stray) > 0 {
		if err := p.reverse(ctx, w, d, recorded, stray, "documents of this type "+
			"record nothing in that register"); err != nil {
			return err
		}
	}
	s := judge(e, findings)
	if s.Class == "" {
		p.addBoundary(e, findings)
		return nil
	}
	s.examined = e
	p.noteAllKeys(e)
	p.add(s)
	return nil
}

// deferDependents defers documents that refer to a wrong document: rules read it, so what they make now may be wrong.
func (p *planning) deferDependents() {
	wrong := map[id.ID]string{}
	for _, s := range p.steps {
		if s.Class == Restore || s.examined != nil && len(s.examined.Own) > 0 {
			wrong[s.Document] = s.Object
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		e := s.examined
		if e == nil { // not about a document, or about what it should not have recorded
			continue
		}
		s.examined = nil
		broken := s.Class == Restore && !e.Refused && strings.Contains(s.Why, documentIsWrong)
		e.Document.References(func(a *metadata.Attribute, v id.ID) {
			if a.Documents != nil && v != s.Document && wrong[v] != "" && !broken && !slices.Contains(s.After, v) {
				s.After = append(s.After, v)
				s.Why = "it refers to " + wrong[v] + ": judged again once that is repaired"
			}
		})
		if len(s.After) > 0 {
			s.Class, s.Risk = Repost, Low
		}
		if s.Class != Restore {
			s.act = p.repairDocument(documentRef{e.Document.Meta.Name, s.Document}, e.Document.Organisation, *s)
		}
	}
}

// noteAllKeys notes the keys of totals that a wrong document is summed in.
func (p *planning) noteAllKeys(e *posting.Examined) { p.noteKeys(e.Document.ID, e.AllKeys()) }

// noteRecordedKeys notes the keys of totals that a recorder's rows in registers are summed in.
func (p *planning) noteRecordedKeys(ctx context.Context, w *database.Work, d documentRef, registers []string) error {
	all, err := p.books.RecordedBy(ctx, w, registers, d.id)
	p.noteKeys(d.id, all)
	return err
}

// noteKeys is called for one document after the other, so a document that is noted already is the last of a key.
func (p *planning) noteKeys(v id.ID, all []posting.Mismatch) {
	for _, m := range all {
		if p.under[m.Register] == nil {
			p.under[m.Register] = map[string][]id.ID{}
		}
		for _, text := range m.KeyTexts() {
			if documents := p.under[m.Register][text]; len(documents) == 0 || documents[len(documents)-1] != v {
				p.under[m.Register][text] = append(documents, v)
			}
		}
	}
}
