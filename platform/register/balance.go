package register

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// BalanceSQL is a subquery with the dimensions and resources of a register as they were at
// a moment (inclusive), without zero rows, to be joined and grouped by a report. $1 is the organisation, $2 the
// moment, and when filter is given, $3 is an array of the values of that dimension.
//
//	current balance − turnovers of later months − movements after the moment in its month
//
// There is one current balance of each key, so only what came later is summed: nothing, where the moment is now.
func BalanceSQL(meta *metadata.Accumulation, filter string) string {
	return balanceSQL(meta, filter, "$3")
}

// BalanceOfSQL is BalanceSQL of the values of a dimension that a set has: a subquery, or a function of an array.
func BalanceOfSQL(meta *metadata.Accumulation, filter, set string) string {
	return balanceOfSQL(meta, " AND "+filter+" = ANY "+set)
}

func balanceSQL(meta *metadata.Accumulation, filter, values string) string {
	if filter == "" {
		return balanceOfSQL(meta, "")
	}
	return BalanceOfSQL(meta, filter, "("+values+"::uuid[])")
}

func balanceOfSQL(meta *metadata.Accumulation, condition string) string {
	where := "organisation = $1" + condition
	const month = "date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC')"
	dimensions := strings.Join(names(meta.Dimensions), ", ")
	each := func(format, separator string) string { return eachOf(meta.Resources, format, separator) }
	const left = "coalesce(%[1]s, 0) + coalesce(later_%[1]s, 0)"
	return fmt.Sprintf(`(SELECT %[1]s, %[2]s FROM (
	SELECT %[1]s, %[3]s FROM %[4]s WHERE %[5]s AND period = 'infinity'
) AS current FULL JOIN (SELECT %[1]s, %[6]s FROM (
	SELECT %[1]s, %[7]s FROM %[4]s WHERE %[5]s AND period > %[8]s::date AND period < 'infinity'
	UNION ALL
	SELECT %[1]s, %[9]s FROM %[10]s WHERE %[5]s AND period > $2 AND period < (%[8]s + interval '1 month') AT TIME ZONE 'UTC'
) AS parts GROUP BY %[1]s) AS later USING (%[1]s) WHERE %[11]s)`,
		dimensions, each(left+" AS %[1]s", ", "), strings.Join(names(meta.Resources), ", "), meta.Totals(), where,
		each("sum(%[1]s) AS later_%[1]s", ", "), each("-%[1]s AS %[1]s", ", "), month,
		each("CASE WHEN expense THEN %[1]s ELSE -%[1]s END", ", "), meta.Table(), each(left+" <> 0", " OR "))
}

// eachOf puts the name of each attribute into a format.
func eachOf(attributes []metadata.Attribute, format, separator string) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = fmt.Sprintf(format, a.Name)
	}
	return strings.Join(parts, separator)
}
