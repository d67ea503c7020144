package audit

import (
	"slices"

	"plimsoll/platform/model/metadata"
)

// Invariants of everything that the metadata describes.
func Invariants(app *metadata.Application) (all []Invariant) {
	for i := range app.Information {
		all = append(all, information(&app.Information[i]),
			orphans(app, app.Information[i].Name, app.Information[i].Table()))
	}
	for i := range app.Accumulation {
		all = append(all, accumulation(app, &app.Accumulation[i])...)
		all = append(all, orphans(app, app.Accumulation[i].Name, app.Accumulation[i].Table()))
	}
	for i := range app.Accounting {
		all = append(all, accounting(&app.Accounting[i])...)
		all = append(all, orphans(app, app.Accounting[i].Name, app.Accounting[i].Table()))
	}
	for i := range app.Documents {
		d := &app.Documents[i]
		all = append(all, documents(app, d)...)
		for j := range d.Sections {
			all = append(all, lines(d, &d.Sections[j]), sums(d, &d.Sections[j]))
		}
		all = append(all, counter(d), identity(d), acknowledged(d))
	}
	return slices.Concat(all, performers(app), references(app))
}

func count(table, where string) string {
	return "SELECT count(*) FROM " + table + " WHERE " + where
}
