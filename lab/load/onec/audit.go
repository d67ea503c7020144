package onec

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
)

// Check is one thing that must hold, and what was found of it.
type Check struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Violations int64    `json:"violations"`
	Examples   []string `json:"examples,omitempty"`
}

// Report of an audit.
type Report struct {
	Checks     []Check `json:"checks"`
	Violations int64   `json:"violations"`
}

// Clean says whether nothing is wrong.
func (r Report) Clean() bool { return r.Violations == 0 }

// ExamplesMax is how many violations of each check are told.
const ExamplesMax = 5

// rule is a check and the query for its violations: each row one, in words.
type rule struct{ name, title, sql string }

// Audit checks in one snapshot that the totals follow from the records, the records from the documents, and the slices
// of the last from the registers. Users may work meanwhile.
func Audit(ctx context.Context, dsn string, progress func(done, all int)) (r Report, err error) {
	conn, err := postgres.AsOwner(ctx, dsn)
	if err != nil {
		return r, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := lookAt(ctx, conn); err != nil {
		return r, err
	}
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	rules := rules()
	err = pgx.BeginTxFunc(ctx, conn, snapshot, func(tx pgx.Tx) error {
		for i, one := range rules {
			check, err := one.check(ctx, tx)
			if err != nil {
				return fmt.Errorf("audit %s: %w", one.name, err)
			}
			r.Checks, r.Violations = append(r.Checks, check), r.Violations+check.Violations
			if progress != nil {
				progress(i+1, len(rules))
			}
		}
		return nil
	})
	return r, err
}

func (r rule) check(ctx context.Context, tx pgx.Tx) (c Check, err error) {
	c.Name, c.Title = r.name, r.title
	rows, err := tx.Query(ctx, fmt.Sprintf("SELECT violation, count(*) OVER () FROM (%s) v LIMIT %d", r.sql,
		ExamplesMax), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return c, err
	}
	text := ""
	_, err = pgx.ForEachRow(rows, []any{&text, &c.Violations}, func() error {
		c.Examples = append(c.Examples, text)
		return nil
	})
	return c, err
}

func rules() (all []rule) {
	for _, t := range allTotals() {
		title := fmt.Sprintf("the totals of %s are the sums of its records", t.name)
		all = append(all, rule{t.name, title, t.differing()})
	}
	for _, d := range []struct{ header, lines table }{{receipts, receiptLines}, {sales, saleLines}} {
		all = append(all, rule{d.header.name, fmt.Sprintf("each posted %s has the stock records of its lines",
			d.header.name), unlikeLines(d.header, d.lines)})
	}
	for _, t := range []table{stock, ledger} {
		all = append(all, rule{t.name, fmt.Sprintf("each record of %s has its document", t.name), orphans(t)})
	}
	return append(all,
		rule{ledgerDims.name, "each entry has the analytics of its accounts", wrongAnalytics()},
		rule{"ledger and documents", "the entries of a sale add up to its amount", unlikeAmount()},
		rule{pricesLast.name, "the slice of the last holds the newest record of each key", unlikeLast()},
	)
}

// differing is the query for the keys whose totals are not what follows from the records.
func (t totals) differing() string {
	keys := "_Period, " + t.list("", t.keys...) + ", " + separator
	var found, differs, shown []string
	for _, name := range t.sumNames() {
		found = append(found, fmt.Sprintf("sum(%[1]s) AS %[1]s", name))
		differs = append(differs, fmt.Sprintf("coalesce(due.%[1]s, 0) <> coalesce(found.%[1]s, 0)", name))
		shown = append(shown, fmt.Sprintf("'%[1]s ' || coalesce(found.%[1]s, 0) || ', must be ' || "+
			"coalesce(due.%[1]s, 0)", name))
	}
	var key []string
	for _, part := range strings.Split(keys, ", ") {
		key = append(key, part+"::text")
	}
	return fmt.Sprintf(`SELECT concat_ws(' ', %s) || ': ' || concat_ws('; ', %s) AS violation
FROM (%s) due FULL JOIN (SELECT %s, %s FROM %s GROUP BY %s) found USING (%s) WHERE %s`,
		strings.Join(key, ", "), strings.Join(shown, ", "), t.dueOfAll(), keys, strings.Join(found, ", "), t.name, keys,
		keys, strings.Join(differs, " OR "))
}

// number of a document's table, from its name.
func (t table) number() (n int) {
	_, _ = fmt.Sscanf(t.name, "_Document%d", &n)
	return n
}

func unlikeLines(header, lines table) string {
	owner := fmt.Sprintf("_Document%d_IDRRef", header.number())
	return fmt.Sprintf(`SELECT d._IDRRef::text || ': lines of ' || coalesce(v.q, 0) || ' for ' || coalesce(v.a, 0)
		|| ', records of ' || coalesce(r.q, 0) || ' for ' || coalesce(r.a, 0) AS violation
FROM %s d
	LEFT JOIN (SELECT %s AS id, sum(_Fld45) AS q, sum(_Fld48) AS a, count(*) AS n FROM %s GROUP BY 1) v
		ON v.id = d._IDRRef
	LEFT JOIN (SELECT _RecorderRRef AS id, sum(_Fld74) AS q, sum(_Fld75) AS a, count(*) AS n FROM %s
		WHERE _RecorderTRef = %s GROUP BY 1) r ON r.id = d._IDRRef
WHERE CASE WHEN d._Posted THEN coalesce(v.q, 0) <> coalesce(r.q, 0) OR coalesce(v.a, 0) <> coalesce(r.a, 0)
		OR coalesce(v.n, 0) <> coalesce(r.n, 0) ELSE r.id IS NOT NULL END`,
		header.name, owner, lines.name, stock.name, tableSQL(header.number()))
}

func orphans(t table) string {
	return fmt.Sprintf(`SELECT concat(r._RecorderTRef, ' ', r._RecorderRRef, ' line ', r._LineNo) AS violation
FROM %s r WHERE NOT EXISTS (SELECT FROM %s d WHERE d._IDRRef = r._RecorderRRef AND r._RecorderTRef = %s
		AND d._Date_Time = r._Period)
	AND NOT EXISTS (SELECT FROM %s d WHERE d._IDRRef = r._RecorderRRef AND r._RecorderTRef = %s
		AND d._Date_Time = r._Period)`,
		t.name, sales.name, tableSQL(salesNumber), receipts.name, tableSQL(receiptsNumber))
}

// wrongAnalytics compares the number of analytics of each side with that of its account.
func wrongAnalytics() string {
	return fmt.Sprintf(`SELECT concat(_RecorderRRef, ' line ', _LineNo, ': ', coalesce(found.n, 0),
		' analytics, must be ', coalesce(dt.n + ct.n, 0)) AS violation
FROM %[1]s r
	JOIN (SELECT _Acc30_IDRRef AS id, count(*) AS n FROM %[2]s GROUP BY 1) dt ON dt.id = r._AccountDtRRef
	JOIN (SELECT _Acc30_IDRRef AS id, count(*) AS n FROM %[2]s GROUP BY 1) ct ON ct.id = r._AccountCtRRef
	FULL JOIN (SELECT _RecorderTRef, _RecorderRRef, _LineNo, count(*) AS n FROM %[3]s GROUP BY 1, 2, 3) found
		USING (_RecorderTRef, _RecorderRRef, _LineNo)
WHERE coalesce(found.n, 0) IS DISTINCT FROM dt.n + ct.n`, ledger.name, accountDims.name, ledgerDims.name)
}

func unlikeAmount() string {
	r := revenueAccount.ref()
	return fmt.Sprintf(`SELECT concat(d._IDRRef, ': amount ', d._Fld39, ', entries for ', coalesce(e.a, 0)) AS violation
FROM %s d LEFT JOIN (SELECT _RecorderRRef AS id, sum(_Fld82) AS a FROM %s WHERE _AccountCtRRef = %s GROUP BY 1) e
	ON e.id = d._IDRRef
WHERE d._Posted AND d._Fld39 <> coalesce(e.a, 0)`, sales.name, ledger.name, hexLiteral(r[:]))
}

func unlikeLast() string {
	keys := separator + ", _Fld61RRef, _Fld62RRef"
	return fmt.Sprintf(`SELECT concat(_Fld61RRef, ' ', _Fld62RRef, ': ') || coalesce(found._Fld63::text, 'missing')
		|| ', must be ' || coalesce(due._Fld63::text, 'missing') AS violation
FROM (%s) due FULL JOIN %s found USING (%s)
WHERE due._Fld63 IS DISTINCT FROM found._Fld63 OR due._Period IS DISTINCT FROM found._Period`, lastPrices(),
		pricesLast.name, keys)
}
