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
	plain, reversed, undone, sums, kept := resources(meta)
	return fmt.Sprintf(`(SELECT %[1]s, %[2]s FROM (
	SELECT %[1]s, %[3]s FROM %[4]s WHERE %[5]s AND period = 'infinity'
	UNION ALL
	SELECT %[1]s, %[6]s FROM %[4]s WHERE %[5]s AND period > %[7]s::date AND period < 'infinity'
	UNION ALL
	SELECT %[1]s, %[8]s FROM %[9]s WHERE %[5]s AND period > $2 AND period < (%[7]s + interval '1 month') AT TIME ZONE 'UTC'
) AS parts GROUP BY %[1]s HAVING %[10]s)`,
		dimensions, sums, plain, meta.Totals(), where, reversed, month, undone, meta.Table(), kept)
}

func resources(meta *metadata.Accumulation) (plain, reversed, undone, sums, kept string) {
	each := func(format, separator string) string {
		var parts []string
		for _, a := range meta.Resources {
			parts = append(parts, fmt.Sprintf(format, a.Name))
		}
		return strings.Join(parts, separator)
	}
	return each("%[1]s", ", "), each("-%[1]s AS %[1]s", ", "), each("CASE WHEN expense THEN %[1]s ELSE -%[1]s END", ", "),
		each("sum(%[1]s) AS %[1]s", ", "), each("sum(%[1]s) <> 0", " OR ")
}
