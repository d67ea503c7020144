package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

func documents(app *metadata.Application, d *metadata.Document) []Invariant {
	return []Invariant{
		{
			ID: d.Name + ".posted", Title: d.Title + ": posted documents have movements in every register that they must, others in none",
			Checked: count(d.Table(), "{document id}"), Wrong: postedSQL(app, d),
		},
		{
			ID: d.Name + ".numbers", Title: d.Title + ": numbers are unique in an organisation",
			Checked: count(d.Table(), "{key organisation, number} AND {changed id}"),
			Wrong:   twiceSQL(d.Table(), "organisation, number", "'organisation=' || organisation || ' number=' || number", "{key organisation, number}"),
			Changed: twiceSQL(d.Table(), "organisation, number", "'organisation=' || organisation || ' number=' || number", amongChanged(d.Table(), "organisation, number", "id")),
		},
		{
			ID: d.Name + ".operations", Title: d.Title + ": every acknowledged operation has its document",
			Checked: count("plimsoll_operation", "document_type = '"+d.Name+"' AND {document document}"),
			Wrong: fmt.Sprintf(`SELECT 'key=' || o.key || ' document=' || o.document, 'a document', 'none'
FROM plimsoll_operation o LEFT JOIN %s d ON d.id = o.document AND d.organisation = o.organisation
WHERE o.document_type = '%s' AND {document o.document} AND d.id IS NULL`, d.Table(), d.Name),
		},
	}
}

// twiceSQL selects keys that more than one row of a table has.
func twiceSQL(table, keys, subject, where string) string {
	return fmt.Sprintf("SELECT %s, '1', count(*)::text FROM %s WHERE %s GROUP BY %s HAVING count(*) > 1", subject, table, where, keys)
}

// amongChanged is the condition of a row to have the key of one of a changed document.
func amongChanged(table, keys, document string) string {
	return fmt.Sprintf("(%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE {changed %[3]s})", table, keys, document)
}

// postedSQL hashes the recorders of each register once, so it stays set-based.
func postedSQL(app *metadata.Application, d *metadata.Document) string {
	var joins, has []string
	for i, name := range d.Recorded() {
		joins = append(joins, fmt.Sprintf("LEFT JOIN (SELECT DISTINCT recorder FROM %s WHERE recorder_type = '%s' AND {document recorder}) r%d ON r%[3]d.recorder = d.id", app.Table(name), d.Name, i))
		has = append(has, fmt.Sprintf("r%d.recorder IS NOT NULL", i))
	}
	var found, wrong []string
	for i, name := range d.Recorded() {
		found = append(found, fmt.Sprintf("'%s: ' || CASE WHEN %s THEN 'movements' ELSE 'none' END", name, has[i]))
		if i < len(d.Registers) {
			wrong = append(wrong, fmt.Sprintf("(%s) <> d.posted", has[i]))
		} else {
			wrong = append(wrong, fmt.Sprintf("(%s) AND NOT d.posted", has[i]))
		}
	}
	if len(d.Registers) == 0 {
		wrong = []string{fmt.Sprintf("(%s) <> d.posted", strings.Join(has, " OR "))}
	}
	return fmt.Sprintf(`SELECT '%s ' || d.number || ' ' || d.id, CASE WHEN d.posted THEN 'posted: movements in all' ELSE 'not posted: none' END, %s
FROM %s d %s WHERE {document d.id} AND (%s)`, d.Name, strings.Join(found, " || ', ' || "), d.Table(), strings.Join(joins, "\n"), strings.Join(wrong, " OR "))
}

// orphans: no movement without its document, of the same organisation and time, in a register that the type records in.
func orphans(app *metadata.Application, register, movements string) Invariant {
	var parts []string
	for i := range app.Documents {
		d := &app.Documents[i]
		for _, name := range d.Recorded() {
			if name == register {
				parts = append(parts, fmt.Sprintf("SELECT '%s' AS type, id, organisation, date FROM %s WHERE {document id}", d.Name, d.Table()))
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{"SELECT ''::text AS type, NULL::uuid AS id, NULL::uuid AS organisation, NULL::timestamptz AS date WHERE false"}
	}
	return Invariant{
		ID: register + ".recorders", Title: register + ": every movement has its document, of the same organisation and time",
		Checked: count(movements, "{document recorder}"),
		Wrong: fmt.Sprintf(`SELECT m.recorder_type || ' ' || m.recorder || ' line ' || m.line, 'organisation=' || m.organisation || ' date=' || m.period,
	coalesce('organisation=' || d.organisation || ' date=' || d.date, 'no document')
FROM %s m LEFT JOIN (%s) d ON d.id = m.recorder AND d.type = m.recorder_type
WHERE {document m.recorder} AND (d.id IS NULL OR d.organisation <> m.organisation OR d.date <> m.period)`, movements, strings.Join(parts, "\nUNION ALL ")),
	}
}
