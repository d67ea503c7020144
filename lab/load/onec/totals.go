package onec

import (
	"fmt"
	"strings"
	"time"
)

// totals are a table of totals: what it must hold follows from the records, and the platform changes it by differences
// whenever it writes a record set.
type totals struct {
	table
	keys []string // besides period and separator, as the platform sees them
	sums []sum
	// monthly is the query over the tables of records and of their analytics for the sums by month: month, keys and
	// separator, sums.
	monthly func(records, analytics string) string
}

// sum of a table of totals: the balance at the beginning of the period, or the turnover within it.
type sum struct {
	name   string
	within bool
}

// stockBalance are the totals of the register of accumulation.
var stockBalance = totals{table: stockTotals, keys: []string{"_Fld71RRef", "_Fld72RRef", "_Fld73"},
	sums: []sum{{"_Fld74", false}, {"_Fld75", false}}, monthly: stockByMonth}

func stockByMonth(records, _ string) string {
	return fmt.Sprintf(`SELECT date_trunc('month', _Period) AS month, %[1]s, %[2]s,
	sum(CASE WHEN _RecordKind = 0 THEN _Fld74 ELSE -_Fld74 END) AS _Fld74,
	sum(CASE WHEN _RecordKind = 0 THEN _Fld75 ELSE -_Fld75 END) AS _Fld75
FROM %[3]s WHERE _Active GROUP BY date_trunc('month', _Period), %[1]s, %[2]s`,
		stock.list("", "_Fld71RRef", "_Fld72RRef", "_Fld73"), separator, records)
}

// accountBalance are the totals of the accounts with so many analytics; with none, those of all accounts.
func accountBalance(dims int) totals {
	t := totals{table: ledgerTotals[dims], keys: []string{"_AccountRRef", "_Fld81RRef"}}
	for i, name := range accountSums {
		t.sums = append(t.sums, sum{name, i%4 != 0})
	}
	for d := range dims {
		t.keys = append(t.keys, fmt.Sprintf("_Value%d", d+1))
	}
	t.monthly = func(records, analytics string) string { return t.ledgerByMonth(dims, records, analytics) }
	return t
}

func (t totals) ledgerByMonth(dims int, records, analytics string) string {
	which, joins, values := "", "", ""
	if dims > 0 {
		refs := []string{hexEscaped(nil)} // no account has this key
		for _, a := range withDims(dims) {
			r := a.ref()
			refs = append(refs, hexEscaped(r[:]))
		}
		which = " WHERE account IN (" + strings.Join(refs, ", ") + ")"
	}
	for d := 1; d <= dims; d++ {
		values += fmt.Sprintf(", v%[1]d._Value_TYPE AS _Value%[1]d_TYPE, v%[1]d._Value_RTRef AS _Value%[1]d_RTRef, "+
			"v%[1]d._Value_RRRef AS _Value%[1]d_RRRef", d)
		joins += fmt.Sprintf(`
	JOIN %[2]s x%[1]d ON x%[1]d._Acc30_IDRRef = account AND x%[1]d._LineNo = %[1]d
	JOIN %[3]s v%[1]d ON v%[1]d._RecorderTRef = r._RecorderTRef AND v%[1]d._RecorderRRef = r._RecorderRRef
		AND v%[1]d._LineNo = r._LineNo AND v%[1]d._Correspond = side AND v%[1]d._KindRRef = x%[1]d._DimKindRRef
		AND v%[1]d.%[4]s = r.%[4]s`, d, accountDims.name, analytics, separator)
	}
	return fmt.Sprintf(`SELECT month, %[1]s, %[2]s, sum(dt - ct) AS _Fld82, sum(dt) AS _TurnoverDt82,
	sum(ct) AS _TurnoverCt82, sum(dt - ct) AS _Turnover82, sum(dtq - ctq) AS _Fld83, sum(dtq) AS _TurnoverDt83,
	sum(ctq) AS _TurnoverCt83, sum(dtq - ctq) AS _Turnover83
FROM (SELECT date_trunc('month', r._Period) AS month, account AS _AccountRRef, r._Fld81RRef, r.%[2]s%[3]s,
		CASE WHEN side = 0 THEN _Fld82 ELSE 0 END AS dt, CASE WHEN side = 1 THEN _Fld82 ELSE 0 END AS ct,
		CASE WHEN side = 0 THEN _Fld83Dt ELSE 0 END AS dtq, CASE WHEN side = 1 THEN _Fld83Ct ELSE 0 END AS ctq
	FROM (SELECT r.*, side, CASE WHEN side = 0 THEN _AccountDtRRef ELSE _AccountCtRRef END AS account
		FROM %[4]s r, generate_series(0, 1) side WHERE _Active) r%[5]s%[6]s) sides
GROUP BY month, %[1]s, %[2]s`, t.list("", t.keys...), separator, values, records, joins, which)
}

// allTotals of a base.
func allTotals() []totals { return append([]totals{stockBalance}, ledgerBalances()...) }

func ledgerBalances() (all []totals) {
	for dims := range ledgerTotals {
		all = append(all, accountBalance(dims))
	}
	return all
}

func (t totals) sumNames() (all []string) {
	for _, s := range t.sums {
		all = append(all, s.name)
	}
	return all
}

// due is the query for what the table must hold, or changes by, after records: period, keys and separator, sums.
func (t totals) due(records, analytics string, periods []time.Time) string {
	keys := t.list("", t.keys...) + ", " + separator
	var at, sums, some []string
	for _, p := range periods {
		at = append(at, "SELECT CAST("+moment(p)+" AS TIMESTAMP) AS _Period")
	}
	for _, s := range t.sums {
		in := "<"
		if s.within {
			in = "="
		}
		sum := fmt.Sprintf("SUM(CASE WHEN M.month %s P._Period THEN M.%s ELSE 0 END)", in, s.name)
		sums, some = append(sums, sum+" AS "+s.name), append(some, sum+" <> 0")
	}
	return fmt.Sprintf(`SELECT P._Period, %[1]s, %[2]s FROM (%[3]s) M INNER JOIN (%[4]s) P ON M.month <= P._Period
GROUP BY P._Period, %[1]s HAVING %[5]s`, keys, strings.Join(sums, ", "), t.monthly(records, analytics),
		strings.Join(at, " UNION ALL "), strings.Join(some, " OR "))
}

// dueOfAll is due after all records of a base.
func (t totals) dueOfAll() string {
	if t.name == stockTotals.name {
		return t.due(stock.name, "", totalPeriods())
	}
	return t.due(ledger.name, ledgerDims.name, totalPeriods())
}

// build is the statement that fills the table.
func (t totals) build() string {
	return fmt.Sprintf("INSERT INTO %s (_Period, %s, %s, %s, _Splitter) SELECT due.*, 0 FROM (%s) due", t.name,
		t.list("", t.keys...), separator, strings.Join(t.sumNames(), ", "), t.dueOfAll())
}

// structure of a temp table with differences.
func (t totals) structure() structure {
	s := structure{columns: []string{"_Period timestamp"}}
	index := []string{"_Period"}
	for _, name := range append(t.keys, separator) {
		kind := "bytea"
		if name == separator {
			kind = "numeric"
		}
		for _, part := range t.column(name).parts() {
			s.columns, index = append(s.columns, part+" "+kind), append(index, part)
		}
	}
	for _, name := range t.sumNames() {
		s.columns = append(s.columns, name+" numeric")
	}
	s.index = strings.Join(index, ", ")
	return s
}

// same is the condition that a row of the table has the key of a difference.
func (t totals) same(row, difference string) string {
	all := []string{fmt.Sprintf("%s._Period = %s._Period", row, difference)}
	for _, name := range append(t.keys, separator) {
		c := t.column(name)
		for _, part := range c.parts() {
			form := "%[1]s.%[3]s = %[2]s.%[3]s"
			if c.null {
				form = `COALESCE(%[1]s.%[3]s,'\\377'::bytea) = COALESCE(%[2]s.%[3]s,'\\377'::bytea)`
			}
			all = append(all, fmt.Sprintf(form, row, difference, part))
		}
	}
	return strings.Join(all, " AND ")
}

// change the totals by differences: rows that are there by UPDATE, others by INSERT, in the session's own part.
func (o *operation) change(t totals, differences string) {
	var set []string
	for _, name := range t.sumNames() {
		set = append(set, fmt.Sprintf("%[1]s = %[2]s.%[1]s + T2.%[1]s", name, t.name))
	}
	o.run("UPDATE %[1]s SET %[2]s FROM %[3]s T2 WHERE %[4]s AND %[1]s._Splitter = CAST(%[5]d AS NUMERIC)", t.name,
		strings.Join(set, ", "), differences, t.same(t.name, "T2"), o.splitter)
	columns := "_Period, " + t.list("", t.keys...) + ", " + separator + ", " + strings.Join(t.sumNames(), ", ")
	o.run("INSERT INTO %[1]s (%[2]s, _Splitter) SELECT %[2]s, CAST(%[3]d AS NUMERIC) FROM %[4]s T2 WHERE NOT EXISTS "+
		"(SELECT 1 FROM %[1]s T1 WHERE %[5]s AND T1._Splitter = CAST(%[3]d AS NUMERIC))", t.name, columns, o.splitter,
		differences, t.same("T1", "T2"))
}
