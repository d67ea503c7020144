package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
)

// relation is a table of the books, with what its rows belong to: a document, a month of an organisation, both, or
// (plain) neither.
type relation struct {
	name     string
	document string // column with the id of the document
	month    string // expression of the first day of the month
}

// relations of an application that invariants may read.
func relations(app *metadata.Application) (all []relation) {
	documents, months := map[string]string{"plimsoll_operation": "document"}, map[string]string{}
	monthOf := func(column string) string { return "date_trunc('month', " + column + " AT TIME ZONE 'UTC')::date" }
	const ofTotals = "date_trunc('month', period::timestamp)::date"
	for i := range app.Documents {
		d := &app.Documents[i]
		documents[d.Table()], months[d.Table()] = "id", monthOf("date")
		for j := range d.Sections {
			documents[d.SectionTable(&d.Sections[j])] = "document"
		}
	}
	for i := range app.Information {
		documents[app.Information[i].Table()] = "recorder"
	}
	for i := range app.Accumulation {
		r := &app.Accumulation[i]
		documents[r.Table()], months[r.Table()], months[r.Totals()] = "recorder", monthOf("period"), ofTotals
	}
	for i := range app.Accounting {
		r := &app.Accounting[i]
		documents[r.Table()], months[r.Table()], months[r.Totals()], months[r.AccountTotals()] = "recorder",
			monthOf("period"), ofTotals, ofTotals
	}
	for _, t := range schema.Tables(app) {
		if !strings.HasPrefix(t.Name, "plimsoll_") || documents[t.Name] != "" || t.Name == "plimsoll_number" {
			all = append(all, relation{t.Name, documents[t.Name], months[t.Name]})
		}
	}
	return all
}

func (r relation) plain() bool { return r.document == "" && r.month == "" }

// bucketOf a document is a part of its table. The number of old rows in each bucket is compared, since deletions leave
// no other trace.
func bucketOf(column string, buckets int) string {
	return fmt.Sprintf("(uuid_hash(%s) & %d)", column, buckets-1)
}
