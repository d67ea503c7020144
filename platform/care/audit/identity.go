package audit

import (
	"time"

	"plimsoll/platform/books/document"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/books/register"
	"plimsoll/platform/data/id"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// clocks of workers and of the server may differ by this much.
const clocks = 24 * time.Hour

// identity: a document's number and author are those it was made with. Its number has the form of its type, and its id
// is sealed with number and author; ids of earlier versions have no seals. Its date is one that is accepted.
func identity(d *metadata.Document) Invariant {
	broken := id.BrokenSealSQL("t.id", document.SealsSQL(d))
	return Invariant{
		ID: d.Name + ".identity", Title: d.Title +
			": number and author are those it was made with, and its date lies between 2000 and tomorrow",
		Checked: count(d.Table(), "{document id}"),
		Wrong: statement.SQL(`SELECT '{type} ' || t.number || ' ' || t.id{mark}' || c.field, c.expected, c.found
FROM {headers} t CROSS JOIN LATERAL (VALUES
	('number', 'a number of the form {prefix}-000000001', t.number, {form}),
	('number', 'the number that its id is sealed with', t.number, NOT {form} AND {number}),
	('author', 'the author that its id is sealed with', t.author::text, {author}),
	('date', 'a date from {earliest} to tomorrow', t.date::text, {date})) AS c (field, expected, found, broken)
WHERE {document t.id} AND ({form} OR {number} OR {author} OR {date}) AND c.broken`, statement.Names{
			"type": d.Name, "mark": markSQL, "headers": d.Table(), "prefix": d.Prefix,
			"form":   "t.number !~ '^" + d.Prefix + "-([0-9]{9}|[1-9][0-9]{9,17})$'",
			"number": "(" + broken[0] + ")", "author": "(" + broken[1] + ")",
			"earliest": document.Earliest.Format(time.DateOnly),
			"date": statement.SQL("(t.date < '{earliest}Z' OR t.date > now() + interval '{future}')", statement.Names{
				"earliest": document.Earliest.Format(time.DateTime), "future": (document.FutureMax + clocks).String(),
			}),
		}),
	}
}

// forgotten is how long before they are forgotten operations are looked for: clocks differ.
const forgotten = time.Hour

// acknowledged: creating a document records its operation in the same transaction, and operations are deleted in the
// order of time. So each document made since the oldest operation that is left, and not too long ago, has one. The
// time is that of its id, by which the key of the table is sorted.
func acknowledged(d *metadata.Document) Invariant {
	const since = `t.id >= (SELECT (left(h, 8) || '-' || substr(h, 9) || '-0000-0000-000000000000')::uuid
	FROM (SELECT lpad(to_hex((extract(epoch FROM greatest(coalesce(min(made_at), now()),
		now() - interval '{kept}')) * 1000)::bigint), 12, '0') AS h FROM plimsoll_operation) oldest)`
	within := statement.SQL(since, statement.Names{"kept": (posting.KeyRetention - forgotten).String()})
	return Invariant{
		ID: d.Name + ".acknowledged", Title: d.Title +
			": documents made since the oldest recorded operation have an operation",
		Checked: count(d.Table()+" t", "{document t.id} AND "+within),
		Wrong: statement.SQL(`SELECT '{type} ' || t.number || ' ' || t.id{mark}operation',
	'the operation that made it', 'none'
FROM {headers} t WHERE {document t.id} AND {within}
	AND NOT EXISTS (SELECT FROM plimsoll_operation o WHERE o.document = t.id)`, statement.Names{
			"type": d.Name, "mark": markSQL, "headers": d.Table(), "within": within,
		}),
	}
}

// performers: every recorded operation belongs to a user of the organisation, or to none: a job's.
func performers(app *metadata.Application) []Invariant {
	authors, known := app.Catalog(app.Authors)
	if !known {
		return nil
	}
	return []Invariant{{
		ID: "operations.performers", Title: "Every acknowledged operation belongs to a user of its organisation",
		Checked: count("plimsoll_operation", "{document document}"),
		Wrong: statement.SQL(`SELECT o.document_type || ' ' || o.document{mark}operation.author',
	'a user of organisation ' || o.organisation, o.author || coalesce(' of organisation ' || u.organisation,
		', who does not exist')
FROM plimsoll_operation o LEFT JOIN {authors} u ON u.id = o.author
WHERE {document o.document} AND o.author <> {none} AND u.organisation IS DISTINCT FROM o.organisation`, statement.Names{
			"mark": markSQL, "authors": authors.Table(),
			"none": metadata.Attribute{Type: metadata.Reference}.Zero(),
		}),
	}}
}

// dated: a boundary lies where a document of its organisation is, or was before it was changed. One that lies elsewhere
// would hide costs in the wrong order; the replay goes past it.
func dated(app *metadata.Application, r *metadata.Accumulation) Invariant {
	return Invariant{
		ID: r.Name + "_boundary.moments", Title: r.Title + ", boundary: each is at a document of its organisation",
		Checked: count(r.Boundary(), "true"),
		Wrong: statement.SQL(`SELECT 'organisation=' || b.organisation{leading}{mark}moment',
	'the moment of a document of the organisation, or no boundary', b.moment::text
FROM {boundary} b WHERE NOT ({explained})`, statement.Names{
			"leading":  statement.Each(metadata.Names(r.Leading()), " || ' {name}=' || b.{name}", ""),
			"boundary": r.Boundary(), "mark": markSQL, "explained": register.ExplainedSQL(app, r),
		}),
	}
}
