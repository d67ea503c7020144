package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

func documents(app *metadata.Application, d *metadata.Document) []Invariant {
	return []Invariant{
		{
			ID: d.Name + ".posted", Title: d.Title +
				": posted documents have movements in every required register, others in none",
			Checked: count(d.Table(), "{document id}"), Wrong: postedSQL(app, d),
		},
		{
			ID: d.Name + ".numbers", Title: d.Title + ": numbers are unique in an organisation",
			Checked: count(d.Table(), "{key organisation, number} AND {changed id}"),
			Wrong: twiceSQL(d.Table(), "organisation, number",
				"'organisation=' || organisation || ' number=' || number", "{key organisation, number}"),
			Changed: twiceSQL(d.Table(), "organisation, number",
				"'organisation=' || organisation || ' number=' || number",
				amongChanged(d.Table(), "organisation, number", "id")),
		},
		{
			ID: d.Name + ".operations", Title: d.Title +
				": every acknowledged operation has its document, or its client has sent it again",
			Checked: count("plimsoll_operation", "document_type = '"+d.Name+"' AND {document document}"),
			Wrong: statement.SQL(`SELECT 'key=' || o.key || ' document=' || o.document, 'a document', 'none'
FROM plimsoll_operation o LEFT JOIN {headers} d ON d.id = o.document AND d.organisation = o.organisation
WHERE o.document_type = '{type}' AND {document o.document} AND d.id IS NULL
	AND NOT (o.key LIKE '%{lost}' || o.document AND EXISTS (SELECT FROM plimsoll_operation again
		JOIN {headers} r ON r.id = again.document AND r.organisation = o.organisation
		WHERE again.author = o.author AND again.digest = o.digest
		AND again.key = left(o.key, -length('{lost}' || o.document))))`, statement.Names{
				"headers": d.Table(), "type": d.Name, "lost": posting.LostMark,
			}),
		},
	}
}

// twiceSQL selects keys that occur in more than one row of a table.
func twiceSQL(table, keys, subject, where string) string {
	return statement.SQL("SELECT {subject}, '1', count(*)::text FROM {table} WHERE {where} GROUP BY {keys} "+
		"HAVING count(*) > 1", statement.Names{"subject": subject, "table": table, "where": where, "keys": keys})
}

// amongChanged is the condition that a row shares its key with a changed document.
func amongChanged(table, keys, document string) string {
	return statement.SQL("({keys}) IN (SELECT {keys} FROM {table} WHERE {changed})",
		statement.Names{"keys": keys, "table": table, "changed": "{changed " + document + "}"})
}

// postedSQL hashes the recorders of each register once, so it stays set-based.
func postedSQL(app *metadata.Application, d *metadata.Document) string {
	var joins, has, found, wrong []string
	for i, name := range d.Recorded() {
		alias := fmt.Sprintf("r%d", i)
		joins = append(joins, statement.SQL(`LEFT JOIN (SELECT DISTINCT recorder FROM {table}
	WHERE recorder_type = '{type}' AND {document recorder}) {alias} ON {alias}.recorder = d.id`, statement.Names{
			"table": app.Table(name), "type": d.Name, "alias": alias,
		}))
		has = append(has, alias+".recorder IS NOT NULL")
		found = append(found, statement.SQL("'{register}: ' || CASE WHEN {has} THEN 'movements' ELSE 'none' END",
			statement.Names{"register": name, "has": has[i]}))
		if i < len(d.Registers) {
			wrong = append(wrong, fmt.Sprintf("(%s) <> d.posted", has[i]))
		} else {
			wrong = append(wrong, fmt.Sprintf("(%s) AND NOT d.posted", has[i]))
		}
	}
	if len(d.Registers) == 0 {
		wrong = []string{fmt.Sprintf("(%s) <> d.posted", strings.Join(has, " OR "))}
	}
	return statement.SQL(`SELECT '{type} ' || d.number || ' ' || d.id,
	CASE WHEN d.posted THEN 'posted: movements in all' ELSE 'not posted: none' END, {found}
FROM {headers} d {joins} WHERE {document d.id} AND ({wrong})`, statement.Names{
		"type": d.Name, "found": strings.Join(found, " || ', ' || "), "headers": d.Table(),
		"joins": strings.Join(joins, "\n"), "wrong": strings.Join(wrong, " OR "),
	})
}

// orphans: every movement has a document of the same organisation and time, in a register that its type records in.
func orphans(app *metadata.Application, register, movements string) Invariant {
	var parts []string
	for i := range app.Documents {
		d := &app.Documents[i]
		for _, name := range d.Recorded() {
			if name == register {
				parts = append(parts, fmt.Sprintf(
					"SELECT '%s' AS type, id, organisation, date FROM %s WHERE {document id}", d.Name, d.Table()))
			}
		}
	}
	if len(parts) == 0 {
		parts = []string{"SELECT ''::text AS type, NULL::uuid AS id, NULL::uuid AS organisation, NULL::timestamptz " +
			"AS date WHERE false"}
	}
	return Invariant{
		ID: register + ".recorders", Title: register +
			": every movement has its document, of the same organisation and time",
		Checked: count(movements, "{document recorder}"),
		Wrong: statement.SQL(`SELECT m.recorder_type || ' ' || m.recorder{mark}{register} ' || m.line ||
	CASE WHEN d.id IS NULL THEN '.recorder' WHEN d.organisation <> m.organisation THEN '.organisation'
		ELSE '.period' END,
	'organisation=' || m.organisation || ' date=' || m.period,
	coalesce('organisation=' || d.organisation || ' date=' || d.date, 'no document')
FROM {movements} m LEFT JOIN ({documents}) d ON d.id = m.recorder AND d.type = m.recorder_type
WHERE {document m.recorder} AND (d.id IS NULL OR d.organisation <> m.organisation OR d.date <> m.period)`,
			statement.Names{"mark": markSQL, "register": register, "movements": movements,
				"documents": strings.Join(parts, "\nUNION ALL ")}),
	}
}
