package fill

import (
	"fmt"
	"strings"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/ledger"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/model/metadata"
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
		all[d.Table()] = named([]string{"id", "organisation", "number", "date", "posted", "author", "comment"},
			d.Attributes)
		for j := range d.Sections {
			all[d.SectionTable(&d.Sections[j])] = named([]string{"document", "organisation", "line"},
				d.Sections[j].Attributes)
		}
	}
	recorded := []string{"recorder", "organisation", "line", "recorder_type", "period"}
	for i := range app.Information {
		all[app.Information[i].Table()] = named(recorded, app.Information[i].Fields())
	}
	for i := range app.Accumulation {
		r := &app.Accumulation[i]
		all[r.Table()] = named(append(recorded[:5:5], "expense"),
			append(r.Dimensions[:len(r.Dimensions):len(r.Dimensions)], r.Resources...))
	}
	for i := range app.Accounting {
		all[app.Accounting[i].Table()] = append(append(recorded[:5:5], "amount"),
			strings.Split(ledger.Columns, ", ")...)
	}
	return all
}

// numbers is the table of the next document numbers.
const numbers = "plimsoll_number"

func named(own []string, attributes []metadata.Attribute) []string {
	own = own[:len(own):len(own)]
	for _, a := range attributes {
		own = append(own, a.Name)
	}
	return own
}

// writer encodes a unit's rows and sends tables when they have grown.
type writer struct {
	app       *metadata.Application
	columns   map[string][]string
	tables    []*table
	byName    map[string]*table
	registers map[string]*table
	documents map[*metadata.Document][]*table // the header's, then those of the sections
	stamp     stamp
	element   *element
	sent      func(*table) error
	tally     Tally
}

// sendAt is the size from which a table is sent before its unit is complete: more than a unit has, except where an
// opening fills many warehouses.
const sendAt = 4 << 20

func newWriter(app *metadata.Application, columns map[string][]string, sent func(*table) error) *writer {
	return &writer{
		app: app, columns: columns, byName: map[string]*table{}, registers: map[string]*table{},
		documents: map[*metadata.Document][]*table{}, element: newElement(), sent: sent,
	}
}

func (w *writer) tableNamed(name string) *table {
	t := w.byName[name]
	if t == nil {
		columns := w.columns[name]
		t = &table{
			name: name, columns: len(columns), salt: saltOf(name),
			copy: fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", name, strings.Join(columns, ", ")),
		}
		w.byName[name], w.tables = t, append(w.tables, t)
	}
	return t
}

func (w *writer) toRegister(name string) *table {
	t := w.registers[name]
	if t == nil {
		t = w.tableNamed(w.app.Table(name))
		w.registers[name] = t
	}
	return t
}

func (w *writer) toDocument(meta *metadata.Document) []*table {
	all := w.documents[meta]
	if all == nil {
		all = append(all, w.tableNamed(meta.Table()))
		for i := range meta.Sections {
			all = append(all, w.tableNamed(meta.SectionTable(&meta.Sections[i])))
		}
		w.documents[meta] = all
	}
	return all
}

// end a row.
func (w *writer) end(t *table, start int) error {
	t.end(start, &w.tally)
	if t.size < sendAt {
		return nil
	}
	return w.send(t)
}

func (w *writer) send(t *table) error {
	sent := *t
	sent.full, sent.data = append(t.full, append(t.data, copyTrailer...)), nil
	t.full = nil
	t.data = nil
	t.size = 0
	t.rows = 0
	return w.sent(&sent)
}

// flush sends the rest.
func (w *writer) flush() error {
	for _, t := range w.tables {
		if t.rows > 0 {
			if err := w.send(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// list writes catalog elements.
func (w *writer) list(l list) error {
	meta, _ := w.app.Catalog(l.name)
	t := w.tableNamed(meta.Table())
	for i := range l.count {
		w.element.begin()
		l.element(w.element, i)
		start := t.begin()
		t.row(w.element)
		if err := w.end(t, start); err != nil {
			return err
		}
	}
	return nil
}

// document with its record sets.
func (w *writer) document(d *document.Document, records *posting.Records) error {
	w.tally.Documents++
	w.stamp.encode(d)
	tables := w.toDocument(d.Meta)
	t := tables[0]
	start := t.begin()
	t.bytes(w.stamp.owner.data)
	t.text(d.Number)
	t.moment(d.Date)
	t.boolean(true)
	t.uuid(d.Author)
	t.text(d.Comment)
	t.cells(d.Header, 0)
	if err := w.end(t, start); err != nil {
		return err
	}
	for i, t := range tables[1:] {
		for row := range d.Sections[i].Rows() {
			start := t.begin()
			t.bytes(w.stamp.owner.data)
			t.integer(int32(row + 1))
			t.cells(d.Sections[i], row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	return w.records(records)
}

func (t *table) cells(source *rowset.Table, row int) {
	for i := range source.Attributes {
		t.cell(source, i, row)
	}
}

func (w *writer) records(records *posting.Records) error {
	for _, r := range records.Information {
		t := w.toRegister(r.Register)
		for row := range r.Rows.Rows() {
			start := w.stamp.recorded(t, row)
			t.cells(r.Rows, row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	for _, m := range records.Movements {
		t := w.toRegister(m.Register)
		for row := range m.Rows.Rows() {
			start := w.stamp.recorded(t, row)
			t.boolean(m.Expense[row])
			t.cells(m.Rows, row)
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	for _, e := range records.Entries {
		t := w.toRegister(e.Ledger)
		for row, sum := range e.Amount {
			start := w.stamp.recorded(t, row)
			t.numeric(int64(sum), 2)
			t.account(&e.Debit[row])
			t.account(&e.Credit[row])
			if err := w.end(t, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// stamp is what all rows of a document share, encoded once: organisation, recorder and period.
type stamp struct{ owner, record table }

func (s *stamp) encode(d *document.Document) {
	s.owner.data, s.record.data = s.owner.data[:0], s.record.data[:0]
	s.owner.uuid(d.ID)
	s.owner.uuid(d.Organisation)
	s.record.text(d.Meta.Name)
	s.record.moment(d.Date)
}

// recorded begins a row of a record set.
func (s *stamp) recorded(t *table, row int) (start int) {
	start = t.begin()
	t.bytes(s.owner.data)
	t.integer(int32(row + 1))
	t.bytes(s.record.data)
	return start
}

func (t *table) account(a *ledger.Account) {
	t.text(a.Code)
	for i := range a.Analytics {
		t.uuid(a.Analytics[i])
	}
}

// platformRows writes rows of the platform's own tables; the tally does not count them.
func (w *writer) platformRows(name string, rows [][]any) {
	t := w.tableNamed(name)
	for _, row := range rows {
		t.begin()
		for _, v := range row {
			t.value(v)
		}
		t.rows++
	}
}
