package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/audit/damage"
	"plimsoll/erp/audit/damagetest"
	"plimsoll/erp/erptest"
	"plimsoll/platform/model/metadata"
)

// referring is a column of rows that belong to documents.
type referring struct {
	table, column, catalog string // "" of what is no reference to a catalog
	document               string // column with the id of the document
}

// everyReference of the headers, lines and record sets of all types, from the metadata.
func everyReference() (all []referring) {
	app := erp.Metadata()
	add := func(table, document string, attributes []metadata.Attribute) {
		for _, a := range attributes {
			if a.Type == metadata.Reference {
				all = append(all, referring{table, a.Name, a.Catalog, document})
			}
		}
	}
	for i := range app.Documents {
		d := &app.Documents[i]
		add(d.Table(), "id", append(slices.Clone(d.Attributes), metadata.Attribute{Name: "organisation",
			Type: metadata.Reference, Catalog: app.Owners}))
		if d.ReopenHint == "" {
			add(d.Table(), "id", []metadata.Attribute{{Name: "author", Type: metadata.Reference, Catalog: app.Authors}})
		}
		for j := range d.Sections {
			add(d.SectionTable(&d.Sections[j]), "document", append(slices.Clone(d.Sections[j].Attributes),
				metadata.Attribute{Name: "organisation", Type: metadata.Reference, Catalog: app.Owners}))
		}
	}
	own := []metadata.Attribute{{Name: "organisation", Type: metadata.Reference, Catalog: app.Owners},
		{Name: "recorder", Type: metadata.Reference}}
	for i := range app.Information {
		add(app.Information[i].Table(), "recorder", append(app.Information[i].Fields(), own...))
	}
	for i := range app.Accumulation {
		add(app.Accumulation[i].Table(), "recorder", append(slices.Clone(app.Accumulation[i].Dimensions), own...))
	}
	for i := range app.Accounting {
		for _, side := range []string{"debit_1", "debit_2", "credit_1", "credit_2"} {
			add(app.Accounting[i].Table(), "recorder", []metadata.Attribute{{Name: side, Type: metadata.Reference}})
		}
		add(app.Accounting[i].Table(), "recorder", own)
	}
	return all
}

// wrongIDs are what a reference is set to, as expressions over the row t; "" where a column has none.
var wrongIDs = map[string]func(referring) string{
	"ThatIsGone": func(referring) string { return "gen_random_uuid()" },
	"OfAnotherOrganisation": func(r referring) string {
		c, _ := erp.Metadata().Catalog(r.catalog)
		if c == nil || c.Shared {
			return ""
		}
		return "(SELECT id FROM " + c.Table() + " o WHERE o.organisation <> t.organisation ORDER BY code LIMIT 1)"
	},
	"OfTheSameOrganisation": func(r referring) string {
		c, _ := erp.Metadata().Catalog(r.catalog)
		if c == nil || r.column == "organisation" {
			return ""
		}
		ours := ""
		if !c.Shared {
			ours = " AND o.organisation = t.organisation"
		}
		return "(SELECT id FROM " + c.Table() + " o WHERE o.id <> t." + r.column + ours + " ORDER BY code DESC LIMIT 1)"
	},
}

// onlyTheDocumentHas are references that nothing follows from, so that another valid one could be meant.
var onlyTheDocumentHas = map[string][]string{"OfTheSameOrganisation": {"doc_supplier_order.warehouse"}}

// Whatever reference of a document, of its lines or of what it has recorded is set to what is gone, to another
// organisation's or to another one of its own: the audit names the document and a field.
func TestEveryReferenceThatIsWrongIsNamed(t *testing.T) {
	c := damagetest.Company(t, damagetest.Rounds)
	for name, wrong := range wrongIDs {
		t.Run(name, func(t *testing.T) {
			left := slices.DeleteFunc(everyReference(), func(r referring) bool {
				return slices.Contains(onlyTheDocumentHas[name], r.table+"."+r.column)
			})
			for len(left) > 0 { // each document is damaged once at a time
				left = oncePerDocument(t, c, left, wrong)
			}
		})
	}
}

// oncePerDocument damages each document at most once, looks, and restores everything. The answer is what is left.
func oncePerDocument(t *testing.T, c *erptest.Company, all []referring,
	wrong func(referring) string) (left []referring) {
	t.Helper()
	restore := snapshot(t, c, []string{fmt.Sprint(bookTables)})
	defer restore()
	used, damaged := []string{}, map[string]referring{}
	for _, r := range all {
		value := wrong(r)
		if value == "" {
			continue
		}
		// of a header, one that is posted; of a register, any that has recorded there
		found := c.Value(t, "SELECT coalesce((SELECT "+r.document+"::text FROM "+r.table+" t WHERE "+r.column+" <> "+
			damage.None+" AND "+value+" IS NOT NULL AND NOT "+r.document+"::text = ANY ($1) ORDER BY "+r.document+
			" DESC LIMIT 1), '')", used)
		if found == "" {
			if some := c.Value(t, "SELECT EXISTS (SELECT FROM "+r.table+" t WHERE "+r.column+" <> "+damage.None+" AND "+
				value+" IS NOT NULL)"); some == "true" {
				left = append(left, r)
			}
			continue
		}
		c.Exec(t, "UPDATE "+r.table+" t SET "+r.column+" = "+value+" WHERE ctid = (SELECT ctid FROM "+r.table+" WHERE "+
			r.document+" = $1 AND "+r.column+" <> "+damage.None+" LIMIT 1)", found)
		used = append(used, found)
		damaged[found] = r
	}
	report, err := audit.RunAs(t.Context(), c.Database, audit.Options{Examples: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, v := range examplesOf(report) {
		for _, word := range strings.Fields(v.Subject) {
			if v.Field != "" {
				named[word] += " " + v.Field
			}
		}
	}
	for document, r := range damaged {
		if named[document] == "" {
			t.Errorf("nobody names %s.%s of %s", r.table, r.column, document)
		}

	}
	t.Logf("%d references, %d are left", len(damaged), len(left))
	return left
}
