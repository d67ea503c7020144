package audit

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

func accumulation(app *metadata.Application, r *metadata.Accumulation) []Invariant {
	const current, monthly = "period = 'infinity'", "period < 'infinity'"
	ofMonths := Invariant{
		ID: r.Name + ".monthly", Title: r.Title + ": totals of each month equal its movements",
		Checked: count(r.Totals(), monthly+" AND "+ofKey(r)+" AND "+ofMonth), Wrong: totalsSQL(r, monthly, "date_trunc('month', period AT TIME ZONE 'UTC')::date"),
	}
	if r.Turnovers {
		return []Invariant{ofMonths}
	}
	all := []Invariant{
		{
			ID: r.Name + ".current", Title: r.Title + ": current balances equal all movements",
			Checked: count(r.Totals(), current+" AND "+ofKey(r)), Wrong: totalsSQL(r, current, "'infinity'::date"), Changed: totalsOfMonthsSQL(r),
		},
		ofMonths,
	}
	if r.Controlled {
		all = append(all, Invariant{
			ID: r.Name + ".controlled", Title: r.Title + ": nothing is below zero, and nothing is worth something where nothing is left",
			Checked: count(r.Totals(), current+" AND "+ofKey(r)), Wrong: shortSQL(r),
		})
	}
	if r.Layered {
		all = append(all, Invariant{
			ID: r.Name + ".dated", Title: r.Title + ": layers are used up by the dates of the documents that brought them",
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
		ID: r.Name + ".covers", Title: fmt.Sprintf("%s: there is at least what is needed for %s", r.Title, covered.Title),
		Checked: count(covered.Totals(), "period = 'infinity' AND "+ofKey(r)),
		Wrong: fmt.Sprintf(`SELECT %[1]s, '>= ' || c.needed, coalesce(t.%[3]s, 0)::text
FROM (SELECT %[2]s, sum(%[4]s) AS needed FROM %[5]s WHERE period = 'infinity' AND %[7]s GROUP BY %[2]s) c
LEFT JOIN (SELECT %[2]s, %[3]s FROM %[6]s WHERE period = 'infinity') t USING (%[2]s)
WHERE c.needed > coalesce(t.%[3]s, 0)`, subjectOf(r), keysOf(r), r.Resources[0].Name, covered.Resources[0].Name, covered.Totals(), r.Totals(), ofKey(r)),
	}
}

// keysOf a register's totals but for the period.
func keysOf(r *metadata.Accumulation) string {
	keys := "organisation"
	for _, d := range r.Dimensions {
		keys += ", " + d.Name
	}
	return keys
}

func ofKey(r *metadata.Accumulation) string { return "{key " + keysOf(r) + "}" }

func subjectOf(r *metadata.Accumulation) string {
	subject := "'organisation=' || organisation"
	for _, d := range r.Dimensions {
		subject += fmt.Sprintf(" || ' %[1]s=' || %[1]s", d.Name)
	}
	return subject
}

// shortSQL selects what a controlled register must not have.
func shortSQL(r *metadata.Accumulation) string {
	found := "''"
	var wrong []string
	for _, a := range r.Resources {
		found += fmt.Sprintf(" || ' %[1]s=' || %[1]s", a.Name)
		wrong = append(wrong, fmt.Sprintf("%[1]s < 0 OR %[2]s = 0 AND %[1]s <> 0", a.Name, r.Resources[0].Name))
	}
	return fmt.Sprintf("SELECT %s, 'nothing below zero, nothing without %s', %s FROM %s WHERE period = 'infinity' AND %s AND (%s)",
		subjectOf(r), r.Resources[0].Name, found, r.Totals(), ofKey(r), strings.Join(wrong, " OR "))
}

// misdatedSQL selects what there is of layers that are noted under another date than that of the movement which brought them.
func misdatedSQL(r *metadata.Accumulation) string {
	subject, last := "'organisation=' || t.organisation", len(r.Dimensions)
	var left []string
	for _, d := range r.Dimensions {
		subject += fmt.Sprintf(" || ' %[1]s=' || t.%[1]s", d.Name)
	}
	for _, a := range r.Resources {
		left = append(left, "t."+a.Name+" <> 0")
	}
	return fmt.Sprintf(`SELECT %[1]s, m.period::text, t.%[2]s::text FROM %[3]s t JOIN %[4]s m ON m.recorder = t.%[5]s AND m.line = t.%[6]s
WHERE t.period = 'infinity' AND t.%[2]s <> m.period AND (%[7]s)`,
		subject, metadata.BroughtAt, r.Totals(), r.Table(), r.Dimensions[last-2].Name, r.Dimensions[last-1].Name, strings.Join(left, " OR "))
}

// totalsSQL compares the totals with what the movements say, key by key, both ways.
func totalsSQL(r *metadata.Accumulation, which, period string) string {
	var resources, sums, differ, expected, found []string
	for _, a := range r.Resources {
		resources = append(resources, a.Name)
		sums = append(sums, fmt.Sprintf("sum(CASE WHEN expense THEN -%[1]s ELSE %[1]s END) AS %[1]s", a.Name))
		differ = append(differ, fmt.Sprintf("coalesce(t.%[1]s, 0) <> coalesce(m.%[1]s, 0)", a.Name))
		expected = append(expected, fmt.Sprintf("'%[1]s=' || coalesce(m.%[1]s, 0)", a.Name))
		found = append(found, fmt.Sprintf("'%[1]s=' || coalesce(t.%[1]s, 0)", a.Name))
	}
	return fmt.Sprintf(`SELECT %[1]s || ' month=' || of, %[2]s, %[3]s
FROM (SELECT %[4]s, period AS of, %[5]s FROM %[6]s WHERE %[7]s AND %[12]s) t
FULL JOIN (SELECT %[4]s, %[8]s AS of, %[9]s FROM %[10]s WHERE %[12]s GROUP BY %[4]s, of) m USING (%[4]s, of)
WHERE %[11]s`,
		subjectOf(r), strings.Join(expected, " || ' ' || "), strings.Join(found, " || ' ' || "), keysOf(r), strings.Join(resources, ", "),
		r.Totals(), which, period, strings.Join(sums, ", "), r.Table(), strings.Join(differ, " OR "), ofKey(r)+" AND "+ofMonth)
}

// totalsOfMonthsSQL compares current balances with the sums of the months, in one pass over the totals.
func totalsOfMonthsSQL(r *metadata.Accumulation) string {
	var expected, found, differ []string
	for _, a := range r.Resources {
		months := fmt.Sprintf("coalesce(sum(%s) FILTER (WHERE period < 'infinity'), 0)", a.Name)
		current := fmt.Sprintf("coalesce(sum(%s) FILTER (WHERE period = 'infinity'), 0)", a.Name)
		expected, found = append(expected, "'"+a.Name+"=' || "+months), append(found, "'"+a.Name+"=' || "+current)
		differ = append(differ, current+" <> "+months)
	}
	return fmt.Sprintf("SELECT %s || ' month=infinity', %s, %s\nFROM %s GROUP BY %s HAVING %s", subjectOf(r),
		strings.Join(expected, " || ' ' || "), strings.Join(found, " || ' ' || "), r.Totals(), keysOf(r), strings.Join(differ, " OR "))
}
