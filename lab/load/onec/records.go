package onec

import (
	"fmt"
	"strings"
)

// recorderOf is the document that makes a record set.
type recorderOf struct {
	table int
	key   ref
}

// of is the condition that a record is one of its.
func (r recorderOf) of(alias string) string {
	return fmt.Sprintf("%[1]s._RecorderTRef = %[2]s AND %[1]s._RecorderRRef = %[3]s", alias, typeOf(r.table),
		r.key.sql())
}

// structure of a temp table with the columns of a table, for the records of one set: the new ones, and the old ones
// reversed, with numbers of lines below zero.
func (t table) structure(types types) (s structure) {
	for _, c := range t.columns {
		for _, part := range c.parts() {
			s.columns = append(s.columns, part+" "+c.sqlType(types))
		}
	}
	s.index = t.list("", "_Recorder", "_LineNo")
	return s
}

// reversed is the list of a table's columns for a record that takes another one back.
func (t table) reversed(by map[string]string) string {
	var all []string
	for _, c := range t.columns {
		for _, part := range c.parts() {
			expression := "T1." + part
			if other, given := by[part]; given {
				expression = other
			}
			all = append(all, expression)
		}
	}
	return strings.Join(all, ", ")
}

// take the old records of a set, reversed, and its new ones into a temp table.
func (o *operation) take(t table, of recorderOf, s scene, reversed map[string]string, rows []string) (name string) {
	name = o.temp(t.structure(types{mchar: o.has.mchar}))
	o.run("INSERT INTO %s SELECT %s FROM %s T1 WHERE %s AND (%s)", name, t.reversed(reversed), t.name, s.in("T1"),
		of.of("T1"))
	if len(rows) > 0 {
		o.run("INSERT INTO %s VALUES %s", name, strings.Join(rows, ", "))
	}
	o.analyze(name)
	return name
}

// put the new records of a set in place of the old ones.
func (o *operation) put(t table, of recorderOf, s scene, from string) {
	o.run("DELETE FROM %s T1 WHERE %s AND (%s)", t.name, s.in("T1"), of.of("T1"))
	columns := t.reversed(nil)
	o.run("INSERT INTO %s (%s) SELECT %s FROM %s T1 WHERE T1._LineNo > 0", t.name,
		strings.ReplaceAll(columns, "T1.", ""), columns, from)
}

// writeStock writes a record set of the register of accumulation with its totals.
func (o *operation) writeStock(of recorderOf, s scene, rows []string) {
	o.run("SELECT T1._Period, T1._UseTotals, T1._UseSplitter FROM %s T1 WHERE T1._RegID = %s", stockOptions.name,
		noRef.sql())
	records := o.take(stock, of, s, map[string]string{"_LineNo": "-T1._LineNo", "_RecordKind": "1 - T1._RecordKind"},
		rows)
	differences := o.fill(stockBalance.structure(), stockBalance.due(records, "", totalPeriods()))
	o.put(stock, of, s, records)
	o.change(stockBalance, differences)
}

// writeLedger writes a record set of the ledger with analytics and totals.
func (o *operation) writeLedger(of recorderOf, s scene, entries, analytics []string) {
	o.run("SELECT T1._Period, T1._UseTotals, T1._UseSplitter FROM %s T1 WHERE T1._RegID = %s", ledgerOptions.name,
		noRef.sql())
	records := o.take(ledger, of, s, map[string]string{"_LineNo": "-T1._LineNo", "_Fld82": "-T1._Fld82",
		"_Fld83Dt": "-T1._Fld83Dt", "_Fld83Ct": "-T1._Fld83Ct"}, entries)
	values := o.take(ledgerDims, of, s, map[string]string{"_LineNo": "-T1._LineNo"}, analytics)
	var differences []string
	for _, t := range ledgerBalances() {
		differences = append(differences, o.fill(t.structure(), t.due(records, values, totalPeriods())))
	}
	o.put(ledger, of, s, records)
	o.put(ledgerDims, of, s, values)
	for i, t := range ledgerBalances() {
		o.change(t, differences[i])
	}
}
