package posting

import (
	"slices"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/information"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
)

// referredReaders read the documents that a type of document refers to.
type referredReaders struct {
	readers map[string]*document.ReferenceReader
	order   []string
}

func newReferredReaders(app *metadata.Application, meta *metadata.Document, reads map[string][]string) referredReaders {
	r := referredReaders{readers: map[string]*document.ReferenceReader{}}
	for _, a := range attributesOf(meta) {
		for _, name := range a.Documents {
			if r.readers[name] == nil {
				referred, _ := app.Document(name)
				r.readers[name] = document.NewReferenceReader(referred, reads[name]...)
				r.order = append(r.order, name)
			}
		}
	}
	return r
}

// read looks up a reference among the documents of each type it may have.
func (r referredReaders) read(w *database.Work, d *document.Document) map[string]*document.Referred {
	found := make(map[string]*document.Referred, len(r.order))
	for _, name := range r.order {
		found[name] = r.readers[name].Read(w, d.Organisation, referencesTo(d, name))
	}
	return found
}

// referencesTo are the references of a document that may lead to a type, each once.
func referencesTo(d *document.Document, name string) (ids []id.ID) {
	d.References(func(a *metadata.Attribute, v id.ID) {
		if slices.Contains(a.Documents, name) {
			ids = append(ids, v)
		}
	})
	slices.SortFunc(ids, id.ID.Compare)
	return slices.Compact(ids)
}

// present refuses a reference to a document that does not exist or belongs to another organisation.
func present(a *metadata.Attribute, v id.ID, facts *Facts) error {
	for _, name := range a.Documents {
		if _, found := facts.Documents[name].Row(v); found {
			return nil
		}
	}
	return &document.Invalid{Field: a.Name, Reason: "no such document: " + v.String()}
}

// Document finds a referred document and its type; the row is in the Referred of that type.
func (f *Facts) Document(v id.ID) (kind string, d *document.Referred, row int) {
	for kind, d := range f.Documents {
		if row, found := d.Row(v); found {
			return kind, d, row
		}
	}
	return "", nil, 0
}

// recordsOf is what is recorded in a register; empty if nothing is.
func (s sets) recordsOf(r *information.Register) *information.Records {
	if records := s.records[r.Meta().Name]; records != nil {
		return records
	}
	return information.NewRecords(r.Meta())
}
