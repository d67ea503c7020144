package fill

import (
	"fmt"
	"slices"

	"plimsoll/erp"
	"plimsoll/platform/books/catalog"
	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// kind is a document type in the form that the history uses.
type kind struct {
	meta     *metadata.Document
	rules    posting.Rules
	reads    []string // catalogs
	referred map[string]*document.ReferenceReader
	none     map[string]*document.Referred // of each type that it may refer to
	papers   []column                      // of references to documents
	followed []string                      // the types that refer to it
	room     int                           // for lines: as many as one of it has had
}

// column of a section, or of the header, which comes first.
type column struct{ section, number int }

const header = -1

// roomMost is the room for lines: what the documents of a day have, not the opening.
const roomMost = 20

// kinds for one history; histories share nothing.
func (b *base) ownKinds() map[string]*kind {
	own := make(map[string]*kind, len(b.kinds))
	for name, k := range b.kinds {
		one := *k
		own[name] = &one
	}
	return own
}

func kindsOf(app *metadata.Application) map[string]*kind {
	kinds := map[string]*kind{}
	for name, rules := range erp.Rules() {
		kinds[name] = &kind{rules: rules, referred: map[string]*document.ReferenceReader{},
			none: map[string]*document.Referred{}}
	}
	for i := range app.Documents {
		meta := &app.Documents[i]
		k := kinds[meta.Name]
		k.meta = meta
		for name := range k.rules.Reads() {
			if _, found := app.Catalog(name); found {
				k.reads = append(k.reads, name)
			}
		}
		k.refers(app, kinds, meta.Attributes, header)
		for i := range meta.Sections {
			k.refers(app, kinds, meta.Sections[i].Attributes, i)
		}
	}
	return kinds
}

// refers records to which documents attributes refer.
func (k *kind) refers(app *metadata.Application, kinds map[string]*kind, attributes []metadata.Attribute, section int) {
	for i, a := range attributes {
		if a.Documents != nil {
			k.papers = append(k.papers, column{section, i})
		}
		for _, referred := range a.Documents {
			other, _ := app.Document(referred)
			k.referred[referred] = document.NewReferenceReader(other, k.rules.Reads()[referred]...)
			k.none[referred] = k.referred[referred].Of()
			if !slices.Contains(kinds[referred].followed, k.meta.Name) {
				kinds[referred].followed = append(kinds[referred].followed, k.meta.Name)
			}
		}
	}
}

// newFacts are filled again for each document.
func newFacts() posting.Facts {
	return posting.Facts{Catalogs: map[string]*catalog.Elements{}, Balances: map[string]*rowset.Table{},
		Layers: map[string]*register.Layers{}}
}

// record lets the rules decide on the balances in memory, and keeps the result.
func (h *history) record(d *document.Document) (*posting.Records, error) {
	k := h.types[d.Meta.Name]
	h.catalogsOf(d, k)
	h.facts.Documents = h.documentsOf(d, k)
	needs := k.rules.Needs(d).Read // no other transaction runs: nothing is locked
	defer h.releaseFacts(needs)
	if err := h.memory.answer(d, needs, &h.facts); err != nil {
		return nil, err
	}
	records, err := k.rules.Record(d, &h.facts)
	if err == nil {
		err = h.memory.keep(records)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Meta.Name, err)
	}
	h.issued[d.Meta.Name]++
	for _, s := range d.Sections {
		k.room = max(k.room, min(s.Rows(), roomMost))
	}
	if len(k.followed) > 0 {
		h.await(d)
	}
	return records, nil
}

// documentsOf what the rules read: those that the document refers to.
func (h *history) documentsOf(d *document.Document, k *kind) map[string]*document.Referred {
	var found []*document.Document
	for _, c := range k.papers {
		t := d.Header
		if c.section != header {
			t = d.Sections[c.section]
		}
		for _, v := range rowset.ColumnAt[id.ID](t, c.number) {
			if p := h.papers[v]; p != nil && !v.IsZero() {
				found = append(found, p.Document)
			}
		}
	}
	if found == nil {
		return k.none
	}
	clear(h.found)
	for name, none := range k.none {
		h.found[name] = none
		if some := documentsOf(found, name); some != nil {
			h.found[name] = k.referred[name].Of(some...)
			h.referred = append(h.referred, h.found[name])
		}
	}
	return h.found
}

// releaseFacts after use: rules keep none.
func (h *history) releaseFacts(needs []posting.Need) {
	for _, n := range needs {
		release(n.Keys)
		release(n.Required)
	}
	for _, t := range h.facts.Balances {
		release(t)
	}
	for _, l := range h.facts.Layers {
		release(l.Keys)
		release(l.Left)
	}
	if contractRows := h.facts.Catalogs["contracts"]; contractRows != nil {
		release(contractRows.Rows)
	}
	for _, referred := range h.referred {
		release(referred.Rows)
		for _, t := range referred.Sections {
			release(t)
		}
	}
	h.referred = h.referred[:0]
}

// written is what was generated for a document; only documents that refer to it need it.
func (h *history) written(d *document.Document, records *posting.Records) {
	for _, r := range records.Information {
		release(r.Rows)
	}
	for _, m := range records.Movements {
		release(m.Rows)
	}
	if h.papers[d.ID] == nil {
		releaseDocument(d)
	}
}

func releaseDocument(d *document.Document) {
	release(d.Header)
	for _, s := range d.Sections {
		release(s)
	}
}

func release(t *rowset.Table) {
	if t != nil {
		t.Release()
	}
}

// documentsOf returns the documents of a type.
func documentsOf(documents []*document.Document, kind string) (some []*document.Document) {
	for _, d := range documents {
		if d.Meta.Name == kind {
			some = append(some, d)
		}
	}
	return some
}

// catalogsOf what the rules read: of contracts and assets only those that the document refers to.
func (h *history) catalogsOf(d *document.Document, k *kind) {
	clear(h.facts.Catalogs)
	for _, name := range k.reads {
		switch name {
		case "contracts":
			h.facts.Catalogs[name] = h.contractsIn(d)
		case "fixed_assets":
			asset := rowset.Column[id.ID](d.Header, "asset")[0]
			h.facts.Catalogs[name] = h.elements(name, 1,
				func(e *element, _ int) { h.base.asset(e, h.o, h.spent[asset]) })
			delete(h.spent, asset)
		default:
			if known := h.o.known[name]; known != nil {
				h.facts.Catalogs[name] = known
			}
		}
	}
}

func (h *history) contractsIn(d *document.Document) *catalog.Elements {
	if _, has := metadata.Find(d.Meta.Attributes, "contract"); has {
		return h.contractsAs(h.o, rowset.Column[id.ID](d.Header, "contract")[0])
	}
	var several []id.ID
	for _, v := range rowset.Column[id.ID](d.Section("lines"), "contract") {
		if !slices.Contains(several, v) {
			several = append(several, v)
		}
	}
	return h.contractsAs(h.o, several...)
}
