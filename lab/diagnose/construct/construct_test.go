package construct

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/ground/postgres/sqltext"
)

// Each construct has a text that has it, and near texts that have it not: as they are sent, with placeholders, and
// without values.
var samples = []struct {
	kind  kind
	has   []string
	lacks []string
}{
	{product, []string{"SELECT 1 FROM a, b WHERE a.x = 1 AND b.y = 2", "SELECT 1 FROM a CROSS JOIN b",
		"SELECT DISTINCT a.x FROM a JOIN b ON b.kind = 7", "SELECT 1 FROM a JOIN b ON true"},
		[]string{"SELECT 1 FROM a, b WHERE a.x = b.x", "SELECT 1 FROM a, b WHERE x = y",
			"SELECT 1 FROM a CROSS JOIN LATERAL (SELECT y FROM b WHERE b.x = a.x) c", "SELECT 1 FROM a NATURAL JOIN b",
			"SELECT 1 FROM a, (SELECT max(x) AS most FROM b) m", "SELECT 1 FROM a JOIN b USING (x)",
			"WITH one AS (SELECT 7 AS x) SELECT 1 FROM a, one WHERE a.x > one.x", "SELECT 1 FROM a JOIN b ON " +
				"near(g, h)",
			"SELECT 1 FROM a, b WHERE EXISTS (SELECT FROM c WHERE c.x = a.x AND c.y = b.y)", "SELECT 1 FROM a, b " +
				"USING"}},
	{joinLists, []string{"SELECT count(DISTINCT d.id), count(DISTINCT c.id) FROM debits d JOIN credits c ON " +
		"c.account = " +
		"d.account WHERE d.account = 7"}, []string{"SELECT count(DISTINCT d.id) FROM debits d JOIN credits c ON " +
		"c.account = d.account", "SELECT count(DISTINCT d.id), count(DISTINCT d.day) FROM debits d JOIN credits c " +
		"USING (x)"}},
	{joinOr, []string{"SELECT 1 FROM a JOIN b ON a.x = b.x OR a.y = b.y"},
		[]string{"SELECT 1 FROM a JOIN b ON a.x = b.x AND (a.y = 1 OR b.y = 2)"}},
	{joinDistinct, []string{"SELECT 1 FROM a JOIN b ON a.x IS NOT DISTINCT FROM b.x"},
		[]string{"SELECT 1 FROM a JOIN b ON a.x = b.x AND a.y IS NOT DISTINCT FROM b.y",
			"SELECT 1 FROM a WHERE x IS NOT DISTINCT FROM 7"}},
	{joinRange, []string{"SELECT 1 FROM visits v JOIN nets n ON v.address BETWEEN n.low AND n.high",
		"SELECT 1 FROM a, b WHERE a.x < b.x", "SELECT 1 FROM a LEFT JOIN b ON b.name LIKE a.begin || '%'"},
		[]string{"SELECT 1 FROM a JOIN b ON a.day = b.day AND a.x < b.x", "SELECT 1 FROM a JOIN b ON a.x < b.x WHERE " +
			"a.day = b.day", "SELECT 1 FROM a WHERE x BETWEEN 1 AND 2", "SELECT 1 FROM a JOIN b USING (day) WHERE " +
			"a.x < b.x"}},
	{selfJoin, []string{"SELECT o.id, sum(p.n) FROM orders o JOIN orders p ON p.customer = o.customer AND p.day < " +
		"o.day GROUP BY 1"}, []string{"SELECT 1 FROM orders o JOIN orders p ON p.id = o.parent WHERE o.day > 7",
		"SELECT 1 FROM orders o JOIN orders p ON p.kind = o.kind AND p.id <> o.id"}},
	{notIn, []string{"SELECT 1 FROM a WHERE id NOT IN (SELECT id FROM b)", "SELECT 1 FROM a WHERE id <> ALL " +
		"(SELECT 1)"},
		[]string{"SELECT 1 FROM a WHERE id IN (SELECT id FROM b)", "SELECT 1 FROM a WHERE id NOT IN (1, 2)"}},
	{orSubquery, []string{"SELECT 1 FROM a WHERE a.x = 1 OR EXISTS (SELECT FROM b WHERE b.x = a.x)",
		"SELECT 1 FROM a WHERE a.y = 3 AND (a.x = 1 OR a.id IN (SELECT id FROM b))"},
		[]string{"SELECT 1 FROM a WHERE (a.x = 1 OR a.x = 2) AND EXISTS (SELECT FROM b WHERE b.x = a.x)"}},
	{runningTotal, []string{"SELECT (SELECT sum(p.n) FROM orders p WHERE p.day <= o.day) FROM orders o"},
		[]string{"SELECT (SELECT sum(p.n) FROM lines p WHERE p.day <= o.day) FROM orders o"}},
	{countCompared, []string{"SELECT 1 FROM a WHERE (SELECT count(*) FROM b WHERE b.x = a.x) > 0",
		"SELECT 1 FROM a WHERE 0 < (SELECT count(*) FROM b WHERE b.x = a.x)"},
		[]string{"SELECT (SELECT count(*) FROM b WHERE b.x = a.x) FROM a"}},
	{recursionCopies, []string{"WITH RECURSIVE w AS (SELECT 1 AS id UNION ALL SELECT e.to_id FROM edges e JOIN w ON " +
		"e.from_id = w.id) SELECT count(DISTINCT id) FROM w"}, []string{"WITH RECURSIVE w AS (SELECT 1 AS id UNION " +
		"SELECT e.to_id FROM edges e JOIN w ON e.from_id = w.id) SELECT count(DISTINCT id) FROM w"}},
	{recursionFiltered, []string{"WITH RECURSIVE w (id, root) AS (SELECT 1, 1 UNION ALL SELECT p.id, root FROM " +
		"parts p " +
		"JOIN w ON p.parent = w.id) SELECT * FROM w WHERE root = 7", "WITH RECURSIVE w AS (SELECT 1 AS n UNION ALL " +
		"SELECT " +
		"n + 1 FROM w) SELECT n FROM w LIMIT 9"}, []string{"WITH RECURSIVE w AS (SELECT id FROM parts WHERE id = 7 " +
		"UNION ALL SELECT p.id FROM parts p JOIN w ON p.parent = w.id) SELECT count(*) FROM w"}},
	{slidingExtreme, []string{"SELECT max(n) OVER (ORDER BY at ROWS BETWEEN 200 PRECEDING AND CURRENT ROW) FROM t",
		"SELECT array_agg(n) OVER w FROM t WINDOW w AS (ORDER BY at ROWS 5 PRECEDING)"},
		[]string{"SELECT sum(n) OVER (ORDER BY at ROWS BETWEEN 200 PRECEDING AND CURRENT ROW) FROM t",
			"SELECT max(n) OVER (ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t",
			"SELECT first_value(n) OVER (ORDER BY at ROWS 5 PRECEDING) FROM t"}},
	{orderRandom, []string{"SELECT id FROM t ORDER BY random() LIMIT 1"},
		[]string{"SELECT id, random() FROM t ORDER BY id LIMIT 1"}},
	{keysetOr, []string{"SELECT id FROM t WHERE moment > 5 OR (moment = 5 AND id > 7) ORDER BY moment, id LIMIT 20"},
		[]string{"SELECT id FROM t WHERE moment > 5 OR moment = 3", "SELECT id FROM t WHERE (moment, id) > (5, 7)"}},
	{orTables, []string{"SELECT 1 FROM a JOIN b USING (x) WHERE a.number = 1 OR b.mail = 'm'"},
		[]string{"SELECT 1 FROM a JOIN b USING (x) WHERE a.number = 1 OR a.mail = 'm'"}},
	{optionalOr, []string{"SELECT 1 FROM t WHERE (7 IS NULL OR kind = 7)"},
		[]string{"SELECT 1 FROM t WHERE kind IS NULL OR kind = 7"}},
	{rowsMade, []string{"SELECT count(*) FROM stays s CROSS JOIN LATERAL generate_series(s.arrival, s.departure) d " +
		"(n) WHERE d.n = 7", "SELECT 1 FROM t, unnest(t.tags) tag WHERE tag = 'x'"},
		[]string{"SELECT 1 FROM generate_series(1, 10) n", "SELECT 1 FROM t JOIN generate_series(1, 10) n ON t.x = n"}},
	{distinctAggregate, []string{"SELECT count(DISTINCT note) FROM t"}, []string{"SELECT count(note) FROM t",
		"SELECT DISTINCT note FROM t"}},
	{unionAll, []string{"SELECT a FROM t UNION SELECT a FROM u", "SELECT 1 FROM ((SELECT a FROM t) UNION (SELECT a " +
		"FROM " +
		"u)) x"}, []string{"SELECT a FROM t UNION ALL SELECT a FROM u", "WITH RECURSIVE w AS (SELECT 1 AS n UNION " +
		"SELECT n + 1 FROM w WHERE n < 9) SELECT n FROM w"}},
	{updateAll, []string{"UPDATE t SET valid = (id = 7)"}, []string{"UPDATE t SET valid = false WHERE id = 7",
		"UPDATE t SET n = u.n FROM u WHERE u.id = t.id", "SELECT 1 FROM t FOR UPDATE"}},
	{upsertAll, []string{"INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = excluded.n"},
		[]string{"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (1, 2) ON CONFLICT (id) DO " +
			"UPDATE SET n = excluded.n WHERE t.n IS DISTINCT FROM excluded.n"}},
	{offsetRows, []string{"SELECT id FROM t ORDER BY id LIMIT 10 OFFSET 500"}, []string{"SELECT id FROM t LIMIT 10"}},
	{fenced, []string{"WITH w AS MATERIALIZED (SELECT * FROM t) SELECT 1 FROM w WHERE id = 7"},
		[]string{"WITH w AS NOT MATERIALIZED (SELECT * FROM t) SELECT 1 FROM w WHERE id = 7"}},

	{recursionOpen, []string{"WITH RECURSIVE w AS (SELECT 1 AS id UNION ALL SELECT e.to_id FROM edges e JOIN w ON " +
		"e.from_id = w.id) SELECT id FROM w"}, []string{"WITH RECURSIVE w AS (SELECT 1 AS id, 0 AS deep UNION ALL " +
		"SELECT e.to_id, deep + 1 FROM edges e JOIN w ON e.from_id = w.id WHERE deep < 5) SELECT id FROM w",
		"WITH RECURSIVE w AS (SELECT 1 AS id UNION ALL SELECT e.to_id FROM edges e JOIN w ON e.from_id = w.id) " +
			"CYCLE id SET seen USING path SELECT id FROM w"}},
	{recursion, []string{"WITH RECURSIVE w AS (SELECT 1 AS n UNION SELECT n + 1 FROM w WHERE n < 9) SELECT n FROM w"},
		[]string{"WITH RECURSIVE w AS (SELECT 1 AS n) SELECT n FROM w"}},
	{correlated, []string{"SELECT a.id, (SELECT b.name FROM people b WHERE b.id = a.who) FROM acts a"},
		[]string{"SELECT a.id, (SELECT max(b.id) FROM people b) FROM acts a"}},
	{orderedSet, []string{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) FROM t"},
		[]string{"SELECT avg(n) FROM t GROUP BY kind"}},
	{regularExpression, []string{"SELECT 1 FROM t WHERE name ~* 'x'", "SELECT regexp_replace(name, 'a', 'b') FROM t",
		"SELECT 1 FROM t WHERE name SIMILAR TO 'x'"}, []string{"SELECT 1 FROM t WHERE name = 'x' AND n = ~3"}},
	{textSearch, []string{"SELECT 1 FROM t WHERE to_tsvector(body) @@ to_tsquery('x')"},
		[]string{"SELECT 1 FROM t WHERE words @@ to_tsquery('x')"}},
	{jsonCondition, []string{"SELECT 1 FROM t WHERE doc ->> 'kind' = 'x'"}, []string{"SELECT doc ->> 'kind' FROM t"}},
	{likeness, []string{"SELECT 1 FROM t WHERE similarity(name, 'x') > 0.5"}, []string{"SELECT similar FROM t"}},
	{encryption, []string{"SELECT crypt('x', salt) FROM t"}, []string{"SELECT md5(name) FROM t"}},
	{powers, []string{"SELECT sum(exp(rate)) FROM t", "SELECT rate ^ 2 FROM t"}, []string{"SELECT sum(rate * 2) " +
		"FROM t"}},
	{arraySearch, []string{"SELECT 1 FROM t WHERE 'x' = ANY (tags)", "SELECT array_position(tags, 'x') FROM t"},
		[]string{"SELECT 1 FROM t WHERE id = ANY ($1)", "SELECT 1 FROM t WHERE id = ANY (ARRAY[1, 2])"}},
	{anyPart, []string{"SELECT 1 FROM t WHERE name LIKE '%' || $1 || '%'", "SELECT 1 FROM t WHERE name ILIKE 'x'"},
		[]string{"SELECT 1 FROM t WHERE name LIKE $1"}},
	{groupingSets, []string{"SELECT a, b FROM t GROUP BY CUBE (a, b)", "SELECT a FROM t GROUP BY GROUPING SETS (a, " +
		"())"},
		[]string{"SELECT a, b FROM t GROUP BY a, b"}},
	{distinctOn, []string{"SELECT DISTINCT ON (kind) kind, n FROM t ORDER BY kind, n DESC"},
		[]string{"SELECT DISTINCT kind, n FROM t"}},
	{distinctJoin, []string{"SELECT DISTINCT a.x FROM a JOIN b USING (x)"}, []string{"SELECT DISTINCT x FROM a"}},
	{orderedAggregate, []string{"SELECT string_agg(name, ',' ORDER BY name) FROM t"},
		[]string{"SELECT string_agg(name, ',') FROM t ORDER BY 1"}},
	{windowFiltered, []string{"SELECT 1 FROM (SELECT id, rank() OVER (ORDER BY n) AS place FROM t) r WHERE id = 7"},
		[]string{"SELECT 1 FROM (SELECT id, rank() OVER (ORDER BY n) AS place FROM t) r"}},
	{windowSliding, []string{"SELECT sum(n) OVER (ORDER BY at ROWS BETWEEN 9 PRECEDING AND CURRENT ROW) FROM t"},
		[]string{"SELECT sum(n) OVER (ORDER BY at) FROM t"}},
	{windowAll, []string{"SELECT rank() OVER (ORDER BY n) FROM t", "SELECT count(*) OVER () FROM t"},
		[]string{"SELECT rank() OVER (PARTITION BY kind ORDER BY n) FROM t"}},
	{derivedGroups, []string{"SELECT 1 FROM a JOIN (SELECT x, sum(n) FROM b GROUP BY x) s USING (x) WHERE a.id = 7"},
		[]string{"SELECT 1 FROM a JOIN (SELECT x, sum(n) FROM b WHERE x = 7 GROUP BY x) s USING (x)"}},
	{namedTwice, []string{"WITH w AS (SELECT * FROM t) SELECT 1 FROM w JOIN w o ON o.id = w.parent"},
		[]string{"WITH w AS (SELECT * FROM t), v AS (SELECT * FROM u) SELECT 1 FROM w JOIN v USING (id)"}},
	{manyOr, []string{"SELECT 1 FROM t WHERE a = 1 OR a = 2 OR b = 3 OR b = 4 OR c = 5"},
		[]string{"SELECT 1 FROM t WHERE a = 1 OR a = 2"}},
	{longList, []string{"SELECT 1 FROM t WHERE id IN (1" + strings.Repeat(", 2", 60) + ")",
		"SELECT 1 FROM t WHERE id IN (1, …)", "SELECT 1 FROM t JOIN (VALUES (1)" + strings.Repeat(", (2)", 60) +
			") v (id) USING (id)"}, []string{"SELECT 1 FROM t WHERE id IN (1, 2)", "INSERT INTO t VALUES (1, 2), " +
		"(3, 4)"}},
	{manyJoins, []string{"SELECT 1 FROM a" + joined(8)}, []string{"SELECT 1 FROM a" + joined(3)}},
	{joinComputed, []string{"SELECT 1 FROM a JOIN b ON a.code::text = b.code", "SELECT 1 FROM a JOIN b ON " +
		"lower(a.m) = b.m"}, []string{"SELECT 1 FROM a JOIN b ON a.code = b.code"}},
	{computedColumn, []string{"SELECT 1 FROM t WHERE lower(name) = 'x'", "SELECT 1 FROM t WHERE day::date = " +
		"'2020-01-01'",
		"SELECT 1 FROM t WHERE n + 1 > 5", "SELECT 1 FROM t WHERE now() - made < interval '1 day'"},
		[]string{"SELECT 1 FROM t WHERE name = lower('x')", "SELECT 1 FROM t WHERE made > now() - interval '1 day'",
			"SELECT 1 FROM t WHERE day BETWEEN 7 AND 7 + 10", "SELECT lower(name) FROM t WHERE n = 5::int"}},
	{nullSafe, []string{"SELECT 1 FROM t WHERE n IS NOT DISTINCT FROM 7"}, []string{"SELECT DISTINCT n FROM t " +
		"WHERE n = 7"}},
	{rowsInList, []string{"SELECT unnest(tags) FROM t"}, []string{"SELECT tags FROM t, unnest(t.tags) u"}},
	{buildsDocument, []string{"SELECT json_agg(t) FROM t"}, []string{"SELECT count(t) FROM t"}},
	{longCase, []string{"SELECT CASE n " + strings.Repeat("WHEN 1 THEN 2 ", 12) + "END FROM t"},
		[]string{"SELECT CASE n WHEN 1 THEN 2 ELSE 3 END FROM t"}},
	{sampled, []string{"SELECT 1 FROM t TABLESAMPLE BERNOULLI (1)"}, []string{"SELECT 1 FROM t TABLESAMPLE SYSTEM " +
		"(1)"}},
	{heldCursor, []string{"DECLARE c CURSOR WITH HOLD FOR SELECT id FROM t"}, []string{"DECLARE c CURSOR FOR " +
		"SELECT id FROM t"}},
	{orderExpression, []string{"SELECT id FROM t ORDER BY lower(name)", "SELECT id FROM t ORDER BY n * 2"},
		[]string{"SELECT id FROM t ORDER BY name DESC", "SELECT kind FROM t GROUP BY kind ORDER BY sum(n) DESC",
			"SELECT id FROM t ORDER BY 2"}},
	{deleteAll, []string{"DELETE FROM t"}, []string{"DELETE FROM t WHERE id = 7", "DELETE FROM t USING u WHERE " +
		"u.id = t.id"}},

	{lateral, []string{"SELECT 1 FROM a CROSS JOIN LATERAL (SELECT 1 FROM b WHERE b.x = a.x LIMIT 1) c"},
		[]string{"SELECT 1 FROM a CROSS JOIN (SELECT 1 FROM b LIMIT 1) c"}},
	{intersects, []string{"SELECT a FROM t EXCEPT SELECT a FROM u"}, []string{"SELECT a FROM t EXCEPT ALL SELECT a " +
		"FROM u"}},
	{buildsList, []string{"SELECT array_agg(id) FROM t"}, []string{"SELECT ARRAY[id] FROM t"}},
	{windowRunning, []string{"SELECT sum(n) OVER (PARTITION BY kind ORDER BY at) FROM t"},
		[]string{"SELECT sum(n) OVER (PARTITION BY kind) FROM t"}},
	{window, []string{"SELECT row_number() OVER (PARTITION BY kind ORDER BY at) FROM t"}, []string{"SELECT sum(n) " +
		"FROM t"}},
	{inSelect, []string{"SELECT 1 FROM a WHERE id IN (SELECT id FROM b)"}, []string{"SELECT 1 FROM a WHERE id IN (1)"}},
	{exists, []string{"SELECT 1 FROM a WHERE NOT EXISTS (SELECT FROM b WHERE b.x = a.x)"},
		[]string{"DROP TABLE IF EXISTS a"}},
	{scalar, []string{"SELECT (SELECT max(id) FROM b) FROM a"}, []string{"SELECT max(id) FROM (SELECT id FROM b) c"}},
	{rowsOfFunction, []string{"INSERT INTO t SELECT n FROM generate_series(1, 300) n"}, []string{"SELECT 1 FROM t"}},
	{jsonFields, []string{"SELECT doc -> 'a', jsonb_typeof(doc) FROM t"}, []string{"SELECT a - 1 FROM t WHERE doc " +
		"? 'a'"}},
	{hashes, []string{"SELECT md5(name) FROM t"}, []string{"SELECT name FROM t"}},
	{texts, []string{"SELECT 'line ' || n FROM t", "SELECT format('%s', n) FROM t"}, []string{"SELECT 'line' FROM t"}},
	{dates, []string{"SELECT date_trunc('day', at) FROM t", "SELECT at AT TIME ZONE 'UTC' FROM t"},
		[]string{"SELECT at FROM t WHERE at > now()"}},
	{like, []string{"SELECT 1 FROM t WHERE name LIKE $1"}, []string{"SELECT name LIKE 'a' FROM t"}},
	{rowComparison, []string{"SELECT 1 FROM t WHERE (a, b) > (1, 2)"}, []string{"SELECT 1 FROM t WHERE (a) > (1)"}},
	{or, []string{"SELECT 1 FROM t WHERE a = 1 OR b = 2"}, []string{"SELECT 1 FROM t WHERE a = 1 AND b = 2"}},
	{locks, []string{"SELECT 1 FROM t FOR NO KEY UPDATE"}, []string{"SELECT substring(a for 3) FROM t"}},
	{upsert, []string{"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"}, []string{"INSERT INTO t VALUES (1)"}},
	{merge, []string{"MERGE INTO t USING u ON u.id = t.id WHEN MATCHED THEN UPDATE SET n = u.n"},
		[]string{"UPDATE t SET n = u.n FROM u WHERE u.id = t.id"}},
	{copies, []string{"COPY t TO STDOUT"}, []string{"SELECT copy FROM t"}},
	{limitAlone, []string{"SELECT id FROM t WHERE kind = 7 LIMIT 1"}, []string{"SELECT id FROM t ORDER BY id LIMIT 1"}},
	{distinct, []string{"SELECT DISTINCT kind FROM t"}, []string{"SELECT kind FROM t"}},
	{groupBy, []string{"SELECT kind FROM t GROUP BY kind"}, []string{"SELECT kind FROM t"}},
	{order, []string{"SELECT kind FROM t ORDER BY kind"}, []string{"SELECT rank() OVER (ORDER BY kind) FROM t"}},
	{join, []string{"SELECT 1 FROM a JOIN b USING (x)", "SELECT 1 FROM a, b WHERE a.x = b.x"},
		[]string{"SELECT a, b FROM t", "SELECT 1 FROM a, generate_series(1, 2) n"}},
	{returning, []string{"DELETE FROM t WHERE id = 7 RETURNING n"}, []string{"DELETE FROM t WHERE id = 7"}},
}

// joined tables b1, b2 and so on.
func joined(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(" JOIN b%d ON b%[1]d.x = a.x", i)
	}
	return text
}

func TestIn(t *testing.T) {
	tested := map[kind]bool{}
	for _, c := range samples {
		tested[c.kind] = true
		for i, text := range slices.Concat(c.has, c.lacks) {
			want := i < len(c.has)
			for _, sql := range []string{text, sqltext.WithoutValues(text)} {
				if found := find(sql); keyed(found, c.kind) != want {
					t.Errorf("%s\nhas %q: %v, want %v; it has %v", sql, constructs[c.kind].Name, !want, want,
						namesOf(found))
				}
			}
		}
	}
	for k := range kinds {
		if c := constructs[k]; !tested[k] || c.Name == "" || c.Why == "" || c.Instead == "" {
			t.Errorf("%d, %q, is not tested, or does not say all", k, c.Name)
		}
	}
}

func keyed(found map[kind]string, k kind) bool { _, is := found[k]; return is }

func namesOf(found map[kind]string) (all []string) {
	for _, k := range slices.Sorted(maps.Keys(found)) {
		all = append(all, constructs[k].Name)
	}
	return all
}

// The most specific comes first, and what it is about is in its name.
func TestIn_Order(t *testing.T) {
	all := In("SELECT DISTINCT a.x, md5(b.y) FROM a JOIN b ON a.x < b.x ORDER BY random()")
	var names []string
	for i, c := range all {
		names = append(names, c.Name)
		if i > 0 && c.Weight > all[i-1].Weight {
			t.Errorf("%s stands behind %s", c.Name, all[i-1].Name)
		}
	}
	if text := strings.Join(names, "; "); !strings.HasPrefix(text, "a join by ranges") || !strings.Contains(text,
		"ORDER BY random()") || !strings.Contains(text, "(md5)") || strings.Contains(text, "%s") {
		t.Errorf("%s", text)
	}
}

// Names in quotes and in Russian, comments and texts that end anywhere.
func TestIn_AnyText(t *testing.T) {
	const sql = `SELECT "T 1".имя, count(DISTINCT з.сумма) /* of
		ann's */ FROM склад."T 1" JOIN заказы з ON з.товар > "T 1"."from" WHERE lower("T " +
			"1".имя) = 'union' ORDER BY random()`
	found := find(sql)
	for _, k := range []kind{joinRange, distinctAggregate, orderRandom, computedColumn} {
		if !keyed(found, k) {
			t.Errorf("%q is missing: %v", constructs[k].Name, namesOf(found))
		}
	}
	for _, k := range []kind{unionAll, product} {
		if keyed(found, k) {
			t.Errorf("%q is there", constructs[k].Name)
		}
	}
	for _, c := range samples {
		for _, text := range slices.Concat(c.has, c.lacks, []string{sql}) {
			for i := 0; i < len(text); i += 3 {
				In(text[:i])
				In(sqltext.WithoutValues(text[:i]) + sqltext.CutMark)
			}
		}
	}
}

// What a text of samples lacks may stand behind its end: it is not cut at a word that shows it.
func TestIn_WhereBehindTheCut(t *testing.T) {
	const sql = "UPDATE totals SET debit = totals.debit + t.debit, credit = totals.credit + t.credit"
	if found := find(sql); !keyed(found, updateAll) {
		t.Errorf("the whole text: %v", namesOf(found))
	}
	for _, cut := range []string{sql, sql + " FROM changes t WHERE totals.name = 'ann"} {
		if found := find(sqltext.WithoutValues(cut + sqltext.CutMark)); keyed(found, updateAll) {
			t.Errorf("%q, cut: %v", cut, namesOf(found))
		}
	}
}

// Loads of every day have nothing that is costly by itself.
func TestIn_OrdinaryStatements(t *testing.T) {
	for _, sql := range []string{
		"SELECT count(*), sum(total) FROM orders WHERE customer = $1",
		"INSERT INTO lines SELECT nextval('documents'), n, 1 + (n * 7) % 5000, n, 'line ' || n FROM " +
			"generate_series(1, 300) n",
		"UPDATE items SET stock = stock - 1 WHERE id = $1", "SELECT name FROM customers WHERE id = $1 FOR UPDATE",
		"SELECT state, count(*), sum(total) FROM orders WHERE day BETWEEN 7 AND 7 + 40 GROUP BY 1",
		"SELECT c.region, sum(o.total) FROM orders o JOIN customers c ON c.id = o.customer WHERE o.day BETWEEN 7 " +
			"AND 7 + 10 GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
		"UPDATE customers SET balance = balance + 1 WHERE id BETWEEN 7 AND 7 + 100",
	} {
		for _, text := range []string{sql, sqltext.WithoutValues(sql)} {
			for _, c := range In(text) {
				if c.Weight > Usual {
					t.Errorf("%s: %s", text, c.Name)
				}
			}
		}
	}
}

func TestMultiplied(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT sum(amount * rate * l.rate) FROM leases l": "amount rate", "SELECT count(*), l.* FROM leases l": "",
		"SELECT sum(total), n + 1 FROM t": "", "SELECT ln(rate), (a + b) / 2 FROM t": "a b rate",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(Multiplied(sql))), " "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestCompared(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1 FROM s.orders o WHERE o.day > 7 AND o.customer = $1":                  "orders.customer; orders.day",
		"SELECT 1 FROM orders WHERE day BETWEEN 7 AND 9 AND kind IN (1, 2)":             "orders.kind; orders.day",
		"SELECT 1 FROM orders o JOIN customers c ON c.id = o.customer WHERE day > 7":    "; ",
		"SELECT 1 FROM orders WHERE lower(name) = 'x' OR day > 7":                       "; ",
		"UPDATE orders SET n = 1 WHERE day < 7 AND state = 'open'":                      "orders.state; orders.day",
		"SELECT 1 FROM a WHERE EXISTS (SELECT FROM b WHERE b.x = a.x) AND a.kind = 'k'": "a.kind; ",
	} {
		equal, ranged := Compared(sql)
		got := strings.Join(slices.Sorted(maps.Keys(equal)), " ") + "; " +
			"" + strings.Join(slices.Sorted(maps.Keys(ranged)), " ")
		if got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
