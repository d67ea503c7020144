package register

import (
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// TurnoverSQL is a subquery with the dimensions of a register and, for each resource, opening balance, receipt, expense
// and closing balance of a period (<resource>_opening, _receipt, _expense, _closing), without rows in which all are
// zero. $1 is the organisation, $2 the last moment of the period, as in BalanceSQL, $3 its first; with a filter, $4 is
// an array of values of that dimension.
//
//	closing = balance at the last moment;  opening = closing − receipt + expense
func TurnoverSQL(meta *metadata.Accumulation, filter string) string {
	where := "organisation = $1 AND period >= $3 AND period <= $2"
	if filter != "" {
		where += " AND " + filter + " = ANY ($4::uuid[])"
	}
	resources := metadata.Names(meta.Resources)
	return statement.SQL(`(SELECT {dimensions}, {turnovers} FROM (
	SELECT {dimensions}, {left} FROM {balance} b
	UNION ALL
	SELECT {dimensions}, {moved} FROM {movements} WHERE {where}
) AS parts GROUP BY {dimensions} HAVING {any})`, statement.Names{
		"dimensions": metadata.Columns(meta.Dimensions),
		"turnovers": statement.Each(resources, `sum({name}_left - {name}_came + {name}_went) AS {name}_opening,
	sum({name}_came) AS {name}_receipt, sum({name}_went) AS {name}_expense, sum({name}_left) AS {name}_closing`, ", "),
		"left":    statement.Each(resources, "{name} AS {name}_left, 0 AS {name}_came, 0 AS {name}_went", ", "),
		"balance": balanceSQL(meta, filter, "$4"),
		"moved": statement.Each(resources,
			"0, CASE WHEN expense THEN 0 ELSE {name} END, CASE WHEN expense THEN {name} ELSE 0 END", ", "),
		"movements": meta.Table(), "where": where,
		"any": statement.Each(resources, "sum({name}_left) <> 0 OR sum({name}_came) <> 0 OR sum({name}_went) <> 0",
			" OR "),
	})
}
