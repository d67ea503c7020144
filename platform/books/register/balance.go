package register

import (
	"strings"

	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// BalanceSQL is a subquery with the dimensions and resources of a register at a moment (inclusive), without zero rows,
// for reports to join and group. $1 is the organisation, $2 the moment; with a filter, $3 is an array of values of that
// dimension.
//
//	current balance − turnovers of later months − movements after the moment in its month
//
// There is one current balance per key, so only later movements are summed: none, if the moment is now.
func BalanceSQL(meta *metadata.Accumulation, filter string) string {
	if filter == "" {
		return balanceOfSQL(meta, "")
	}
	return BalanceOfSQL(meta, filter, "($3::uuid[])")
}

// BalanceOfSQL is BalanceSQL for the values of a dimension in a set: a subquery, or a function of an array.
func BalanceOfSQL(meta *metadata.Accumulation, filter, set string) string {
	return balanceOfSQL(meta, " AND "+filter+" = ANY "+set)
}

func balanceOfSQL(meta *metadata.Accumulation, condition string) string {
	const left = "coalesce({name}, 0) + coalesce(later_{name}, 0)"
	resources := metadata.Names(meta.Resources)
	return statement.SQL(`(SELECT {dimensions}, {left} FROM (
	SELECT {dimensions}, {resources} FROM {totals} WHERE {where} AND period = 'infinity'
) AS current FULL JOIN (SELECT {dimensions}, {later} FROM (
	SELECT {dimensions}, {of_months} FROM {totals} WHERE {where} AND period > {month}::date AND period < 'infinity'
	UNION ALL
	SELECT {dimensions}, {of_movements} FROM {movements}
	WHERE {where} AND period > $2 AND period < ({month} + interval '1 month') AT TIME ZONE 'UTC'
) AS parts GROUP BY {dimensions}) AS later USING ({dimensions}) WHERE {any_left})`, statement.Names{
		"totals": meta.Totals(), "movements": meta.Table(), "where": "organisation = $1" + condition,
		"month":      "date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC')",
		"dimensions": metadata.Columns(meta.Dimensions), "resources": strings.Join(resources, ", "),
		"left":         statement.Each(resources, left+" AS {name}", ", "),
		"later":        statement.Each(resources, "sum({name}) AS later_{name}", ", "),
		"of_months":    statement.Each(resources, "-{name} AS {name}", ", "),
		"of_movements": statement.Each(resources, "CASE WHEN expense THEN {name} ELSE -{name} END", ", "),
		"any_left":     statement.Each(resources, left+" <> 0", " OR "),
	})
}
