package literals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values are found with the column that they stand for, and others in their place make a statement again.
func TestReplace_FindsValuesWithTheirColumns(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{`SELECT a, 'x' FROM t WHERE t.b = 'it''s' AND c IN (1, 2.5)`,
			"='x' t.b='it's' t.c=#1 t.c=#2.5"},
		{`UPDATE t SET a = 7, b = lower('x') WHERE id = $1`,
			"t.a=#7 t.b='x' t.id='p1'"},
		{`INSERT INTO s.t (a, "B") VALUES (1, 'x'), (f(2), 'y') RETURNING id`,
			"t.a=#1 t.b='x' t.a=#2 t.b='y'"},
		{`INSERT INTO known VALUES ('x', 3)`,
			"known.one='x' known.two=#3"},
		{`SELECT 1 FROM a T1 JOIN b T2 ON T1.x = T2.y WHERE T2.y LIKE '%z%'`,
			"=#1 b.y='%z%'"},
		{`SELECT 1 FROM t WHERE a = '\\001'::bytea AND d > '2026-01-01'::timestamp -- 'no' 5`,
			"=#1 =comment"},
		{`SELECT $$x$$, 1 /* 'no' */ FROM t2 WHERE t2.tt1 <> E'q'`,
			"='x' =#1 =comment t2.tt1='q'"},
		{`SELECT 1 FROM a T1, b AS T2, c WHERE T1.x = 'x' AND T2.y = 'y' AND c.z = 'z' AND v = 'v'`,
			"=#1 a.x='x' b.y='y' c.z='z' v='v'"},
		{`SELECT 1 FROM t, (SELECT y FROM t) s WHERE s.y = 'y' AND v = 'v'`,
			"=#1 y='y' v='v'"},
		{`SELECT 1 FROM "A" "T1" JOIN s.b T2 ON true WHERE "T1"."X" = 'x' AND s.b.y = 'y' FOR UPDATE OF T1, T2`,
			"=#1 a.x='x' b.y='y'"},
		{`SELECT 1 FROM a T1 WHERE T1.x = 'x' UNION SELECT 2 FROM b T1 WHERE T1.x = 'y' AND a.z = 'z'`,
			"=#1 x='x' =#2 x='y' a.z='z'"},
		{`SELECT 1 FROM t WHERE a BETWEEN 'x' AND 'y' AND b = 'z'`,
			"=#1 t.a='x' t.a='y' t.b='z'"},
		{`SELECT 1 FROM t WHERE (a, b) = ('x', 2) OR ROW(b, a) >= ROW('y', 'z')`,
			"=#1 t.a='x' t.b=#2 t.b='y' t.a='z'"},
		{`SELECT 1 FROM t WHERE (a, lower(b)) IN (('x', 'y'), ('z', $1)) AND c = 'w'`,
			"=#1 t.a='x' t.b='y' t.a='z' t.b='p1' t.c='w'"},
		{`SELECT 1 FROM t WHERE (a, b) IN (VALUES ('x', 'y')) OR (b, a) = ANY (ARRAY[('z', 'w')]) ` +
			`OR a IN(VALUES ('v'))`,
			"=#1 t.a='x' t.b='y' t.b='z' t.a='w' t.a='v'"},
		{`UPDATE t SET (a, b) = (lower('x'), 'y') WHERE 'z' = c AND lower($1) = lower(d)`,
			"t.a='x' t.b='y' t.c='z' t.d='p1'"},
		{`SELECT 1 FROM a T1 WHERE ('x', 2) = (T1.p, T1.q) AND 'y' IN (T1.r) AND 'z'::text <> T1.s ` +
			`AND 7 BETWEEN T1.u AND T1.v AND ('k', lower('l')) < (T1.p, T1.q)`,
			"=#1 a.p='x' a.q=#2 a.r='y' a.s='z' a.u=#7 a.p='k' a.q='l'"},
		{`SELECT ARRAY['x', 'y'], a = 'z', 'v' FROM t WHERE 'w' = ANY (b) AND c IS DISTINCT FROM 'u' AND 'r' IS NULL`,
			"='x' ='y' t.a='z' ='v' t.b='w' t.c='u' ='r'"},
		{`INSERT INTO t (a, b) VALUES (ARRAY['p', 'q'], 'x') ON CONFLICT (a, b) DO UPDATE SET b = 'y'`,
			"t.a='p' t.a='q' t.b='x' b='y'"},
		{`INSERT INTO t (a, b) SELECT 'x', upper('y') FROM q WHERE q.c = 'z' UNION ALL SELECT 'v', 'w'`,
			"t.a='x' t.b='y' q.c='z' t.a='v' t.b='w'"},
		{`INSERT INTO known (SELECT 'x', 3)`, "known.one='x' known.two=#3"},
		{`WITH v AS (SELECT 'x') INSERT INTO t (a) SELECT n FROM v`, "='x'"},
		{`INSERT INTO t (a, b) WITH v AS (SELECT 'x') SELECT 'y', n FROM v`, "='x' t.a='y'"},
		{`WITH i AS (INSERT INTO t (a) SELECT 'x' RETURNING a) SELECT 'y'`, "t.a='x' ='y'"},
		{`MERGE INTO t USING (SELECT 'x' AS n) s ON t.a = s.n WHEN NOT MATCHED THEN INSERT (b) VALUES ('y')`,
			"='x' t.b='y'"},
		{`SELECT 1 FROM t WHERE a IN (b, 'x', lower(c)) AND d = 'y' AND g = coalesce(f, 'z')`,
			"=#1 t.a='x'+t.b t.d='y' t.g='z'+t.f"},
		{`SELECT 1 FROM t WHERE (a, b) IN ((CASE WHEN b = 'x' THEN 'y' END, ARRAY['z']), ('v', 'w'))`,
			"=#1 t.a='x' t.a='y' t.b='z' t.a='v' t.b='w'"},
		{`SELECT 1 FROM t WHERE a LIKE 'x' ESCAPE '#' AND 'y' = b`, "=#1 t.a='x' t.b='y'"},
	} {
		sql, want := c.sql, c.want
		p1 := "p1"
		var got []string
		f := Finder{Columns: func(table string) []string {
			return map[string][]string{"known": {"one", "two"}}[table]
		}}
		same := f.Replace(sql, []*string{&p1}[:strings.Count(sql, "$1")], func(v Value) string {
			switch {
			case v.Number:
				got = append(got, fmt.Sprintf("%s=#%s", v.Column, v.Text))
			case v.Comment:
				got = append(got, v.Column+"=comment")
			default:
				got = append(got, strings.Join(append([]string{fmt.Sprintf("%s='%s'", v.Column, v.Text)},
					v.Others...), "+"))
			}
			return v.Text
		})
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" || same != sql {
			t.Errorf("%s\nbecomes %s\n%s", sql, same, diff)
		}
	}
	f := Finder{Escapes: true}
	got := f.Replace(`UPDATE t SET a = 'x\'y', b = 1`, nil, func(v Value) string { return v.Text + `'\` })
	if want := `UPDATE t SET a = 'x''y''\\', b = 1'\`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a log has cut off is not left as it was.
func TestReplace_OfWhatIsCut(t *testing.T) {
	for sql, want := range map[string]string{
		`UPDATE t SET a = 'x', b = 'it''s`: `UPDATE t SET a = '?', b = '?`,
		`SELECT $$x`:                       `SELECT $$?`,
		`DO $$ BEGIN f('x'); END $$`:       `DO $$ BEGIN f('?'); END $$`,
		`DO $$ BEGIN f('x')`:               `DO $$?`,
	} {
		if got := (Finder{}).Replace(sql, nil, func(Value) string { return "?" }); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
