package ledger

import (
	"fmt"
	"strings"

	"plimsoll/platform/metadata"
)

// TurnoverSQL is a subquery with the debit and credit of each account that had any before a moment: the
// turnovers of the months before, and the entries of its month up to it. $1 is the organisation; moment is an expression of the statement.
func TurnoverSQL(meta *metadata.Accounting, moment string) string {
	return turnoverSQL(meta, moment, "account", "")
}

// AnalyticTurnoverSQL is TurnoverSQL of one account (an expression of the statement) by its analytics: analytic_1, analytic_2, analytic_3.
func AnalyticTurnoverSQL(meta *metadata.Accounting, moment, account string) string {
	return turnoverSQL(meta, moment, balanceBy, account)
}

func turnoverSQL(meta *metadata.Accounting, moment, group, account string) string {
	month := "date_trunc('month', " + moment + "::timestamptz AT TIME ZONE 'UTC')"
	within := fmt.Sprintf("organisation = $1 AND period >= %s AT TIME ZONE 'UTC' AND period < %s", month, moment)
	of := func(column string) string {
		if account == "" {
			return ""
		}
		return " AND " + column + " = " + account
	}
	side := func(name string) string {
		if group == "account" {
			return name
		}
		return strings.ReplaceAll("@, @_1, @_2, @_3", "@", name)
	}
	return fmt.Sprintf(`(SELECT %[5]s, sum(debit) AS debit, sum(credit) AS credit FROM (
	SELECT %[5]s, debit, credit FROM %[1]s WHERE organisation = $1 AND period < %[2]s::date%[6]s
	UNION ALL
	SELECT %[7]s, amount, 0 FROM %[3]s WHERE %[4]s%[8]s
	UNION ALL
	SELECT %[9]s, 0, amount FROM %[3]s WHERE %[4]s%[10]s
) AS parts GROUP BY %[5]s HAVING sum(debit) <> 0 OR sum(credit) <> 0)`,
		meta.Totals(), month, meta.Table(), within, group, of("account"), side("debit"), of("debit"), side("credit"), of("credit"))
}

// CardSQL selects the entries of an account in the order of time, each from its side: period, recorder_type, recorder, line, the account and
// analytics of the other side, debit and credit. $1 is the organisation, $2 the account, $3 the first moment and $4 the one after the last; when
// filtered, $5 is an element that one of its analytics is.
func CardSQL(meta *metadata.Accounting, filtered bool) string {
	side := func(of, other, debit, credit string) string {
		where := fmt.Sprintf("organisation = $1 AND %s = $2 AND period >= $3 AND period < $4", of)
		if filtered {
			where += fmt.Sprintf(" AND $5::uuid IN (%[1]s_1, %[1]s_2, %[1]s_3)", of)
		}
		return fmt.Sprintf("SELECT period, recorder_type, recorder, line, %[1]s_1 AS analytic_1, %[1]s_2 AS analytic_2, %[1]s_3 AS analytic_3, %[2]s AS other, %[3]s AS debit, %[4]s AS credit FROM %[5]s WHERE %[6]s",
			of, other, debit, credit, meta.Table(), where)
	}
	return "(" + side("debit", "credit", "amount", "0") + "\nUNION ALL\n" + side("credit", "debit", "0", "amount") + ")"
}
