package posting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// Unlimited is the amount of everything when a document is derived: what was allowed once is not decided again.
const Unlimited = 1e15

// Evident are rules of documents that depend on more of the state at posting than costs and controls.
type Evident interface {
	Rules
	// Restate fills into the facts what the stored document itself shows of that state.
	Restate(d *document.Document, facts *Facts, stored *Records)
}

// Difference between a document as its rules make it and as it is stored.
type Difference struct {
	Document        *document.Document
	Field           string // such as "total", "lines 2.vat", "stock 1.quantity"
	Expected, Found string
}

// Derive posts documents of a type again in memory by their own rules, and compares the result with what is stored:
// attributes, lines and record sets. It writes nothing. It does not read balances: rules see plenty, and of layers
// first those that the document has taken.
func (b *Books) Derive(ctx context.Context, w *database.Work, kindName string, documents []id.ID) (all []Difference,
	err error) {
	k := b.types[kindName]
	headers := k.store.ReadMany(w, documents)
	stored := b.storedSets(w, k, documents)
	if err := w.Flush(ctx); err != nil {
		return nil, err
	}
	byOrganisation := map[id.ID][]*document.Document{}
	for _, v := range documents {
		if d := headers[v]; d != nil && d.Posted {
			byOrganisation[d.Organisation] = append(byOrganisation[d.Organisation], d)
		}
	}
	for _, organisation := range sortedIDs(byOrganisation) {
		some := byOrganisation[organisation]
		elements, referred := k.elements(w, organisation, some...), k.documents.readMany(w, organisation, some)
		if err := w.Flush(ctx); err != nil {
			return nil, err
		}
		for _, d := range some {
			all = append(all, b.derive(k, d, stored(d.ID), elements, referred)...)
		}
	}
	return all, nil
}

func sortedIDs[T any](m map[id.ID]T) []id.ID {
	ids := make([]id.ID, 0, len(m))
	for v := range m {
		ids = append(ids, v)
	}
	slices.SortFunc(ids, id.ID.Compare)
	return ids
}

// readMany is read for documents of one organisation.
func (r referredReaders) readMany(w *database.Work, organisation id.ID, documents []*document.Document,
) map[string]*document.Referred {
	found := make(map[string]*document.Referred, len(r.order))
	for _, name := range r.order {
		var ids []id.ID
		for _, d := range documents {
			ids = append(ids, referencesTo(d, name)...)
		}
		slices.SortFunc(ids, id.ID.Compare)
		found[name] = r.readers[name].Read(w, organisation, slices.Compact(ids))
	}
	return found
}

// storedSets is recordSets including information registers.
func (b *Books) storedSets(w *database.Work, k *kind, documents []id.ID) func(id.ID) sets {
	s := &sequence{books: b}
	rest := s.recordSets(w, k, documents)
	states := map[string]map[id.ID]*information.Records{}
	for _, name := range k.meta.Recorded() {
		if known := b.known[name]; known != nil {
			states[name] = known.ReadMany(w, documents)
		}
	}
	return func(v id.ID) sets {
		all := rest(v)
		for name, found := range states {
			if records := found[v]; records != nil {
				all.records[name] = records
			}
		}
		return all
	}
}

// derive compares one document.
func (b *Books) derive(k *kind, held *document.Document, stored sets, elements map[string]*catalog.Elements,
	referred map[string]*document.Referred) []Difference {
	m := b.remake(k, held, stored, elements, referred)
	return slices.Concat(m.own, m.recorded)
}

// remade is a document as its rules make it, and how it differs from what is stored.
type remade struct {
	document      *document.Document
	sets          sets
	own, recorded []Difference
	refused       bool // so damaged that the rules cannot run; that is the only difference
}

func (b *Books) remake(k *kind, held *document.Document, stored sets, elements map[string]*catalog.Elements,
	referred map[string]*document.Referred) (m remade) {
	refuse := func(field, expected, found string) {
		m = remade{own: []Difference{{held, field, expected, found}}, refused: true}
	}
	defer func() {
		if r := recover(); r != nil {
			refuse("rules", "rules that can be asked", fmt.Sprint(r))
		}
	}()
	facts := newFacts()
	facts.Catalogs = elements
	facts.Documents = make(map[string]*document.Referred, len(referred))
	for name, all := range referred {
		facts.Documents[name] = all
	}
	if err := k.present(held, facts); err != nil {
		refuse(fieldOf(err), "what there is, of the same organisation", err.Error())
		return m
	}
	for name, all := range referred {
		facts.Documents[name] = asAgreed(held, all, referencesTo(held, name))
	}
	m.document = held.Copy()
	for _, n := range k.rules.Needs(m.document).Read {
		b.answerNeed(n, held, facts, stored)
	}
	if evident, has := k.rules.(Evident); has {
		evident.Restate(held, facts, stored.list())
	}
	records, err := k.rules.Record(m.document, facts)
	if err != nil {
		refuse(fieldOf(err), "a document that its rules accept", err.Error())
		return m
	}
	compareDocuments(held, m.document, func(field, expected, found string) {
		m.own = append(m.own, Difference{held, field, expected, found})
	})
	m.sets = b.sets(records)
	b.compareSets(m.sets, stored, func(field, expected, found string) {
		m.recorded = append(m.recorded, Difference{held, field, expected, found})
	})
	return m
}

// fieldOf names the field that rules refuse.
func fieldOf(err error) string {
	var invalid *document.Invalid
	var refused *Refusal
	switch {
	case errors.As(err, &invalid):
		return invalid.Field
	case errors.As(err, &refused):
		return refused.Control
	}
	return "rules"
}

// asAgreed makes referred documents as rules want them: posted, and of the same deal. They were so at posting, and may
// have changed since.
func asAgreed(d *document.Document, all *document.Referred, ids []id.ID) *document.Referred {
	own := all.Only(ids)
	for row := range own.Rows.Rows() {
		rowset.Column[bool](own.Rows, "posted")[row] = true
	}
	for i := range d.Meta.Attributes {
		a := &d.Meta.Attributes[i]
		shown, has := metadata.Find(own.Rows.Attributes, a.Name)
		if !has || a.Computed || a.Type != metadata.Reference || shown.Type != a.Type {
			continue
		}
		for row := range own.Rows.Rows() {
			rowset.Column[id.ID](own.Rows, a.Name)[row] = rowset.Column[id.ID](d.Header, a.Name)[0]
		}
	}
	return own
}

// answerNeed answers a need with plenty, so that a shortage shows as a difference.
func (b *Books) answerNeed(n Need, d *document.Document, facts *Facts, stored sets) {
	r, known := b.registers[n.Register], b.known[n.Register]
	switch {
	case known != nil:
		facts.Information[n.name()] = information.NewSlice(known.Meta(), n.Keys.Rows())
	case r.Meta().Layered:
		layers := register.NewLayers(r.Meta(), 0)
		if own := stored.movements[n.Register]; own != nil {
			var taken []int
			for row := range own.Rows.Rows() {
				if own.Expense[row] {
					taken = append(taken, row)
				}
			}
			keep(layers, own, taken, r.Meta())
		}
		// more of each layer, so that a shortage shows as a difference
		last := len(r.Meta().Leading())
		for row := range n.Keys.Rows() {
			to := layers.Keys.Grow(1)
			for i := range last {
				*layers.Keys.Cell(i, to).(*id.ID) = n.Keys.Value(i, row).(id.ID)
			}
		}
		fill(layers.Left, layers.Left.Grow(n.Keys.Rows()), 1)
		facts.Layers[n.name()] = layers
	default:
		balances := rowset.New(r.Meta().Resources, n.Keys.Rows())
		balances.Grow(n.Keys.Rows())
		if !b.covered(n.Register) {
			fill(balances, 0, len(balances.Attributes))
		}
		facts.Balances[n.name()] = balances
	}
}

// covered registers hold what others were promised: nothing
func (b *Books) covered(name string) bool {
	for _, r := range b.registers {
		if r.Meta().Covers == name {
			return true
		}
	}
	return false
}

// fill the first columns with plenty, from a row on.
func fill(t *rowset.Table, from, columns int) {
	for row := from; row < t.Rows(); row++ {
		for i := range columns {
			switch cell := t.Cell(i, row).(type) {
			case *amount.Money:
				*cell = Unlimited
			case *amount.Quantity:
				*cell = Unlimited
			}
		}
	}
}

// list converts the sets to records.
func (s sets) list() *Records {
	all := &Records{}
	for _, name := range sortedKeys(s.movements) {
		all.Movements = append(all.Movements, s.movements[name])
	}
	return all
}

type differs func(field, expected, found string)

func compareDocuments(held, d *document.Document, differ differs) {
	for i := range held.Header.Attributes {
		compareCell(d.Header, held.Header, i, 0, "", differ)
	}
	for s := range held.Sections {
		section, name := held.Sections[s], held.Meta.Sections[s].Name
		for row := range section.Rows() {
			if section.Same(row, d.Sections[s], row) {
				continue
			}
			for i := range section.Attributes {
				compareCell(d.Sections[s], section, i, row, fmt.Sprintf("%s %d.", name, row+1), differ)
			}
		}
	}
}

func compareCell(expected, found *rowset.Table, column, row int, name string, differ differs) {
	e, f := text(expected.Value(column, row)), text(found.Value(column, row))
	if e != f {
		differ(name+found.Attributes[column].Name, e, f)
	}
}

func (b *Books) compareSets(derived, stored sets, differ differs) {
	for _, name := range b.order {
		if known := b.known[name]; known != nil {
			e, f := derived.recordsOf(known).Rows, stored.recordsOf(known).Rows
			compareRows(name, rowsOf(e, nil), rowsOf(f, nil), differ)
			continue
		}
		if r := b.registers[name]; r != nil {
			e, f := orNone(derived.movements[name], r), orNone(stored.movements[name], r)
			if !sameMovements(e, f) {
				compareRows(name, rowsOf(e.Rows, e.Expense), rowsOf(f.Rows, f.Expense), differ)
			}
			continue
		}
		e, f := derived.entriesOf(name), stored.entriesOf(name)
		compareRows(name, entryRows(e), entryRows(f), differ)
	}
}

func sameMovements(a, b *register.Movements) bool {
	if a.Rows.Rows() != b.Rows.Rows() {
		return false
	}
	for row := range a.Rows.Rows() {
		if a.Expense[row] != b.Expense[row] || !a.Rows.Same(row, b.Rows, row) {
			return false
		}
	}
	return true
}

// row of a record set, as text.
type row struct {
	names, values []string
}

func (r row) String() string {
	parts := make([]string, len(r.names))
	for i := range r.names {
		parts[i] = r.names[i] + "=" + r.values[i]
	}
	return strings.Join(parts, " ")
}

func rowsOf(t *rowset.Table, expense []bool) (rows []row) {
	for i := range t.Rows() {
		var r row
		if expense != nil {
			r.names, r.values = append(r.names, "expense"), append(r.values, text(expense[i]))
		}
		for c := range t.Attributes {
			r.names, r.values = append(r.names, t.Attributes[c].Name), append(r.values, text(t.Value(c, i)))
		}
		rows = append(rows, r)
	}
	return rows
}

var entryNames = strings.Split(ledger.Columns+", amount", ", ")

func entryRows(e *ledger.Entries) (rows []row) {
	for i := range e.Amount {
		var values []string
		for _, v := range e.Credit[i].Values(e.Debit[i].Values(nil)) {
			values = append(values, text(v))
		}
		rows = append(rows, row{entryNames, append(values, text(e.Amount[i]))})
	}
	return rows
}

// compareRows of one register. Equal rows match in any order; of the rest, the first of one side is compared with the
// first of the other.
func compareRows(register string, expected, found []row, differ differs) {
	stored := map[string]int{}
	for _, f := range found {
		stored[f.String()]++
	}
	var missing []row
	for _, e := range expected {
		if key := e.String(); stored[key] > 0 {
			stored[key]--
		} else {
			missing = append(missing, e)
		}
	}
	for line, f := range slices.Backward(found) { // of several equal rows, the last is the surplus
		key, at := f.String(), fmt.Sprintf("%s %d", register, line+1)
		if stored[key] == 0 {
			continue
		}
		stored[key]--
		if len(missing) == 0 {
			differ(at, "none", key)
			continue
		}
		closest := closestTo(f, missing)
		for i := range f.names {
			if e := missing[closest]; e.values[i] != f.values[i] {
				differ(at+"."+f.names[i], e.values[i], f.values[i])
			}
		}
		missing = slices.Delete(missing, closest, closest+1)
	}
	for _, e := range missing {
		differ(register, e.String(), "none")
	}
}

// closestTo is the row that differs in the fewest columns.
func closestTo(f row, rows []row) (closest int) {
	least := len(f.names) + 1
	for n, r := range rows {
		differing := 0
		for i := range r.values {
			if r.values[i] != f.values[i] {
				differing++
			}
		}
		if differing < least {
			closest, least = n, differing
		}
	}
	return closest
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}
