package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"plimsoll/platform/audit"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
)

// planning gathers the findings of an audit by the object that they are about. What is about no object is a consequence
// of something that is, or is left for the audit at the end.
type planning struct {
	*Repairer
	documents  map[papers][]finding
	operations []finding
	totals     map[string][]audit.Violation // by register
	steps      []Step
	added      map[string]bool // classes and objects of the steps
	// under are the wrong documents whose record sets are summed in totals, by register and key.
	under map[string]map[string][]id.ID
}

// papers of a document: its type as its record sets name it, which need not be one.
type papers struct {
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
	p := &planning{Repairer: r, documents: map[papers][]finding{},
		totals: map[string][]audit.Violation{}, added: map[string]bool{},
		under: map[string]map[string][]id.ID{}}
	for _, c := range report.Checks {
		at := strings.LastIndex(c.Invariant, ".")
		for _, v := range c.Examples {
			p.sort(finding{c.Invariant[:max(at, 0)], c.Invariant[at+1:], v})
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(p.documents), func(a, b papers) int {
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
	p.defers()
	p.rebuilds()
	slices.SortStableFunc(p.steps, func(a, b Step) int {
		return cmp.Compare(slices.Index(Classes, a.Class), slices.Index(Classes, b.Class))
	})
	return p.steps, nil
}

// totalsChecks are what must hold of totals.
var totalsChecks = []string{"current", "monthly", "accounts", "dated", "balanced"}

// sort a finding to its object.
func (p *planning) sort(f finding) {
	switch {
	case f.Found == "missing" && f.Expected == "there":
		p.lost(f, f.Subject, "a table of the books is not there")
	case f.about == "operations":
		p.operations = append(p.operations, f)
	case f.about == "counter":
		p.counter(f)
	case f.about == "references" && strings.HasPrefix(f.invariant, "cat_"):
		p.lost(f, f.Subject, "a catalog refers to what is not there")
	case f.about == "references" && strings.HasSuffix(f.invariant, "_boundary"):
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
		p.documents[papers{kind, v}] = append(p.documents[papers{kind, v}], f)
	}
}

func (p *planning) isRegister(name string) bool { return slices.Contains(p.books.Totalled(), name) }

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
func (p *planning) document(ctx context.Context, w *database.Work, d papers, findings []finding) error {
	there, err := p.recorded(ctx, w, d)
	if err != nil {
		return err
	}
	if there.elsewhere != "" && !there.header && !there.lines { // its rows name another type than its own
		of := papers{there.elsewhere, d.id}
		return p.document(ctx, w, of, p.documents[of])
	}
	_, known := p.app.Document(d.kind)
	if !known {
		return p.reverse(ctx, w, d, there, there.registers, "no type of documents is called "+d.kind)
	}
	e, err := p.books.Examine(ctx, w, d.kind, d.id)
	if err != nil {
		return err
	}
	if e == nil {
		return p.orphan(ctx, w, d, there, findings)
	}
	meta := e.Document.Meta
	if stray := slices.DeleteFunc(slices.Clone(there.registers), func(name string) bool {
		return slices.Contains(meta.Recorded(), name)
	}); len(stray) > 0 {
		if err := p.reverse(ctx, w, d, there, stray, "documents of this type record nothing there"); err != nil {
			return err
		}
	}
	s := judge(e, findings)
	if s.Class == "" {
		p.reorder(e, findings)
		return nil
	}
	s.of = e
	p.explain(e)
	p.add(s)
	return nil
}

// defers what refers to a document that is wrong itself: rules read it, so what they make now may be wrong, too.
func (p *planning) defers() {
	wrong := map[id.ID]string{}
	for _, s := range p.steps {
		if s.Class == Restore || s.of != nil && len(s.of.Own) > 0 {
			wrong[s.Document] = s.Object
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		e := s.of
		if e == nil { // not about a document, or about what it should not have recorded
			continue
		}
		s.of = nil
		broken := s.Class == Restore && !e.Refused && strings.Contains(s.Why, inPapersWhy)
		e.Document.References(func(a *metadata.Attribute, v id.ID) {
			if a.Documents != nil && v != s.Document && wrong[v] != "" && !broken && !slices.Contains(s.After, v) {
				s.After = append(s.After, v)
				s.Why = "it refers to " + wrong[v] + ": judged again when that is mended"
			}
		})
		if len(s.After) > 0 {
			s.Class, s.Risk = Repost, Low
		}
		if s.Class != Restore {
			s.do = p.mend(papers{e.Document.Meta.Name, s.Document}, e.Document.Organisation, *s)
		}
	}
}

// explain the totals under the record sets of a document.
func (p *planning) explain(e *posting.Examined) { p.explainBy(e.Document.ID, e.Everything()) }

// explainRecorded explains the totals under what a recorder has in registers.
func (p *planning) explainRecorded(ctx context.Context, w *database.Work, d papers, registers []string) error {
	all, err := p.books.RecordedBy(ctx, w, registers, d.id)
	p.explainBy(d.id, all)
	return err
}

// explainBy is called for one document after the other, so that one that was named is the last.
func (p *planning) explainBy(v id.ID, all []posting.Mismatch) {
	for _, m := range all {
		if p.under[m.Register] == nil {
			p.under[m.Register] = map[string][]id.ID{}
		}
		for _, text := range m.Texts() {
			if of := p.under[m.Register][text]; len(of) == 0 || of[len(of)-1] != v {
				p.under[m.Register][text] = append(of, v)
			}
		}
	}
}

// inPapers are findings about a document itself, not about what follows from it.
var inPapers = []string{"references", "headers", "numbers"}

const inPapersWhy = "the document itself is wrong"

// judge finds out what is wrong about a document and, where it contradicts its record sets, which side was changed. An
// empty class: nothing is.
func judge(e *posting.Examined, findings []finding) Step {
	d := e.Document
	s := Step{Object: strings.TrimSpace(d.Meta.Name + " " + d.Number + " " + d.ID.String()), Document: d.ID}
	for _, f := range findings {
		if slices.Contains(inPapers, f.about) {
			s.Changes = append(s.Changes, Change{f.Field, f.Found, f.Expected})
		}
	}
	if len(s.Changes) > 0 {
		s.Class, s.Why = Restore, inPapersWhy
		return s
	}
	for _, difference := range slices.Concat(e.Own, e.Recorded) {
		s.Changes = append(s.Changes, Change{difference.Field, difference.Found, difference.Expected})
	}
	for _, name := range e.Misplaced {
		s.Changes = append(s.Changes, Change{name, "rows of another organisation, time, type or line",
			"rows of the document"})
	}
	recorded := len(e.Recorded) > 0 || len(e.Misplaced) > 0
	switch {
	case len(s.Changes) == 0:
		return Step{}
	case e.Refused:
		s.Class, s.Why = Restore, "its rules cannot make anything of the document"
	case !d.Posted:
		s.Class, s.Risk, s.Why = reverseUnposted(e)
	case e.Bare():
		s.Class, s.Risk, s.Why = Repost, High, "nothing of it is recorded"
		if e.Totals == posting.Rows || e.Totals != posting.Papers && e.Together() {
			s.Risk, s.Why = Low, "nothing of it is recorded, and the document is as it was written"
		}
	case !recorded:
		s.Class, s.Risk, s.Why = Repost, Low, "what it has recorded is what its rules make of it"
	default:
		s.Class, s.Risk, s.Why = weigh(e)
	}
	return s
}

// reverseUnposted weighs the witnesses about what a document has recorded that says it is not posted. Whatever they
// say, the person decides: the document may be posted again.
func reverseUnposted(e *posting.Examined) (Class, Risk, string) {
	says := func(w posting.Witness) bool { return e.Totals == w || e.Writes == w }
	switch {
	case says(posting.Papers) || says(posting.Undecided):
		return Reverse, High, "it says that it is not posted, and totals or transactions say that it was"
	case says(posting.Rows):
		return Reverse, Low, "it is not posted"
	}
	return Reverse, High, "it is not posted, and nothing says that it never was"
}

// weigh the witnesses about a document that contradicts its record sets.
func weigh(e *posting.Examined) (Class, Risk, string) {
	says := func(w posting.Witness) bool { return e.Totals == w || e.Writes == w }
	switch {
	case says(posting.Papers) && says(posting.Rows):
		return Restore, "", "totals and transactions contradict each other about which side was changed"
	case says(posting.Papers):
		return Restore, "", "the document was changed: " + reason(e)
	case says(posting.Rows):
		return Repost, Low, "what it has recorded was changed: " + reason(e)
	case len(e.Own) > 0:
		return Restore, "", "nothing says whether the document or what it has recorded was changed"
	}
	return Repost, High, "nothing says whether the document or what it has recorded was changed"
}

func reason(e *posting.Examined) string {
	var said []string
	switch e.Totals {
	case posting.Rows:
		said = append(said, "totals are those of the document")
	case posting.Papers:
		said = append(said, "totals are those of what is recorded")
	}
	switch e.Writes {
	case posting.Rows:
		said = append(said, "it was written by another transaction than the document")
	case posting.Papers:
		said = append(said, "it was written by another transaction than what is recorded")
	}
	return strings.Join(said, "; ")
}
