package fill

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/platform/document"
	"plimsoll/platform/id"
	"plimsoll/platform/ledger"
	"plimsoll/platform/metadata"
	"plimsoll/platform/posting"
	"plimsoll/platform/rowset"
)

// columns that a fill writes, by table; the others have their defaults.
func columnsOf(app *metadata.Application) map[string][]string {
	all := map[string][]string{numbers: {"organisation", "kind", "next"}}
	for i := range app.Catalogs {
		c := &app.Catalogs[i]
		own := []string{"id", "organisation", "code", "name"}
		if c.Shared {
			own = []string{"id", "code", "name"}
		}
		all[c.Table()] = named(own, c.Attributes)
	}
	for i := range app.Documents {
		d := &app.Documents[i]
		all[d.Table()] = named([]string{"id", "organisation", "number", "date", "posted", "author", "comment"}, d.Attributes)
		for j := range d.Sections {
			all[d.SectionTable(&d.Sections[j])] = named([]string{"document", "organisation", "line"}, d.Sections[j].Attributes)
		}
	}
	recorded := []string{"recorder", "organisation", "line", "recorder_type", "period"}
	for i := range app.Information {
		all[app.Information[i].Table()] = named(recorded, app.Information[i].Fields())
	}
	for i := range app.Accumulation {
		r := &app.Accumulation[i]
		all[r.Table()] = named(append(recorded[:5:5], "expense"), append(r.Dimensions[:len(r.Dimensions):len(r.Dimensions)], r.Resources...))
	}
	for i := range app.Accounting {
		all[app.Accounting[i].Table()] = append(append(recorded[:5:5], "amount"), strings.Split(ledger.Columns, ", ")...)
	}
	return all
}

// numbers is the table of the numbers that documents are given next.
const numbers = "plimsoll_number"

func named(own []string, attributes []metadata.Attribute) []string {
	own = own[:len(own):len(own)]
	for _, a := range attributes {
		own = append(own, a.Name)
	}
	return own
}

// writer turns what a unit of work makes into rows, and sends tables off when they have grown.
type writer struct {
	app     *metadata.Application
	columns map[string][]string
	tables  map[string]*table
	order   []*table
	sent    func(*table) error
	tally   Tally
}

// sendAt so many bytes a table is sent.
const sendAt = 1 << 20

func newWriter(app *metadata.Application, columns map[string][]string, sent func(*table) error) *writer {
	return &writer{app: app, columns: columns, tables: map[string]*table{}, sent: sent}
}

func (w *writer) to(name string) *table {
	t := w.tables[name]
	if t == nil {
		columns := w.columns[name]
		t = &table{
			name: name, columns: len(columns), salt: saltOf(name),
			copy: fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", name, strings.Join(columns, ", ")),
		}
		w.tables[name], w.order = t, append(w.order, t)
	}
	if t.data == nil {
		t.data = append(fresh(), copyHeader...)
	}
	return t
}

// end a row.
func (w *writer) end(t *table, start int) error {
	t.end(start, &w.tally)
	if len(t.data) < sendAt {
		return nil
	}
	return w.send(t)
}

func (w *writer) send(t *table) error {
	full := *t
	full.data = append(full.data, copyTrailer...)
	t.data, t.rows = nil, 0
	return w.sent(&full)
}

// flush sends the rest.
func (w *writer) flush() error {
	for _, t := range w.order {
		if t.rows > 0 {
			if err := w.send(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// list writes elements of a catalog.
func (w *writer) list(l list) error {
	meta, _ := w.app.Catalog(l.name)
	for i := range l.count {
		t := w.to(meta.Table())
		start := t.begin()
		for _, v := range l.element(i) {
			t.value(v)
		}
		if err := w.end(t, start); err != nil {
			return err
		}
	}
	return nil
}

// document with its record sets.
func (w *writer) document(d *document.Document, records *posting.Records) error {
	w.tally.Documents++
	t := w.to(d.Meta.Table())
	start := t.begin()
	t.uuid(d.ID)
	t.uuid(d.Organisation)
	t.text(d.Number)
	t.moment(d.Date)
	t.boolean(true)
	t.uuid(d.Author)
	t.text(d.Comment)
	t.cells(d.Header, 0)
	if err := w.end(t, start); err != nil {
		return err
	}
	for i := range d.Meta.Sections {
		name := d.Meta.SectionTable(&d.Meta.Sections[i])
		for row := range d.Sections[i].Rows() {
			t := w.to(name)
			start := t.begin()
			t.uuid(d.ID)
			t.uuid(d.Organisation)
			t.integer(int32(row + 1))
			t.cells(d.Sections[i], row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	return w.records(d, records)
}

func (t *table) cells(of *rowset.Table, row int) {
	for i := range of.Attributes {
		t.cell(of.Cell(i, row))
	}
}

func (w *writer) records(d *document.Document, records *posting.Records) error {
	for _, r := range records.Information {
		for row := range r.Rows.Rows() {
			t := w.to(w.app.Record(r.Register).Table())
			start := t.recorded(d.ID, d.Organisation, row, d.Meta.Name, d.Date)
			t.cells(r.Rows, row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	for _, m := range records.Movements {
		name := w.app.Register(m.Register).Table()
		for row := range m.Rows.Rows() {
			t := w.to(name)
			start := t.recorded(d.ID, d.Organisation, row, d.Meta.Name, d.Date)
			t.boolean(m.Expense[row])
			t.cells(m.Rows, row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	for _, e := range records.Entries {
		name := w.app.Ledger(e.Ledger).Table()
		for row, sum := range e.Amount {
			t := w.to(name)
			start := t.recorded(d.ID, d.Organisation, row, d.Meta.Name, d.Date)
			t.numeric(int64(sum), 2)
			t.account(e.Debit[row])
			t.account(e.Credit[row])
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// recorded begins a row of a record set.
func (t *table) recorded(by, organisation id.ID, row int, kind string, period time.Time) (start int) {
	start = t.begin()
	t.uuid(by)
	t.uuid(organisation)
	t.integer(int32(row + 1))
	t.text(kind)
	t.moment(period)
	return start
}

func (t *table) account(a ledger.Account) {
	t.text(a.Code)
	for _, v := range a.Analytics {
		t.uuid(v)
	}
}

// rows of the platform's own, which tell nothing of the books: they are not tallied.
func (w *writer) own(name string, rows [][]any) {
	for _, row := range rows {
		t := w.to(name)
		t.begin()
		for _, v := range row {
			t.value(v)
		}
		t.rows++
	}
}
