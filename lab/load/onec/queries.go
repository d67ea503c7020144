package onec

import (
	"fmt"
	"strings"
)

// itemsAsked is how many items a form asks about at once.
const itemsAsked = 20

var oneKey = structure{[]string{"_Q_000_F_000RRef bytea"}, "_Q_000_F_000RRef"}

// asked is a temp table of items, sent as values.
func (o *operation) asked(s scene) string {
	var rows []string
	for _, r := range s.refs(itemsAsked, s.item) {
		rows = append(rows, "("+r.sql()+")")
	}
	name := o.temp(oneKey)
	o.run("INSERT INTO %s (_Q_000_F_000RRef) VALUES %s", name, strings.Join(rows, ", "))
	o.analyze(name)
	return name
}

// stockAtMoment adds to the totals of the month what has moved since.
func stockAtMoment(o *operation, s scene) {
	at := s.momentInHistory()
	asked := o.asked(s)
	among := func(alias string) string {
		return fmt.Sprintf("(%s._Fld72RRef IN (SELECT T4._Q_000_F_000RRef FROM %s T4))", alias, asked)
	}
	o.run(`SELECT T1._Fld71RRef, T1._Fld72RRef, T5._Description, CAST(SUM(T1.Q) AS NUMERIC), CAST(SUM(T1.A) AS NUMERIC)
FROM (SELECT T2._Fld71RRef, T2._Fld72RRef, CAST(SUM(T2._Fld74) AS NUMERIC) AS Q, CAST(SUM(T2._Fld75) AS NUMERIC) AS A
	FROM %s T2 WHERE %s AND T2._Period = %s AND %s AND (T2._Fld74 <> 0 OR T2._Fld75 <> 0)
	GROUP BY T2._Fld71RRef, T2._Fld72RRef
	UNION ALL SELECT T3._Fld71RRef, T3._Fld72RRef,
		CAST(SUM(CASE WHEN T3._RecordKind = 0.0 THEN T3._Fld74 ELSE -T3._Fld74 END) AS NUMERIC),
		CAST(SUM(CASE WHEN T3._RecordKind = 0.0 THEN T3._Fld75 ELSE -T3._Fld75 END) AS NUMERIC)
	FROM %s T3 WHERE %s AND T3._Period >= %s AND T3._Period < %s AND T3._Active = TRUE AND %s
	GROUP BY T3._Fld71RRef, T3._Fld72RRef) T1
LEFT OUTER JOIN %s T5 ON (T1._Fld72RRef = T5._IDRRef) AND %s
GROUP BY T1._Fld71RRef, T1._Fld72RRef, T5._Description
HAVING (CAST(SUM(T1.Q) AS NUMERIC)) <> 0 OR (CAST(SUM(T1.A) AS NUMERIC)) <> 0`, stockTotals.name, s.in("T2"),
		moment(monthOf(at)), among("T2"), stock.name, s.in("T3"), moment(monthOf(at)), moment(at), among("T3"),
		items.name, s.in("T5"))
}

// lastPricesOf takes the newest record not after a moment: the greatest period of each key, joined back.
func lastPricesOf(o *operation, s scene) {
	at := s.momentInHistory()
	asked := o.asked(s)
	o.run(`SELECT T1._Fld61RRef, T4._Description, T1._Fld62RRef, T1._Fld63, T1._Period
FROM (SELECT T2._Fld61RRef AS K1, T2._Fld62RRef AS K2, MAX(T2._Period) AS P FROM %[1]s T2
	WHERE %[2]s AND T2._Period <= %[3]s AND (T2._Fld61RRef IN (SELECT T3._Q_000_F_000RRef FROM %[4]s T3))
	GROUP BY T2._Fld61RRef, T2._Fld62RRef) T5
INNER JOIN %[1]s T1 ON T5.K1 = T1._Fld61RRef AND T5.K2 = T1._Fld62RRef AND T5.P = T1._Period
LEFT OUTER JOIN %[5]s T4 ON (T1._Fld61RRef = T4._IDRRef) AND %[6]s
WHERE %[7]s`, prices.name, s.in("T2"), moment(at), asked, items.name, s.in("T4"), s.in("T1"))
}

// writePrice replaces the record of a key and a second, and the slice of the last where it is the newest.
func writePrice(o *operation, s scene) {
	item, kind, at := s.item(), newRef(priceKindsNumber, s.rng.Uint64N(priceKindCount)), s.momentOfToday()
	price := money(100 * (100 + s.rng.IntN(900)))
	key := func(alias string) string {
		return fmt.Sprintf("%[1]s AND %[2]s._Fld61RRef = %[3]s AND %[2]s._Fld62RRef = %[4]s", s.in(alias), alias,
			item.sql(), kind.sql())
	}
	o.run("BEGIN TRANSACTION")
	o.run("SELECT T1._Period, T1._Fld63 FROM %s T1 WHERE %s FOR UPDATE", pricesLast.name, key("T1"))
	o.run("DELETE FROM %s T1 WHERE %s AND T1._Period = %s", prices.name, key("T1"), moment(at))
	o.run("INSERT INTO %s (%s, %s) VALUES (%s, %s, %s, %s, '\\\\001'::bytea, "+
		"'\\\\000\\\\000\\\\000\\\\000'::bytea, %s, CAST(%d AS NUMERIC))", prices.name,
		prices.list("", "_Period", "_Fld61RRef", "_Fld62RRef", "_Fld63", "_Fld64"), separator, moment(at), item.sql(),
		kind.sql(), price, noRef.sql(), s.area)
	o.run("UPDATE %s T1 SET _Period = %s, _Fld63 = %s WHERE %s AND T1._Period <= %[2]s", pricesLast.name, moment(at),
		price, key("T1"))
	o.run("COMMIT TRANSACTION")
}

// turnovers are a month's sheet of all accounts, and that of the customers.
func turnovers(o *operation, s scene) {
	month := moment(monthOf(s.momentInHistory()))
	o.run(`SELECT T2._Code, T2._Description, CAST(SUM(T1._Fld82) AS NUMERIC), CAST(SUM(T1._TurnoverDt82) AS NUMERIC),
	CAST(SUM(T1._TurnoverCt82) AS NUMERIC), CAST(SUM(T1._Fld82 + T1._Turnover82) AS NUMERIC)
FROM %s T1 INNER JOIN %s T2 ON T1._AccountRRef = T2._IDRRef
WHERE %s AND T1._Period = %s GROUP BY T2._Code, T2._Description ORDER BY T2._Code`, ledgerTotals[0].name,
		accounts.name, s.in("T1"), month)
	rows := o.fill(structure{[]string{"_Q_000_F_000RRef bytea", "_Q_000_F_001 numeric", "_Q_000_F_002 numeric"},
		"_Q_000_F_000RRef"},
		fmt.Sprintf(`SELECT T1._Value1_RRRef, CAST(SUM(T1._Fld82) AS NUMERIC), CAST(SUM(T1._Turnover82) AS NUMERIC)
FROM %s T1 WHERE %s AND T1._Period = %s AND (T1._AccountRRef = %s) AND (T1._Value1_TYPE = '\\010'::bytea AND
	T1._Value1_RTRef = %s) GROUP BY T1._Value1_RRRef`, ledgerTotals[3].name, s.in("T1"), month,
			customersAccount.ref().sql(), typeOf(partnersNumber)))
	o.run(`SELECT T2._Description, T1._Q_000_F_001, T1._Q_000_F_001 + T1._Q_000_F_002 FROM %s T1
INNER JOIN %s T2 ON (T1._Q_000_F_000RRef %s T2._IDRRef) AND %s ORDER BY (T1._Q_000_F_001) DESC LIMIT 100`, rows,
		partners.name, o.equal(), s.in("T2"))
}

// salesBatch is a report over temp tables: documents, their lines, prices and stock of the items, all joined.
func salesBatch(o *operation, s scene) {
	day := s.momentInHistory()
	documents := o.fill(structure{[]string{"_Q_000_F_000RRef bytea", "_Q_000_F_001RRef bytea"}, "_Q_000_F_000RRef"},
		fmt.Sprintf("SELECT T1._IDRRef, T1._Fld36RRef FROM %s T1 WHERE %s AND (T1._Date_Time >= %s) "+
			"AND (T1._Date_Time < %s) AND (T1._Posted = TRUE)", sales.name, s.in("T1"), moment(day),
			moment(day.AddDate(0, 0, 10))))
	lines := o.fill(structure{[]string{"_Q_001_F_000RRef bytea", "_Q_001_F_001 numeric", "_Q_001_F_002 numeric",
		"_Q_001_F_003 numeric"}, "_Q_001_F_000RRef"},
		fmt.Sprintf(`SELECT T2._Fld44RRef, CAST(SUM(T2._Fld45) AS NUMERIC), CAST(SUM(T2._Fld47) AS NUMERIC),
	CAST(COUNT(DISTINCT T1._Q_000_F_001RRef) AS NUMERIC)
FROM %s T1 INNER JOIN %s T2 ON (T1._Q_000_F_000RRef = T2._Document34_IDRRef) AND %s GROUP BY T2._Fld44RRef`,
			documents, saleLines.name, s.in("T2")))
	priced := o.fill(structure{[]string{"_Q_002_F_000RRef bytea", "_Q_002_F_001 numeric"}, "_Q_002_F_000RRef"},
		fmt.Sprintf(`SELECT T1._Fld61RRef, CAST(MAX(T1._Fld63) AS NUMERIC) FROM %s T1
WHERE %s AND (T1._Fld61RRef IN (SELECT T2._Q_001_F_000RRef FROM %s T2)) GROUP BY T1._Fld61RRef`, pricesLast.name,
			s.in("T1"), lines))
	there := o.fill(structure{[]string{"_Q_001_F_000RRef bytea", "_Q_001_F_001 numeric"}, "_Q_001_F_000RRef"},
		fmt.Sprintf(`SELECT T1._Fld72RRef, CAST(SUM(T1._Fld74) AS NUMERIC) FROM %s T1
WHERE %s AND T1._Period = %s AND (T1._Fld72RRef IN (SELECT T2._Q_001_F_000RRef FROM %s T2))
GROUP BY T1._Fld72RRef`, stockTotals.name, s.in("T1"), moment(present), lines))
	o.run(`SELECT T4._Description, T4._Code, T1._Q_001_F_001, T1._Q_001_F_002, T1._Q_001_F_003, T2._Q_002_F_001,
	T3._Q_001_F_001
FROM %s T1
LEFT OUTER JOIN %s T2 ON (T1._Q_001_F_000RRef %s T2._Q_002_F_000RRef)
LEFT OUTER JOIN %s T3 ON (T1._Q_001_F_000RRef %s T3._Q_001_F_000RRef)
LEFT OUTER JOIN %s T4 ON (T1._Q_001_F_000RRef = T4._IDRRef) AND %s
ORDER BY (T1._Q_001_F_002) DESC, (T4._Description) LIMIT 100`, lines, priced, o.equal(), there, o.equal(), items.name,
		s.in("T4"))
}
