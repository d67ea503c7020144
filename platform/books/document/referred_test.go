package document_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/rowset"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/database/databasetest"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
	"plimsoll/platform/model/schema/schematest"
)

func TestMain(m *testing.M) { databasetest.Main(m) }

// What is read of documents that others refer to is what they are, of one's own organisation only; and what is made
// of documents in memory is the same.
func TestReferredDocumentsAreReadAsTheyAre(t *testing.T) {
	db := schematest.Open(t)
	app := &metadata.Application{
		Name: "test", Version: 1, Catalogs: []metadata.Catalog{{Name: "things"}},
		Accumulation: []metadata.Accumulation{{Name: "stock",
			Dimensions: []metadata.Attribute{{Name: "thing", Type: metadata.Reference, Catalog: "things"}},
			Resources:  []metadata.Attribute{{Name: "quantity", Type: metadata.Quantity}}}},
		Documents: []metadata.Document{*event},
	}
	app.Documents[0].Registers = []string{"stock"}
	if err := schema.Migrate(t.Context(), db.Database, app); err != nil {
		t.Fatal(err)
	}
	meta, store := &app.Documents[0], document.NewStore(app, &app.Documents[0])
	organisation := id.New()
	var written []*document.Document
	for n := range 3 {
		d := document.New(meta)
		d.Organisation = organisation
		d.Author = id.New()
		d.Number = fmt.Sprint("N", n)
		d.Date = now.Truncate(time.Microsecond)
		d.Posted = n == 1
		if n == 2 {
			d.Organisation = id.New()
		}
		rowset.Column[amount.Money](d.Header, "total")[0] = amount.Money(100 * n)
		for line := range n + 1 {
			d.Section("lines").Append(amount.Quantity(line+1), amount.Money(n))
		}
		written = append(written, d)
	}
	reader := document.NewReferenceReader(meta, "total", "lines.quantity", "lines.price")
	var read *document.Referred
	err := db.Run(t.Context(), func(w *database.Work) error {
		for _, d := range written {
			store.Write(w, d)
		}
		read = reader.Read(w, organisation, []id.ID{written[0].ID, written[1].ID, written[2].ID, id.New()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for from, found := range map[string]*document.Referred{"the database": read,
		"memory": reader.Of(written[0], written[1])} {
		if _, there := found.Row(written[2].ID); there || found.Rows.Rows() != 2 {
			t.Errorf("%s tells of another organisation: %s", from, found.Rows.AppendJSON(nil))
		}
		for n, d := range written[:2] {
			row, there := found.Row(d.ID)
			if !there || rowset.Column[string](found.Rows, "number")[row] != d.Number ||
				rowset.Column[bool](found.Rows, "posted")[row] != d.Posted ||
				!rowset.Column[time.Time](found.Rows, "date")[row].Equal(d.Date) ||
				rowset.Column[amount.Money](found.Rows, "total")[row] != amount.Money(100*n) {
				t.Errorf("%s, document %d: %s", from, n, found.Rows.AppendJSON(nil))
			}
			var quantities []amount.Quantity
			for _, line := range found.Lines("lines", d.ID) {
				quantities = append(quantities, rowset.Column[amount.Quantity](found.Sections["lines"],
					"quantity")[line])
			}
			if want := []amount.Quantity{1, 2}[:n+1]; !slices.Equal(quantities, want) {
				t.Errorf("%s, document %d: lines %v, want %v", from, n, quantities, want)
			}
		}
	}
}
