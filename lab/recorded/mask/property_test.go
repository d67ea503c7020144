package mask

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"plimsoll/ground/postgres/sqltext"
)

// writer makes statements in which a secret stands for a column that a rule names, in one of the ways that SQL has.
type writer struct {
	*rand.Rand
	values []*string
}

func (w *writer) one(of ...func() string) string { return of[w.IntN(len(of))]() }

func text(format string, args ...func() string) func() string {
	return func() string {
		var all []any
		for _, arg := range args {
			all = append(all, arg())
		}
		return fmt.Sprintf(format, all...)
	}
}

// parameter is a new one with a value.
func (w *writer) parameter(value string) string {
	w.values = append(w.values, &value)
	return fmt.Sprintf("$%d", len(w.values))
}

// secret is an expression whose value is personal.
func (w *writer) secret(deep int) func() string {
	literals := []func() string{text("'XAVIER'"), text("E'XAVIER\\'s'"), text("$$XAVIER$$"), text("'XAVIER''s XAVIER'"),
		text("'%%XAVIER%%'"), text("'2026-11-28 XAVIER'"), text("'XAVIER'::text"), text("'XAVIER'::bytea"),
		func() string { return w.parameter("XAVIER") },
		func() string { return w.parameter(`XAVIER "XAVIER"`) + "::varchar" }}
	if deep == 0 {
		return func() string { return w.one(literals...) }
	}
	e := w.secret(deep - 1)
	return func() string {
		return w.one(append(literals, text("lower(%s)", e), text("coalesce(code, %s)", e), text("(%s)", e),
			text("coalesce(%s, code)", e), text("CASE WHEN code = 'plain' THEN %s ELSE code END", e),
			text("CASE %s WHEN 'XAVIER' THEN 'XAVIER' END", e), text("CAST(%s AS text)", e), text("(SELECT %s)", e),
			text("concat(code, ' ', %s)", e), text("trim(both ' ' from %s)", e), text("code || %s", e),
			text("%s || code", e), text("(SELECT max(%s) FROM other)", e), text("nullif(%s, '')", e))...)
	}
}

// condition on people.name.
func (w *writer) condition() string {
	e := w.secret(2)
	return w.one(text("name = %s", e), text("%s = name", e), text("p.name <> %s", e), text("name IN (code, %s)", e),
		text("name IN (%s, 'XAVIER', code)", e), text("%s IN (name, code)", e), text("name BETWEEN %s AND 'XAVIER'", e),
		text("name NOT LIKE %s ESCAPE '#'", e), text("(code, name) = ('plain', %s)", e), text("NOT (name <> %s)", e),
		text("(name, code) IN ((%s, 'plain'), ('XAVIER', 'plain'))", e), text("name = ANY (ARRAY[code, %s])", e),
		text("name IS DISTINCT FROM %s", e), text("lower(name) = lower(%s)", e), text("name IN (SELECT %s)", e),
		text("name IN (SELECT %s UNION SELECT code FROM other UNION SELECT 'XAVIER')", e),
		text("EXISTS (SELECT 1 FROM (VALUES (%s), ('XAVIER')) v(n) WHERE v.n = p.name)", e),
		text("name = (CASE WHEN code = 'plain' THEN %s ELSE 'XAVIER' END)", e),
		text("code IN (CASE WHEN name = %s THEN 'plain' END)", e), text("ROW(name, code) > ROW(%s, 'plain')", e),
		text("p.name = code || %s", e), text("name = concat_ws(' ', code, %s, 'XAVIER')", e),
		func() string { return strings.ReplaceAll("code = $ OR name = $", "$", w.parameter("XAVIER")) },
		func() string { return "name = ANY (" + w.parameter(`{plain,"XAVIER ""x",NULL,XAVIER}`) + "::text[])" },
		func() string {
			return "name = " + w.parameter(`{"a": ["XAVIER", 1], "b": {"c": "XAVIER"}}`) + "::jsonb->>'a'"
		})
}

func (w *writer) statement() string {
	e, c := w.secret(2), w.condition
	return w.one(text("SELECT id FROM people p WHERE %s AND code = 'plain'", c),
		text("SELECT id FROM people p WHERE code = 'plain' UNION ALL SELECT id FROM people p WHERE %s", c),
		text("SELECT name FROM people WHERE code = 'plain' UNION SELECT %s UNION SELECT %s", e, e),
		text("SELECT 1 FROM other o JOIN people p ON p.id = o.id AND %s WHERE o.title = 'plain'", c),
		text("SELECT 1 FROM (SELECT name AS code FROM people) q WHERE code = %s", e),
		text("SELECT 1 FROM (SELECT name AS n FROM people) q WHERE q.n = %s ORDER BY 1 LIMIT 5", e),
		text("SELECT name = %s, count(*) FILTER (WHERE %s) FROM people p GROUP BY 1", e, c),
		text("UPDATE people p SET code = 'plain', name = %s WHERE %s", e, c),
		text("UPDATE people p SET (code, name) = ('plain', %s)", e),
		text("UPDATE people p SET (code, name) = (SELECT 'plain', %s) WHERE %s", e, c),
		text("DELETE FROM people p USING other o WHERE o.id = p.id AND %s", c),
		text("INSERT INTO people (code, name) VALUES ('plain', %s), ('plain', %s)", e, e),
		text("INSERT INTO people VALUES (1, 'plain', %s, '')", e),
		text("INSERT INTO people (name) SELECT %s", e), text("INSERT INTO people (name) (SELECT %s)", e),
		text("INSERT INTO people (code, name) SELECT 'plain', %s FROM other UNION ALL (SELECT 'plain', %s)", e, e),
		text("INSERT INTO people SELECT 1, 'plain', %s, '' FROM other WHERE title = 'plain'", e),
		text("INSERT INTO people (code, name) WITH v AS (SELECT %s AS n) SELECT 'plain', n FROM v", e),
		text("WITH v(n) AS (VALUES (%s), ('XAVIER')) INSERT INTO people (name) SELECT n FROM v", e),
		text("WITH i AS (INSERT INTO people (name) SELECT %s RETURNING id) SELECT 'plain' FROM i", e),
		text("INSERT INTO people (name) VALUES (%s) ON CONFLICT (id) DO UPDATE SET name = %s", e, e),
		text("INSERT INTO people (name) SELECT n FROM unnest(ARRAY[%s, 'XAVIER']) AS n", e),
		text("MERGE INTO people p USING (SELECT 1 AS id, %s AS n) s ON p.id = s.id WHEN MATCHED THEN "+
			"UPDATE SET name = s.n WHEN NOT MATCHED THEN INSERT (code, name) VALUES ('plain', %s)", e, e),
		text("SELECT add_person(7, %s)", e), text("CALL add_person('XAVIER', %s)", e), text("EXECUTE add (%s)", e),
		text("SELECT pg_notify('channel', %s)", e), text("PREPARE add AS INSERT INTO people (name) VALUES (%s)", e),
		text("DO $x$ BEGIN INSERT INTO people (name) VALUES ('XAVIER'); PERFORM add_person('XAVIER'); END $x$"),
		text("INSERT INTO temporary VALUES (%s)", e), text("SELECT 1 FROM temporary WHERE f1 = %s", e),
		text("INSERT INTO temporary (f1) SELECT %s", e), text("SELECT n INTO temporary FROM (SELECT %s AS n) s", e),
		text("SELECT code FROM people p WHERE %s; INSERT INTO people (name) VALUES (%s)", c, e))
}

var parameters = regexp.MustCompile(`\$\d`)

// Wherever a statement has what stands for a named column, also where it was cut off in the middle, nothing of that is
// left, and it is as much a statement as it was.
func TestStatement_LeavesNoSecretInAnyForm(t *testing.T) {
	m := New(rules(t, `columns = ["people.name", "note"]`))
	m.learned = true
	m.tables = map[string][]string{"people": {"id", "code", "name", "note"}, "other": {"id", "title"}}
	m.columnNames = map[string]bool{"id": true, "code": true, "name": true, "note": true, "title": true}
	m.functions = map[string]bool{"add_person": true}
	for seed := range uint64(20_000) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 1))}
		sql := w.statement()
		if seed%4 == 0 {
			whole := sql
			if sql = sql[:w.IntN(len(sql)+1)]; strings.Contains(whole, "people") && !strings.Contains(sql, "people") &&
				strings.Contains(sql, "other") {
				continue // nothing says any more that it is about people
			}
			if n := len(parameters.FindAllString(sql, -1)); n > 0 && n < len(parameters.FindAllString(whole, -1)) {
				continue // nothing says any more what else a parameter stands for
			}
		}
		escapes := seed%8 == 1
		if escapes { // which have no dollar quotes
			sql = strings.NewReplacer("$$XAVIER$$", `'XAVIER'`, `''s`, `\'s`).Replace(sql)
		}
		got := m.Statement(sql, w.values, escapes)
		if shown := got + w.shown(); strings.Contains(shown, "XAV") {
			t.Fatalf("seed %d: %s\nbecomes %s\nwith %s", seed, sql, got, w.shown())
		}
		if before, after := kinds(sql, escapes), kinds(got, escapes); before != after {
			t.Fatalf("seed %d: %s\nbecomes %s\nof other parts: %s, %s", seed, sql, got, before, after)
		}
	}
}

func (w *writer) shown() string {
	var b strings.Builder
	for _, v := range w.values {
		b.WriteString(" " + *v)
	}
	return b.String()
}

// kinds of a statement's parts.
func kinds(sql string, escapes bool) string {
	var b strings.Builder
	for p := range sqltext.Parts(sql, escapes) {
		fmt.Fprintf(&b, "%d", p.Kind)
		if p.Cut {
			b.WriteString("-")
		}
	}
	return b.String()
}

// What may be read is left: a replay that masks too much is not faithful.
func TestStatement_LeavesWhatIsNotPersonal(t *testing.T) {
	m := New(rules(t, `columns = ["people.name"]`))
	m.learned = true
	m.tables = map[string][]string{"people": {"id", "code", "name"}, "other": {"id", "title", "taken"}}
	m.columnNames = map[string]bool{"id": true, "code": true, "name": true, "title": true, "taken": true}
	for _, sql := range []string{
		`SELECT name, to_char(taken, 'YYYY-MM-DD HH24:MI') FROM people WHERE code = 'plain' AND id = '42'`,
		`SELECT date_trunc('month', taken), name FROM people, other WHERE taken > now() - interval '3 days'`,
		`SELECT nextval('people_id_seq'), set_config('search_path', 'shop', false), name FROM people`,
		`SELECT 1 FROM other WHERE title || 'x' = 'plain' OR coalesce(title, 'none') = 'none'`,
		`INSERT INTO people (code, name) SELECT 'plain', title FROM other WHERE title <> 'plain'`,
		`SELECT 1 FROM people WHERE code IN (title, 'plain') AND name IS NOT NULL`,
		`SELECT relname FROM pg_class WHERE relname = 'people'`, `SET TIME ZONE 'Europe/Moscow'`,
		`SELECT name FROM people WHERE code LIKE 'a#%' ESCAPE '#' AND taken AT TIME ZONE 'UTC' > '2026-11-28 10:00:00'`,
		`SELECT FASTTRUNCATE('pg_temp.tt1')`,
		`INSERT INTO pg_temp.tt1 SELECT 1 FROM pg_temp.tt2 WHERE a IN (decode('', 'hex'), decode('001e80C5', 'hex'))`,
	} {
		if got := m.Statement(sql, nil, false); got != sql {
			t.Errorf("%s\nbecomes %s", sql, got)
		}
	}
	for value, left := range map[string]bool{"42": true, "1.50": true, "t": true, "2026-11-28 10:00:00+03": true,
		"6f1c2d3e-1111-2222-3333-444455556666": true, `\x80c5`: true, "{1,2,3}": true, `{"n": 42}`: true,
		"2026-11-28 Ivanov": false, "7707083893": false, "Ivanov": false, "{1,Ivanov}": false} {
		values := []*string{&value}
		if m.Statement(`SELECT name, f($1) FROM people`, values, false); (*values[0] == value) != left {
			t.Errorf("%s is %s, left: %v", value, *values[0], left)
		}
	}
}
