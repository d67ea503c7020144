package onec

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// sale is a document as a user has it on the screen.
type sale struct {
	key                          ref
	at                           time.Time
	warehouse, partner, contract ref
	lines                        []saleLine
}

type saleLine struct {
	item, batch ref
	quantity    int
	price       int // in hundredths
}

func (l saleLine) cost() int { return l.price * 7 / 10 }

// money is hundredths as a number.
func money(hundredths int) string { return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100) }

func (d sale) amount() (all int) {
	for _, l := range d.lines {
		all += l.quantity * l.price
	}
	return all
}

// newLines of a sale, each of another item.
func (s scene) newLines() (all []saleLine) {
	for _, item := range s.refs(1+s.rng.IntN(linesMost), s.item) {
		all = append(all, saleLine{item, s.receipt(), 1 + s.rng.IntN(20), 100 * (100 + s.rng.IntN(900))})
	}
	return all
}

// writeSale makes a document and writes it with its record sets.
func writeSale(o *operation, s scene) {
	partner := s.one(s.Partners)
	// The time keeps keys of a load apart from those of the fill and of another load; the user, from each other.
	n := 1<<62 | uint64(time.Now().UnixNano())>>10<<10 | uint64(s.user%1024)
	d := sale{newRef(salesNumber, n), s.momentOfToday(), s.warehouse(), newRef(partnersNumber, partner),
		newRef(contractsNumber, partner), s.newLines()}
	o.run("BEGIN TRANSACTION")
	o.run("INSERT INTO %s VALUES (%s, 0, FALSE, %s, %s, '%s', TRUE, %s, %s, %s, %s, %s, '\\\\010'::bytea, %s, %s, '', "+
		"CAST(%d AS NUMERIC))", sales.name, d.key.sql(), moment(d.at), moment(historyFrom), saleNumber(n),
		d.warehouse.sql(), d.partner.sql(), d.contract.sql(), s.company().sql(), money(d.amount()),
		typeOf(receiptsNumber), d.lines[0].batch.sql(), s.area)
	o.writeLines(d, s)
	o.commitSale(d, s)
}

// saleNumber is as long as the column is wide.
func saleNumber(n uint64) string {
	text := strconv.FormatUint(n%(1<<56), 36)
	return strings.Repeat("0", numberLength-len(text)) + text
}

const numberLength = 11

func (s scene) company() ref { return newRef(companiesNumber, s.area) }

// rewriteSale replaces the lines of a document that is there, and its record sets.
func rewriteSale(o *operation, s scene) {
	d := sale{key: s.filledSale(), lines: s.newLines()}
	o.run("BEGIN TRANSACTION")
	rows := o.run("SELECT T1._Date_Time, T1._Fld35RRef, T1._Fld36RRef, T1._Fld37RRef, T1._Version FROM %s T1 WHERE %s "+
		"AND T1._IDRRef = %s FOR UPDATE", sales.name, s.in("T1"), d.key.sql())
	if o.err != nil {
		return
	}
	if len(rows) == 0 {
		o.err = fmt.Errorf("sale %x is not there", d.key)
		return
	}
	d.at, o.err = time.Parse(timeFormat, rows[0][0][:len(timeFormat)])
	for i, to := range []*ref{&d.warehouse, &d.partner, &d.contract} {
		if o.err == nil {
			*to, o.err = parseRef(rows[0][1+i])
		}
	}
	o.run("UPDATE %s SET _Version = _Version + 1, _Fld39 = %s WHERE %s AND _IDRRef = %s AND _Version = %s", sales.name,
		money(d.amount()), s.in(sales.name), d.key.sql(), rows[0][4])
	o.run("DELETE FROM %s T1 WHERE %s AND T1._Document34_IDRRef = %s", saleLines.name, s.in("T1"), d.key.sql())
	o.writeLines(d, s)
	o.commitSale(d, s)
}

func (o *operation) writeLines(d sale, s scene) {
	var rows []string
	for i, l := range d.lines {
		rows = append(rows, fmt.Sprintf("(%s, %s, %d, %s, %d, %s, %s, %s, %d)", d.key.sql(),
			octal([]byte{0, 0, 0, byte(i + 1)}), i+1, l.item.sql(), l.quantity, money(l.price),
			money(l.quantity*l.price), money(l.quantity*l.cost()), s.area))
	}
	o.run("INSERT INTO %s VALUES %s", saleLines.name, strings.Join(rows, ", "))
}

// commitSale checks the stock, writes the record sets and ends the transaction.
func (o *operation) commitSale(d sale, s scene) {
	o.checkStock(d, s)
	by := recorderOf{salesNumber, d.key}
	head := fmt.Sprintf("%s, %s, %s", moment(d.at), typeOf(salesNumber), d.key.sql())
	var movements, entries, analytics []string
	value := func(line, side, kind, table int, key ref) {
		analytics = append(analytics, fmt.Sprintf("(%s, %d, %d, %s, '\\\\010'::bytea, %s, %s, %d)", head, line, side,
			dimKindRef(kind).sql(), typeOf(table), key.sql(), s.area))
	}
	entry := func(line int, dt, ct account, amount, quantity int) {
		entries = append(entries, fmt.Sprintf("(%s, %d, TRUE, %s, %s, %s, %s, 0, %d, 'line %d', 0, 0, %d)", head, line,
			dt.ref().sql(), ct.ref().sql(), s.company().sql(), money(amount), quantity, line, s.area))
	}
	for i, l := range d.lines {
		movements = append(movements, fmt.Sprintf("(%s, %d, TRUE, 1, %s, %s, '\\\\010'::bytea, %s, %s, %d, %s, %d)",
			head, i+1, d.warehouse.sql(), l.item.sql(), typeOf(receiptsNumber), l.batch.sql(), l.quantity,
			money(l.quantity*l.cost()), s.area))
		cost, revenue := 2*i+1, 2*i+2
		entry(cost, costAccount, goodsAccount, l.quantity*l.cost(), l.quantity)
		value(cost, 0, byItem, itemsNumber, l.item)
		value(cost, 1, byItem, itemsNumber, l.item)
		value(cost, 1, byWarehouse, warehousesNumber, d.warehouse)
		value(cost, 1, byDocument, receiptsNumber, l.batch)
		entry(revenue, customersAccount, revenueAccount, l.quantity*l.price, 0)
		value(revenue, 0, byPartner, partnersNumber, d.partner)
		value(revenue, 0, byContract, contractsNumber, d.contract)
		value(revenue, 0, byDocument, salesNumber, d.key)
		value(revenue, 1, byItem, itemsNumber, l.item)
	}
	o.writeStock(by, s, movements)
	o.writeLedger(by, s, entries, analytics)
	o.run("COMMIT TRANSACTION")
}

// checkStock is the query batch of the control: the document's items, what there is of them, what is missing. Stock may
// become negative: the load asks, and sells all the same.
func (o *operation) checkStock(d sale, s scene) {
	wanted := o.fill(structure{[]string{"_Q_000_F_000RRef bytea", "_Q_000_F_001 numeric"}, "_Q_000_F_000RRef"},
		"SELECT T1._Fld44RRef, CAST(SUM(T1._Fld45) AS NUMERIC) FROM "+saleLines.name+" T1 WHERE "+s.in("T1")+
			" AND (T1._Document34_IDRRef = "+d.key.sql()+") GROUP BY T1._Fld44RRef")
	there := o.fill(structure{[]string{"_Q_001_F_000RRef bytea", "_Q_001_F_001 numeric"}, "_Q_001_F_000RRef"},
		fmt.Sprintf(`SELECT T1._Fld72RRef, CAST(SUM(T1._Fld74) AS NUMERIC) FROM %s T1
WHERE %s AND T1._Period = %s AND ((T1._Fld71RRef = %s) AND (T1._Fld72RRef IN (SELECT T2._Q_000_F_000RRef FROM %s T2)))
	AND (T1._Fld74 <> 0) GROUP BY T1._Fld72RRef HAVING (CAST(SUM(T1._Fld74) AS NUMERIC)) <> 0`, stockTotals.name,
			s.in("T1"), moment(present), d.warehouse.sql(), wanted))
	o.run(`SELECT T1._Q_000_F_000RRef, T1._Q_000_F_001, COALESCE(T2._Q_001_F_001, 0), T3._Description FROM %s T1
LEFT OUTER JOIN %s T2 ON (T1._Q_000_F_000RRef %s T2._Q_001_F_000RRef)
LEFT OUTER JOIN %s T3 ON (T1._Q_000_F_000RRef = T3._IDRRef) AND %s
WHERE (COALESCE(T2._Q_001_F_001, 0) < T1._Q_000_F_001)`, wanted, there, o.equal(), items.name, s.in("T3"))
}
