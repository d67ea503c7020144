package condition

import "testing"

func TestUnjoined(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT DISTINCT o.s FROM shop.orders o, shop.customers c WHERE o.day BETWEEN ? AND ? + ? AND c.region = " +
			"?": "orders customers",
		"SELECT 1 FROM a, b, c WHERE a.x = b.x AND b.y = c.y":                                       "",
		"SELECT 1 FROM a, b WHERE (a.x = b.x)":                                                      "",
		"SELECT extract(year FROM a.d) FROM a, b WHERE a.x = b.x":                                   "",
		"UPDATE a SET n = 1 FROM b, c WHERE a.x = b.x AND a.y = c.y":                                "",
		"SELECT 1 FROM a, LATERAL f(a.x) l, b WHERE b.y = l.y":                                      "",
		"SELECT 1 FROM a, b WHERE x = y":                                                            "",
		"SELECT 1 FROM a, b WHERE a.x = ? AND EXISTS (SELECT FROM c WHERE c.x = a.x AND c.y = b.y)": "",
		"SELECT 1 FROM a CROSS JOIN b":                                                              "a b",
		"SELECT 1 FROM a CROSS JOIN generate_series(?, ?)":                                          "",
		"SELECT 1 FROM a JOIN b ON a.x = b.x":                                                       "",
		"SELECT 1 FROM a JOIN b USING (x), c WHERE c.y = ?":                                         "a c",
	} {
		one, other := Unjoined(sql)
		if got := one + " " + other; got != want && !(want == "" && one == "") {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestCorrelated(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT max(r) FROM (SELECT (SELECT sum(p.total) FROM s.orders p WHERE p.day = o.day AND p.id <= o.id) AS r " +
			"FROM s.orders o WHERE o.day = ?) made": true,
		"SELECT (SELECT max(p.id) FROM orders p) FROM orders o":                                         false,
		"SELECT 1 FROM orders o WHERE EXISTS (SELECT FROM lines l WHERE l.document = o.id)":             false,
		"SELECT 1 FROM orders o WHERE o.id IN (SELECT l.document FROM lines l WHERE l.n = o.n)":         false,
		"SELECT a.id, (SELECT b.name FROM people b WHERE b.id = a.who) FROM acts a":                     true,
		"SELECT a.id FROM acts a JOIN LATERAL (SELECT b.id FROM people b WHERE b.id = a.who) x ON true": false,
	} {
		if got := Correlated(sql); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}

func TestFilteredRecursion(t *testing.T) {
	const tree = "WITH RECURSIVE tree AS (SELECT id FROM parts WHERE %s UNION ALL SELECT p.id FROM parts p JOIN tree " +
		"ON p.parent = tree.id) SELECT count(*) FROM tree"
	for sql, want := range map[string]bool{tree + " WHERE root = ?": true, tree + " WHERE root = $?": true, tree: false,
		"SELECT 1 FROM tree WHERE root = ?": false} {
		if got := FilteredRecursion(sql); got != want {
			t.Errorf("%s: %v", sql, got)
		}
	}
}
