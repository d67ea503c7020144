package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

func accumulation(app *metadata.Application, r *metadata.Accumulation) []Invariant {
	const current, monthly = "period = 'infinity'", "period < 'infinity'"
	ofMonths := Invariant{
		ID: r.Name + ".monthly", Title: r.Title + ": totals of each month equal its movements",
		Checked: count(r.Totals(), monthly+" AND "+ofKey(r)+" AND "+ofMonth),
		Wrong:   totalsSQL(r, monthly, "date_trunc('month', period AT TIME ZONE 'UTC')::date"),
	}
	if r.Turnovers {
		return []Invariant{ofMonths}
	}
	all := []Invariant{
		{
			ID: r.Name + ".current", Title: r.Title + ": current balances equal all movements",
			Checked: count(r.Totals(), current+" AND "+ofKey(r)), Wrong: totalsSQL(r, current, "'infinity'::date"),
			Changed: totalsOfMonthsSQL(r),
		},
		ofMonths,
	}
	if r.Controlled {
		all = append(all, Invariant{
			ID: r.Name + ".controlled", Title: r.Title +
				": no balance is negative, and no value remains where no quantity does",
			Checked: count(r.Totals(), current+" AND "+ofKey(r)), Wrong: shortSQL(r),
		})
	}
	if r.Layered {
		all = append(all, Invariant{
			ID: r.Name + ".dated", Title: r.Title +
				": layers are dated by the documents that brought them",
			Checked: count(r.Totals(), current), Wrong: misdatedSQL(r),
		})
	}
	if r.Covers != "" {
		all = append(all, covers(r, app.Register(r.Covers)))
	}
	return all
}

func covers(r, covered *metadata.Accumulation) Invariant {
	return Invariant{
		ID: r.Name + ".covers", Title: fmt.Sprintf("%s: there is at least as much as %s needs", r.Title,
			covered.Title),
		Checked: count(covered.Totals(), "period = 'infinity' AND "+ofKey(r)),
		Wrong: statement.SQL(`SELECT {subject}, '>= ' || c.needed, coalesce(t.{resource}, 0)::text
FROM (SELECT {keys}, sum({needed}) AS needed FROM {covered} WHERE period = 'infinity' AND {within} GROUP BY {keys}) c
LEFT JOIN (SELECT {keys}, {resource} FROM {totals} WHERE period = 'infinity') t USING ({keys})
WHERE c.needed > coalesce(t.{resource}, 0)`, statement.Names{
			"subject": subjectOf(r), "keys": keysOf(r), "resource": r.Resources[0].Name,
			"needed": covered.Resources[0].Name, "covered": covered.Totals(), "totals": r.Totals(), "within": ofKey(r),
		}),
	}
}

// keysOf a register's totals, without the period.
func keysOf(r *metadata.Accumulation) string {
	return strings.Join(append([]string{"organisation"}, metadata.Names(r.Dimensions)...), ", ")
}

func ofKey(r *metadata.Accumulation) string { return "{key " + keysOf(r) + "}" }

func subjectOf(r *metadata.Accumulation) string {
	return "'organisation=' || organisation" +
		statement.Each(metadata.Names(r.Dimensions), " || ' {name}=' || {name}", "")
}

// shortSQL selects balances that a controlled register must not have.
func shortSQL(r *metadata.Accumulation) string {
	first, resources := r.Resources[0].Name, metadata.Names(r.Resources)
	return statement.SQL(`SELECT {subject}, 'nothing below zero, nothing without {first}', ''{found}
FROM {totals} WHERE period = 'infinity' AND {within} AND ({wrong})`, statement.Names{
		"subject": subjectOf(r), "first": first, "totals": r.Totals(), "within": ofKey(r),
		"found": statement.Each(resources, " || ' {name}=' || {name}", ""),
		"wrong": statement.Each(resources, "{name} < 0 OR "+first+" = 0 AND {name} <> 0", " OR "),
	})
}

// misdatedSQL selects open layers whose recorded date differs from that of the movement that brought them.
func misdatedSQL(r *metadata.Accumulation) string {
	last := len(r.Dimensions)
	return statement.SQL(`SELECT 'organisation=' || t.organisation{dimensions}, m.period::text, t.{brought_at}::text
FROM {totals} t JOIN {movements} m ON m.recorder = t.{document} AND m.line = t.{line}
WHERE t.period = 'infinity' AND t.{brought_at} <> m.period AND ({any_left})`, statement.Names{
		"dimensions": statement.Each(metadata.Names(r.Dimensions), " || ' {name}=' || t.{name}", ""),
		"brought_at": metadata.BroughtAt, "totals": r.Totals(), "movements": r.Table(),
		"document": r.Dimensions[last-2].Name, "line": r.Dimensions[last-1].Name,
		"any_left": statement.Each(metadata.Names(r.Resources), "t.{name} <> 0", " OR "),
	})
}

// totalsSQL compares totals with the sums of movements, key by key, in both directions.
func totalsSQL(r *metadata.Accumulation, which, period string) string {
	resources := metadata.Names(r.Resources)
	return statement.SQL(`SELECT {subject} || ' month=' || of{field}, {expected}, {found}
FROM (SELECT {keys}, period AS of, {resources} FROM {totals} WHERE {which} AND {within}) t
FULL JOIN (SELECT {keys}, {period} AS of, {sums} FROM {movements} WHERE {within} GROUP BY {keys}, of) m
	USING ({keys}, of)
WHERE {differs}`, statement.Names{
		"subject": subjectOf(r), "keys": keysOf(r), "resources": strings.Join(resources, ", "),
		"totals": r.Totals(), "which": which, "within": ofKey(r) + " AND " + ofMonth,
		"period": period, "movements": r.Table(),
		"expected": statement.Each(resources, "'{name}=' || coalesce(m.{name}, 0)", " || ' ' || "),
		"found":    statement.Each(resources, "'{name}=' || coalesce(t.{name}, 0)", " || ' ' || "),
		"sums":     statement.Each(resources, "sum(CASE WHEN expense THEN -{name} ELSE {name} END) AS {name}", ", "),
		"differs":  statement.Each(resources, "coalesce(t.{name}, 0) <> coalesce(m.{name}, 0)", " OR "),
		"field":    fieldsSQL(resources, "coalesce(t.{name}, 0) <> coalesce(m.{name}, 0)"),
	})
}

// fieldsSQL adds to a subject the names of the columns that differ.
func fieldsSQL(names []string, differs string) string {
	return markSQL + "' || concat_ws(', ', " +
		statement.Each(names, "CASE WHEN "+differs+" THEN '{name}' END", ", ") + ")"
}

// totalsOfMonthsSQL compares current balances with the sums of the months, in one pass over the totals.
func totalsOfMonthsSQL(r *metadata.Accumulation) string {
	const months = "coalesce(sum({name}) FILTER (WHERE period < 'infinity'), 0)"
	const current = "coalesce(sum({name}) FILTER (WHERE period = 'infinity'), 0)"
	resources := metadata.Names(r.Resources)
	return statement.SQL(`SELECT {subject} || ' month=infinity'{field}, {expected}, {found}
FROM {totals} GROUP BY {keys} HAVING {differs}`, statement.Names{
		"subject": subjectOf(r), "totals": r.Totals(), "keys": keysOf(r),
		"expected": statement.Each(resources, "'{name}=' || "+months, " || ' ' || "),
		"found":    statement.Each(resources, "'{name}=' || "+current, " || ' ' || "),
		"differs":  statement.Each(resources, current+" <> "+months, " OR "),
		"field":    fieldsSQL(resources, current+" <> "+months),
	})
}
