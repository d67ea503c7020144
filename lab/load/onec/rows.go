package onec

import (
	"fmt"
	"strings"
)

// hash is an expression for a number below 2^31 that looks random: one step of Lehmer's generator from a mix of the
// arguments, which are expressions. The same on every server and version.
func hash(seed int, salt int, by ...string) string {
	mix := fmt.Sprint(int64(seed)*131 + int64(salt)*104729)
	for i, one := range by {
		mix += fmt.Sprintf(" + (%s)::bigint * %d", one, 31+7888*i)
	}
	return fmt.Sprintf("mod(mod(%s, 2147483647) * 48271, 2147483647)", mix)
}

// oneOf is an expression for one of n objects of an area.
func oneOf(n int, hash string) string {
	return fmt.Sprintf("(area + %d * mod(%s, %d))", Areas, hash, n/Areas)
}

// linesMost is the most lines of a document; they have 1 to so many in turn.
const linesMost = 9

// makeLines is the statement that lays out the lines of documents [from, to): everything that the tables get is read
// from it.
func (s Sizes) makeLines(from, to int) string {
	return fmt.Sprintf(`CREATE TEMPORARY TABLE lines ON COMMIT DROP AS
SELECT d.*, l, item, quantity, price, cost, batch
FROM (SELECT n, area, at, %s AS warehouse, %s AS partner, n %% 3 = 0 AS receipt
	FROM (SELECT n, n %% %d AS area, timestamp '%s' + make_interval(secs => n * %d / %d) AS at
		FROM generate_series(%d::bigint, %d::bigint) n) n) d,
	LATERAL generate_series(1, 1 + (d.n %% %d)::int) l,
	LATERAL (SELECT %s AS item) i,
	LATERAL (SELECT 1 + mod(%s, 20) AS quantity, (100 + mod(%s, 900))::numeric(15, 2) AS price) q,
	LATERAL (SELECT round(price * 0.7, 2) AS cost, CASE WHEN receipt THEN d.n
		ELSE %d * mod(%s, %d) + mod(9 * area, %d) END AS batch) b`,
		oneOf(s.Warehouses, hash(s.Seed, 1, "n")), oneOf(s.Partners, hash(s.Seed, 2, "n")),
		Areas, historyFrom.Format("2006-01-02"), historySeconds(), s.Documents, from, to-1, linesMost,
		oneOf(s.Items, hash(s.Seed, 3, "d.n", "l")), hash(s.Seed, 4, "d.n", "l"), hash(s.Seed, 5, "item"),
		documentsCycle, hash(s.Seed, 6, "item", "warehouse"), s.Documents/documentsCycle, documentsCycle)
}

func historySeconds() int {
	return int(historyFrom.AddDate(0, historyMonths, 0).Sub(historyFrom).Seconds())
}

// documents are the statements that write those laid out, with their records.
func (s Sizes) documents(from, to int) []string {
	return []string{s.makeLines(from, to),
		s.headers(receipts, receiptsNumber, "receipt"), s.headers(sales, salesNumber, "NOT receipt"),
		s.lines(receiptLines, receiptsNumber, "receipt"), s.lines(saleLines, salesNumber, "NOT receipt"),
		s.stockRecords(), s.makeEntries(), s.ledgerRecords(), s.ledgerAnalytics(),
	}
}

func (s Sizes) headers(t table, n int, which string) string {
	return fmt.Sprintf(`INSERT INTO %s SELECT %s, 0, false, at, date_trunc('year', at), lpad(n::text, 11, '0'), true,
	%s, %s, %s, %s, sum(quantity * price), %s, %s, %s, '', area
FROM lines WHERE %s GROUP BY n, area, at, warehouse, partner`,
		t.name, refSQL(n, "n"), refSQL(warehousesNumber, "warehouse"), refSQL(partnersNumber, "partner"),
		refSQL(contractsNumber, "partner"), refSQL(companiesNumber, "area"), typeSQL(isReference),
		tableSQL(receiptsNumber), refSQL(receiptsNumber, "min(batch)"), which)
}

func (s Sizes) lines(t table, n int, which string) string {
	return fmt.Sprintf(`INSERT INTO %s SELECT %s, decode(lpad(to_hex(l), 8, '0'), 'hex'), l, %s, quantity, price,
	quantity * price, quantity * cost, area FROM lines WHERE %s`,
		t.name, refSQL(n, "n"), refSQL(itemsNumber, "item"), which)
}

// documentSQL are the type and the key of the line's document.
func documentSQL() (kind, key string) {
	return fmt.Sprintf("CASE WHEN receipt THEN %s ELSE %s END", tableSQL(receiptsNumber), tableSQL(salesNumber)),
		fmt.Sprintf("CASE WHEN receipt THEN %s ELSE %s END", refSQL(receiptsNumber, "n"), refSQL(salesNumber, "n"))
}

func (s Sizes) stockRecords() string {
	kind, key := documentSQL()
	return fmt.Sprintf(`INSERT INTO %s SELECT at, %s, %s, l, true, CASE WHEN receipt THEN 0 ELSE 1 END, %s, %s, %s, %s,
	%s, quantity, quantity * cost, area FROM lines`,
		stock.name, kind, key, refSQL(warehousesNumber, "warehouse"), refSQL(itemsNumber, "item"),
		typeSQL(isReference), tableSQL(receiptsNumber), refSQL(receiptsNumber, "batch"))
}

// makeEntries lays out the entries: of a receipt one for each line, of a sale two.
func (s Sizes) makeEntries() string {
	return fmt.Sprintf(`CREATE TEMPORARY TABLE entries ON COMMIT DROP AS
SELECT lines.*, l AS no, %[1]d AS dt, %[2]d AS ct, quantity * cost AS amount, quantity AS dt_quantity, 0 AS ct_quantity
FROM lines WHERE receipt
UNION ALL SELECT lines.*, 2 * l - 1, %[3]d, %[1]d, quantity * cost, 0, quantity FROM lines WHERE NOT receipt
UNION ALL SELECT lines.*, 2 * l, %[4]d, %[5]d, quantity * price, 0, 0 FROM lines WHERE NOT receipt`,
		goodsAccount.n, suppliersAccount.n, costAccount.n, customersAccount.n, revenueAccount.n)
}

func (s Sizes) ledgerRecords() string {
	kind, key := documentSQL()
	return fmt.Sprintf(`INSERT INTO %s SELECT at, %s, %s, no, true, %s, %s, %s, amount, dt_quantity, ct_quantity,
	'line ' || l, 0, 0, area FROM entries`,
		ledger.name, kind, key, refSQL(accountsNumber, "dt"), refSQL(accountsNumber, "ct"),
		refSQL(companiesNumber, "area"))
}

// ledgerAnalytics writes a row for each kind of analytics of either account of an entry.
func (s Sizes) ledgerAnalytics() string {
	var kinds []string
	for _, a := range chart {
		for _, kind := range a.dims {
			kinds = append(kinds, fmt.Sprintf("(%d, %d)", a.n, kind))
		}
	}
	kind, key := documentSQL()
	value := func(of [5]string) string {
		return fmt.Sprintf("CASE kind WHEN %d THEN %s WHEN %d THEN %s WHEN %d THEN %s WHEN %d THEN %s ELSE %s END",
			byItem, of[0], byWarehouse, of[1], byDocument, of[2], byPartner, of[3], of[4])
	}
	goods := func(batch, document string) string {
		return fmt.Sprintf("CASE WHEN account = %d THEN %s ELSE %s END", goodsAccount.n, batch, document)
	}
	return fmt.Sprintf(`INSERT INTO %s SELECT at, %s, %s, no, side, %s, %s, %s, %s, area
FROM (SELECT entries.*, side, CASE WHEN side = 0 THEN dt ELSE ct END AS account
		FROM entries, generate_series(0, 1) side) e
	JOIN (VALUES %s) k (of_account, kind) ON of_account = account`,
		ledgerDims.name, kind, key, refSQL(dimKindsNumber, "kind"), typeSQL(isReference),
		value([5]string{tableSQL(itemsNumber), tableSQL(warehousesNumber), goods(tableSQL(receiptsNumber), kind),
			tableSQL(partnersNumber), tableSQL(contractsNumber)}),
		value([5]string{refSQL(itemsNumber, "item"), refSQL(warehousesNumber, "warehouse"),
			goods(refSQL(receiptsNumber, "batch"), key), refSQL(partnersNumber, "partner"),
			refSQL(contractsNumber, "partner")}), strings.Join(kinds, ", "))
}
