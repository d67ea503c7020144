package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// fieldMark separates, in the subject of a violation, the wrong thing from its field.
const fieldMark = "\t"

const markSQL = " || E'\\t"

// stored is a table whose rows refer to others.
type stored struct {
	id, title string
	table     string // of the rows t
	joins     string
	subject   string // of a row, as text
	line      string // prefix of a column's name
	within    string // condition that narrows the rows
	document  string // the column with the document of a row
	required  string // condition that a row has what is required; "" if nothing is
	shared    bool   // by organisations
	columns   []metadata.Attribute
	own       []metadata.Attribute // that every such row has and must have given, besides those of the description
}

// owner and author are references that rows have without being described.
func owner(app *metadata.Application) []metadata.Attribute {
	if app.Owners == "" {
		return nil
	}
	return []metadata.Attribute{{Name: "organisation", Type: metadata.Reference, Catalog: app.Owners}}
}

// author of documents of a type; jobs, which close the books, have none.
func author(app *metadata.Application, d *metadata.Document) []metadata.Attribute {
	if app.Authors == "" || d.ReopenHint != "" {
		return nil
	}
	return []metadata.Attribute{{Name: "author", Type: metadata.Reference, Catalog: app.Authors}}
}

// references of all catalogs, documents, their lines, and boundaries: each leads to something that exists, has the
// right type, and belongs to the same organisation.
func references(app *metadata.Application) (all []Invariant) {
	for i := range app.Catalogs {
		c := &app.Catalogs[i]
		s := stored{
			id: c.Table(), title: c.Title, table: c.Table(), subject: "'" + c.Name + " ' || t.code || ' ' || t.id",
			within: "true", shared: c.Shared, columns: c.Attributes,
		}
		if !c.Shared {
			s.own = owner(app)
		}
		all = append(append(all, s.refer(app)...), s.among()...)
	}
	for i := range app.Documents {
		d := &app.Documents[i]
		all = append(all, stored{
			id: d.Name, title: d.Title, table: d.Table(), subject: "'" + d.Name + " ' || t.number || ' ' || t.id",
			within: "{document t.id}", document: "t.id", required: "t.posted", columns: d.Attributes,
			own: append(owner(app), author(app, d)...),
		}.refer(app)...)
		for j := range d.Sections {
			s := &d.Sections[j]
			all = append(all, stored{
				id: d.Name + "_" + s.Name, title: d.Title + ", " + s.Name, table: d.SectionTable(s),
				joins:    " LEFT JOIN " + d.Table() + " h ON h.id = t.document",
				subject:  "'" + d.Name + " ' || coalesce(h.number, '?') || ' ' || t.document",
				line:     s.Name + " ' || t.line || '.",
				document: "t.document", required: "coalesce(h.posted, false)", columns: s.Attributes,
			}.refer(app)...)
		}
	}
	for i := range app.Accumulation {
		if r := &app.Accumulation[i]; r.Layered {
			all = append(all, stored{
				id: r.Name + "_boundary", title: r.Title + ", boundary", table: r.Boundary(),
				subject: "'organisation=' || t.organisation", columns: r.Leading(), own: owner(app),
			}.refer(app)...)
			all = append(all, dated(app, r))
		}
	}
	return all
}

// refer makes one invariant of all references of a table, which is read once.
func (s stored) refer(app *metadata.Application) []Invariant {
	var joins, checks, wrong, within []string
	within = append(within, s.narrowed(s.document)...)
	for i, a := range append(s.columns[:len(s.columns):len(s.columns)], s.own...) {
		if a.Type != metadata.Reference {
			continue
		}
		alias := fmt.Sprintf("r%d", len(joins))
		target, kind := referredSQL(app, a)
		joins = append(joins, statement.SQL("LEFT JOIN {target} {alias} ON {alias}.id = t.{name}",
			statement.Names{"target": target, "alias": alias, "name": a.Name}))
		organisation, broken := "NULL::uuid", fmt.Sprintf("%s.id IS NULL", alias)
		if c, isCatalog := app.Catalog(a.Catalog); !isCatalog || !c.Shared {
			organisation = alias + ".organisation"
			if !s.shared {
				broken += fmt.Sprintf(" OR %s.organisation <> t.organisation", alias)
			}
		}
		if i < len(s.columns) {
			broken = fmt.Sprintf("t.%s <> %s AND (%s)", a.Name, a.Zero(), broken)
		}
		if a.Required && s.required != "" {
			broken = fmt.Sprintf("(%s) OR t.%s = %s AND %s", broken, a.Name, a.Zero(), s.required)
		}
		wrong = append(wrong, broken)
		checks = append(checks, statement.SQL(`('{name}', '{kind} of the same organisation', t.{name}, {alias}.id,
	{organisation}, {broken})`, statement.Names{
			"name": a.Name, "kind": kind, "alias": alias, "organisation": organisation, "broken": broken,
		}))
		if len(a.Documents) > 0 && s.document != "" {
			within = append(within, s.narrowed("t."+a.Name)...)
		}
	}
	if len(joins) == 0 {
		return nil
	}
	narrowing := "true"
	if len(within) > 0 {
		narrowing = "(" + strings.Join(within, " OR ") + ")"
	}
	return []Invariant{{
		ID: s.id + ".references", Title: s.title + ": every reference exists, in the same organisation",
		Checked: "SELECT count(*) FROM " + s.table + " t WHERE " + narrowing,
		Wrong: statement.SQL(`SELECT {subject}{mark}{line}' || c.field, c.expected,
	CASE WHEN c.id IS NOT NULL THEN c.value || ' of organisation ' || c.organisation
	WHEN c.value = {none} THEN 'none' ELSE c.value || ', which does not exist' END
FROM {table} t{more}
{joins}
CROSS JOIN LATERAL (VALUES {checks}) AS c (field, expected, value, id, organisation, broken)
WHERE {within} AND ({wrong}) AND c.broken`, statement.Names{
			"subject": s.subject, "mark": markSQL, "line": s.line, "table": s.table, "more": s.joins,
			"joins": strings.Join(joins, "\n"), "checks": strings.Join(checks, ",\n"), "within": narrowing,
			"wrong": strings.Join(wrong, "\n\tOR "),
			"none":  metadata.Attribute{Type: metadata.Reference}.Zero() + "::uuid",
		}),
	}}
}

// among makes an invariant of the texts that have a list of values.
func (s stored) among() []Invariant {
	var checks, wrong []string
	for _, a := range s.columns {
		if len(a.Among) == 0 {
			continue
		}
		broken := fmt.Sprintf("t.%s NOT IN ('%s')", a.Name, strings.Join(a.Among, "', '"))
		wrong = append(wrong, broken)
		checks = append(checks, fmt.Sprintf("('%s', 'one of: %s', t.%s, %s)", a.Name,
			strings.TrimPrefix(strings.Join(a.Among, ", "), ", "), a.Name, broken))
	}
	if len(wrong) == 0 {
		return nil
	}
	return []Invariant{{
		ID: s.id + ".values", Title: s.title + ": attributes with a list of values have one of them",
		Checked: count(s.table+" t", s.within),
		Wrong: statement.SQL(`SELECT {subject}{mark}{line}' || c.field, c.expected, c.found
FROM {table} t{more} CROSS JOIN LATERAL (VALUES {checks}) AS c (field, expected, found, broken)
WHERE {within} AND ({wrong}) AND c.broken`, statement.Names{
			"subject": s.subject, "mark": markSQL, "line": s.line, "table": s.table, "more": s.joins,
			"checks": strings.Join(checks, ",\n\t"), "within": s.within, "wrong": strings.Join(wrong, " OR "),
		}),
	}}
}

func (s stored) narrowed(document string) []string {
	if document == "" {
		return nil
	}
	return []string{"{document " + document + "}"}
}

// referredSQL is the table that an attribute refers to, and its name in messages.
func referredSQL(app *metadata.Application, a metadata.Attribute) (table, kind string) {
	if c, found := app.Catalog(a.Catalog); found {
		return c.Table(), "an element of " + c.Name
	}
	types := a.Documents
	if a.Document {
		types = nil
		for i := range app.Documents {
			types = append(types, app.Documents[i].Name)
		}
	}
	var all []string
	for _, name := range types {
		d, _ := app.Document(name)
		all = append(all, "SELECT id, organisation FROM "+d.Table())
	}
	return "(" + strings.Join(all, " UNION ALL ") + ")", "a document (" + strings.Join(types, " or ") + ")"
}

// lines: every line has a header of the same organisation, and lines are numbered from 1.
func lines(d *metadata.Document, s *metadata.Section) Invariant {
	return Invariant{
		ID: d.Name + "_" + s.Name + ".headers", Title: d.Title + ", " + s.Name +
			": every line has its header, of the same organisation, and lines are numbered from 1",
		Checked: count(d.SectionTable(s), "{document document}"),
		Wrong: statement.SQL(
			`SELECT '{type} ' || coalesce(h.number, '?') || ' ' || t.document{mark}{section} ' || t.line,
	'a header of organisation ' || t.organisation, coalesce('organisation ' || h.organisation, 'no header')
FROM {lines} t LEFT JOIN {headers} h ON h.id = t.document
WHERE {document t.document} AND (h.id IS NULL OR h.organisation <> t.organisation)
UNION ALL SELECT '{type} ' || coalesce(h.number, '?') || ' ' || t.document{mark}{section}',
	'lines 1 to ' || t.lines, 'lines ' || t.first || ' to ' || t.last
FROM (SELECT document, count(*) AS lines, min(line) AS first, max(line) AS last FROM {lines}
	WHERE {document document} GROUP BY document HAVING min(line) <> 1 OR max(line) <> count(*)) t
LEFT JOIN {headers} h ON h.id = t.document`, statement.Names{
				"type": d.Name, "mark": markSQL, "section": s.Name, "lines": d.SectionTable(s), "headers": d.Table(),
			}),
	}
}

// sums: a value computed in both header and lines is in the header the sum of the lines, and the number of lines is
// within its limits.
func sums(d *metadata.Document, s *metadata.Section) Invariant {
	columns, checks, wrong := []string{"count(*) AS lines"}, []string{}, []string{}
	if s.MinRows > 0 {
		few := fmt.Sprintf("coalesce(s.lines, 0) < %d", s.MinRows)
		wrong = append(wrong, few)
		checks = append(checks, fmt.Sprintf("('%s', '%d lines or more', coalesce(s.lines, 0)::text, %s)", s.Name,
			s.MinRows, few))
	}
	for _, a := range d.Attributes {
		total, found := metadata.Find(s.Attributes, a.Name)
		if !found || !a.Computed || !total.Computed || a.Type != total.Type || a.Type != metadata.Money &&
			a.Type != metadata.Quantity {
			continue
		}
		columns = append(columns, "sum("+a.Name+") AS "+a.Name)
		differs := statement.SQL("coalesce(s.{name}, 0) <> d.{name}", statement.Names{"name": a.Name})
		wrong = append(wrong, differs)
		checks = append(checks, statement.SQL(
			"('{name}', 'the sum of its lines, ' || coalesce(s.{name}, 0), d.{name}::text, {differs})",
			statement.Names{"name": a.Name, "differs": differs}))
	}
	if len(wrong) == 0 {
		checks, wrong = []string{"('', '', '', false)"}, []string{"false"}
	}
	return Invariant{
		ID: d.Name + "_" + s.Name + ".sums", Title: d.Title + ": sums of the header are those of its " + s.Name,
		Checked: count(d.Table(), "posted AND {document id}"),
		Wrong: statement.SQL(`SELECT '{type} ' || d.number || ' ' || d.id{mark}' || c.field, c.expected, c.found
FROM {headers} d LEFT JOIN (SELECT document, {columns} FROM {lines} WHERE {document document} GROUP BY document) s
	ON s.document = d.id
CROSS JOIN LATERAL (VALUES {checks}) AS c (field, expected, found, broken)
WHERE d.posted AND {document d.id} AND ({wrong}) AND c.broken`, statement.Names{
			"type": d.Name, "mark": markSQL, "headers": d.Table(), "columns": strings.Join(columns, ", "),
			"lines": d.SectionTable(s), "checks": strings.Join(checks, ",\n\t"), "wrong": strings.Join(wrong, " OR "),
		}),
	}
}

// counter: a counter is beyond all numbers taken from it, or the next document could not be written.
func counter(d *metadata.Document) Invariant {
	return Invariant{
		ID: d.Name + ".counter", Title: d.Title + ": the counter of each organisation is beyond the numbers used",
		Checked: "SELECT count(DISTINCT organisation) FROM " + d.Table(),
		Wrong: statement.SQL(`SELECT '{type} organisation=' || d.organisation{mark}number counter',
	'above ' || d.used, coalesce(n.next::text, 'no counter')
FROM (SELECT organisation, max(substr(number, {from})::bigint) AS used FROM {headers}
	WHERE number ~ '^{prefix}-[0-9]{1,18}$' GROUP BY organisation) d
LEFT JOIN plimsoll_number n ON n.organisation = d.organisation AND n.kind = '{type}'
WHERE coalesce(n.next, 0) <= d.used`, statement.Names{
			"type": d.Name, "mark": markSQL, "from": fmt.Sprint(len(d.Prefix) + 2), "headers": d.Table(),
			"prefix": d.Prefix,
		}),
	}
}
