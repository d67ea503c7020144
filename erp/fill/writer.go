package fill

import (
	"strings"

	"plimsoll/platform/document"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/rowset"
)

// writer turns documents and their record sets into rows of their tables.
type writer struct {
	app       *metadata.Application
	documents int
	byTable   map[string]*rows
	order     []*rows
}

func newWriter(app *metadata.Application) *writer {
	return &writer{app: app, byTable: map[string]*rows{}}
}

func (w *writer) all() []*rows { return w.order }

func (w *writer) to(table string, own []string, attributes []metadata.Attribute) *rows {
	r := w.byTable[table]
	if r == nil {
		r = &rows{name: table, table: table, columns: columnNames(own, attributes)}
		w.byTable[table] = r
		w.order = append(w.order, r)
	}
	return r
}

func (r *rows) add(t *rowset.Table, row int, own ...any) {
	for i := range t.Attributes {
		own = append(own, t.Value(i, row))
	}
	r.rows = append(r.rows, own)
}

func (w *writer) add(d *document.Document, records *posting.Records) {
	w.documents++
	header := w.to(d.Meta.Table(), []string{"id", "organisation", "number", "date", "posted", "author", "comment"}, d.Meta.Attributes)
	header.add(d.Header, 0, d.ID, d.Organisation, d.Number, d.Date, true, d.Author, d.Comment)
	for i := range d.Meta.Sections {
		s := &d.Meta.Sections[i]
		to := w.to(d.Meta.SectionTable(s), []string{"document", "line", "organisation"}, s.Attributes)
		for row := range d.Sections[i].Rows() {
			to.add(d.Sections[i], row, d.ID, int32(row+1), d.Organisation)
		}
	}
	w.statements(d, records)
	w.movements(d, records)
	w.entries(d, records)
}

func (w *writer) statements(d *document.Document, records *posting.Records) {
	for _, r := range records.Information {
		to := w.to(w.app.Record(r.Register).Table(), []string{"recorder", "line", "recorder_type", "organisation", "period"}, r.Rows.Attributes)
		for row := range r.Rows.Rows() {
			to.add(r.Rows, row, d.ID, int32(row+1), d.Meta.Name, d.Organisation, d.Date)
		}
	}
}

func (w *writer) movements(d *document.Document, records *posting.Records) {
	for _, m := range records.Movements {
		meta := w.app.Register(m.Register)
		to := w.to(meta.Table(), []string{"recorder", "line", "recorder_type", "organisation", "period", "expense"}, m.Rows.Attributes)
		for row := range m.Rows.Rows() {
			to.add(m.Rows, row, d.ID, int32(row+1), d.Meta.Name, d.Organisation, d.Date, m.Expense[row])
		}
	}
}

func (w *writer) entries(d *document.Document, records *posting.Records) {
	for _, e := range records.Entries {
		meta := w.app.Ledger(e.Ledger)
		to := w.to(meta.Table(), append([]string{"recorder", "line", "recorder_type", "organisation", "period", "amount"}, strings.Split(ledger.Columns, ", ")...), nil)
		for i, sum := range e.Amount {
			row := []any{d.ID, int32(i + 1), d.Meta.Name, d.Organisation, d.Date, sum}
			to.rows = append(to.rows, e.Credit[i].Values(e.Debit[i].Values(row)))
		}
	}
}
