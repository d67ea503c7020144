package onec

import (
	"fmt"
	"strings"
	"time"
)

// Lists are read by pages: what comes after the last key.
const (
	pageRows  = 45
	pageCount = 3
)

// area is the condition that the platform adds for each table of a query.
func (s scene) in(aliases ...string) string {
	var all []string
	for _, a := range aliases {
		all = append(all, fmt.Sprintf("%s.%s = CAST(%d AS NUMERIC)", a, separator, s.area))
	}
	return "(" + strings.Join(all, " AND ") + ")"
}

const timeFormat = "2006-01-02 15:04:05"

// listSales reads pages from a moment on, with the names of partner and warehouse.
func listSales(o *operation, s scene) {
	from, last := s.momentInHistory(), noRef
	for range pageCount {
		rows := o.run(`SELECT T1._IDRRef, T1._Date_Time, T1._Number, T1._Posted, T1._Marked, T1._Fld39,
	T2._Description, T3._Description
FROM %[1]s T1
LEFT OUTER JOIN %[2]s T2 ON (T1._Fld36RRef = T2._IDRRef) AND %[3]s
LEFT OUTER JOIN %[4]s T3 ON (T1._Fld35RRef = T3._IDRRef) AND %[5]s
WHERE %[6]s AND ((T1._Date_Time > %[7]s) OR (T1._Date_Time = %[7]s AND T1._IDRRef > %[8]s))
ORDER BY (T1._Date_Time), (T1._IDRRef) LIMIT %[9]d`, sales.name, partners.name, s.in("T2"), warehouses.name,
			s.in("T3"), s.in("T1"), moment(from), last.sql(), pageRows)
		if len(rows) < pageRows {
			return
		}
		end := rows[len(rows)-1]
		if from, o.err = time.Parse(timeFormat, end[1][:len(timeFormat)]); o.err == nil {
			last, o.err = parseRef(end[0])
		}
	}
}

// findItems looks for two parts of words in the name.
func findItems(o *operation, s scene) {
	part := func() string { w := words[s.rng.IntN(len(words))]; return w[:min(4, len(w))] }
	o.run(`SELECT T1._IDRRef, T1._Code, T1._Description, T1._Marked FROM %s T1
WHERE %s AND (%s) AND (%s) ORDER BY (T1._Description), (T1._IDRRef) LIMIT %d`, items.name, s.in("T1"),
		o.contains("T1._Description", part()), o.contains("T1._Fld16", part()), pageRows)
}

// openSale reads an object, and the names of what it refers to.
func openSale(o *operation, s scene) {
	id := s.filledSale()
	o.run(`SELECT T1.*, T2._Description, T3._Description, T4._Description, T5._Description, T6._Date_Time
FROM %s T1
LEFT OUTER JOIN %s T2 ON (T1._Fld36RRef = T2._IDRRef) AND %s
LEFT OUTER JOIN %s T3 ON (T1._Fld35RRef = T3._IDRRef) AND %s
LEFT OUTER JOIN %s T4 ON (T1._Fld37RRef = T4._IDRRef) AND %s
LEFT OUTER JOIN %s T5 ON (T1._Fld38RRef = T5._IDRRef) AND %s
LEFT OUTER JOIN %s T6 ON (T1._Fld40_TYPE = '\\010'::bytea AND T1._Fld40_RTRef = %s AND T1._Fld40_RRRef = T6._IDRRef)
	AND %s
WHERE %s AND (T1._IDRRef = %s)`, sales.name, partners.name, s.in("T2"), warehouses.name, s.in("T3"), contracts.name,
		s.in("T4"), companies.name, s.in("T5"), receipts.name, typeOf(receiptsNumber), s.in("T6"), s.in("T1"), id.sql())
	o.run(`SELECT T1.*, T2._Description, T2._Code FROM %s T1
LEFT OUTER JOIN %s T2 ON (T1._Fld44RRef = T2._IDRRef) AND %s
WHERE %s AND (T1._Document34_IDRRef = %s) ORDER BY T1._KeyField`, saleLines.name, items.name, s.in("T2"), s.in("T1"),
		id.sql())
}
