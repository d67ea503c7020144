package register

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// TurnoverSQL is a subquery with the dimensions of a register and, for each resource, what there was before a period, what came, what went and
// what was left (<resource>_opening, _receipt, _expense, _closing), without rows in which nothing stood or moved. $1 is the organisation, $2 the last moment of the
// period, as in BalanceSQL, $3 its first; when filter is given, $4 is an array of the values of that dimension.
//
//	closing = balance at the last moment;  opening = closing − receipt + expense
func TurnoverSQL(meta *metadata.Accumulation, filter string) string {
	where := "organisation = $1 AND period >= $3 AND period <= $2"
	if filter != "" {
		where += " AND " + filter + " = ANY ($4::uuid[])"
	}
	dimensions := strings.Join(names(meta.Dimensions), ", ")
	each := func(format, separator string) string { return eachOf(meta.Resources, format, separator) }
	return fmt.Sprintf(`(SELECT %[1]s, %[2]s FROM (
	SELECT %[1]s, %[3]s FROM %[4]s b
	UNION ALL
	SELECT %[1]s, %[5]s FROM %[6]s WHERE %[7]s
) AS parts GROUP BY %[1]s HAVING %[8]s)`,
		dimensions,
		each("sum(%[1]s_left - %[1]s_came + %[1]s_went) AS %[1]s_opening, sum(%[1]s_came) AS %[1]s_receipt, sum(%[1]s_went) AS %[1]s_expense, sum(%[1]s_left) AS %[1]s_closing", ", "),
		each("%[1]s AS %[1]s_left, 0 AS %[1]s_came, 0 AS %[1]s_went", ", "), balanceSQL(meta, filter, "$4"),
		each("0, CASE WHEN expense THEN 0 ELSE %[1]s END, CASE WHEN expense THEN %[1]s ELSE 0 END", ", "), meta.Table(), where,
		each("sum(%[1]s_left) <> 0 OR sum(%[1]s_came) <> 0 OR sum(%[1]s_went) <> 0", " OR "))
}
