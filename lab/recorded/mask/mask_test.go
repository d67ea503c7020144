package mask

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/ground/problem"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

func rules(t *testing.T, text string) Rules {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rules.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const usual = `columns = ["_Reference18._Description", "*.phone", "note"]
patterns = ["email", "inn", "phone"]
own = ['\bPASS-\d+\b']
`

// Secrets stand for personal data: none may be left, and what is no secret must be.
func TestStatement_MasksWhatRulesName(t *testing.T) {
	m := New(rules(t, usual))
	m.tables["_reference18"] = []string{"_idrref", "_code", "_description"}
	value := func(text string) *string { return &text }
	for name, c := range map[string]struct {
		sql     string
		values  []*string
		escapes bool
		kept    string // that must stay
	}{
		"compared": {sql: `SELECT * FROM _Reference18 T1 WHERE T1._Description = 'SECRET' AND T1._Code = 'plain'`,
			kept: "plain"},
		"in a list": {sql: `SELECT 1 FROM _Reference18 WHERE _Description NOT IN ('SECRET', 'SECRET too') ` +
			`OR _Code IN ('plain')`, kept: "plain"},
		"pattern": {sql: `SELECT 1 FROM _Reference18 WHERE _Description LIKE '%SECRET%'`, kept: "'%"},
		"its end": {sql: `SELECT 1 FROM _Reference18 WHERE _Description LIKE '%SECRET%'`, kept: "%'"},
		"of one of two tables": {sql: `SELECT 1 FROM _Reference12 A, _Reference18 B JOIN _Reference13 C ON true ` +
			`WHERE _Description = 'SECRET' AND _Code = 'plain'`, kept: "plain"},
		"quoted names": {sql: `SELECT 1 FROM "_Reference18" "T1" JOIN x ON true WHERE "T1"."_Description" = 'SECRET'` +
			` AND "T1"."_Code" = 'plain'`, kept: "plain"},
		"a row that is locked": {sql: `SELECT 1 FROM _Reference18 T1 WHERE T1._Description = 'SECRET' ` +
			`AND T1._Code = 'plain' FOR UPDATE OF T1`, kept: "plain"},
		"comment":     {sql: `SELECT 1 /* PASS-7 plain */ -- PASS-8`, kept: "plain */ -- "},
		"bare number": {sql: `SELECT 1 FROM t WHERE inn = 7707083893 AND note = 'SECRET'`, kept: "7707083893"},
		"hexadecimal key": {sql: `SELECT 1 FROM t WHERE note IN ('SECRET', '\x80C5')`, escapes: true,
			kept: `'\x80C5'`},
		"parameter of no column": {sql: `SELECT $1, $2`, values: []*string{value("PASS-1"), value("plain")},
			kept: "plain"},
		"function": {sql: `SELECT 1 FROM _Reference18 T1 WHERE lower(T1._Description) = lower('SECRET')`,
			kept: "lower("},
		"set": {sql: `UPDATE _Reference18 SET _Code = 'plain', _Description = 'SECRET''s'`, kept: "plain"},
		"set, escaped": {sql: `UPDATE _Reference18 SET _Code = 'plain', _Description = 'SECRET\'s SECRET'`,
			escapes: true, kept: "plain"},
		"inserted": {sql: `INSERT INTO _Reference18 (_Code, _Description) VALUES ('plain', 'SECRET'), ('(', 'SECRET')`,
			kept: "'('"},
		"without list": {sql: `INSERT INTO public._Reference18 VALUES ('\\200'::bytea, 'plain', 'SECRET')`,
			escapes: true, kept: `'\\200'::bytea, 'plain'`},
		"parameters": {sql: `INSERT INTO people (name, phone) VALUES ($1, $2)`,
			values: []*string{value("plain"), value("SECRET")}, kept: "$2"},
		"not named": {sql: `SELECT 1 FROM t WHERE a = $1 AND b = 'call SECRET@firm.example or SECRET.b@firm.example'`,
			values: []*string{value("PASS-77")}, kept: "call "},
		"times and keys": {sql: `SELECT 1 FROM t WHERE note = '2026-11-28 10:15:00'::timestamp ` +
			`AND note = '\\001\\377'::bytea`,
			escapes: true, kept: `'2026-11-28 10:15:00'::timestamp AND note = '\\001\\377'::bytea`},
		"row": {sql: `SELECT 1 FROM _Reference18 T1 WHERE (T1._Code, T1._Description) = ('plain', 'SECRET')`,
			kept: "plain"},
		"rows": {sql: `SELECT 1 FROM _Reference18 T1 WHERE (T1._Description, T1._Code) IN (('SECRET', 'plain'), ` +
			`('SECRET too', 'plain'))`, kept: "'plain'), ("},
		"left of its column": {sql: `SELECT 1 FROM _Reference18 T1 WHERE 'SECRET' = T1._Description AND ` +
			`lower('SECRET') = lower(T1._Description) AND 'plain' = T1._Code`, kept: "plain"},
		"parameter left of its column": {sql: `SELECT 1 FROM people WHERE $1 = phone AND $2 = name`,
			values: []*string{value("SECRET"), value("plain")}, kept: "plain"},
		"row left of its columns": {sql: `SELECT 1 FROM _Reference18 WHERE ('plain', 'SECRET') = (_Code, _Description)`,
			kept: "plain"},
		"unlike": {sql: `SELECT 1 FROM _Reference18 WHERE _Description IS DISTINCT FROM 'SECRET' AND _Code = 'plain'`,
			kept: "plain"},
		"other table": {sql: `SELECT 1 FROM _Reference12 T1 WHERE T1._Description = 'plain'`, kept: "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			got := m.Statement(c.sql, c.values, c.escapes)
			for _, v := range c.values {
				got += " " + *v
			}
			if strings.Contains(got, "SECRET") || strings.Contains(got, "PASS-") || !strings.Contains(got, c.kept) {
				t.Errorf("%s\nis %s", c.sql, got)
			}
		})
	}
	for _, n := range []string{"7707083893", "+7 (495) 123-45-67"} {
		got := m.Text("call " + n)
		if strings.Contains(got, n) || len(got) != len("call ")+len(n) && n[0] != '+' || !numeric.MatchString(got[5:]) {
			t.Errorf("%s is %s", n, got)
		}
	}
}

// What looks like a number of a person is one afterwards too, and what only resembles it stays.
func TestText_MasksByPatterns(t *testing.T) {
	for pattern, c := range map[string]struct{ masked, kept string }{
		"email": {"ivan.petrov+x@mail.firm.example", "ivan at firm.example"},
		"phone": {"8 495 123-45-67", "123-45-67"},
		"inn":   {"500100732259", "50010073225"},
		"snils": {"112-233-445 95", "112-233-445"},
		"card":  {"4111 1111 1111 1111", "4111 1111 1111"},
	} {
		m := New(rules(t, `patterns = ["`+pattern+`"]`))
		got := m.Text("of " + c.masked + ", " + c.kept)
		other, is := strings.CutSuffix(strings.TrimPrefix(got, "of "), ", "+c.kept)
		if !is || other == c.masked || len(other) != len(c.masked) || numeric.MatchString(c.masked) !=
			numeric.MatchString(other) {
			t.Errorf("%s: %q is %q", pattern, c.masked, got)
		}
	}
}

// A server quotes data in its messages; the rest may hold some, too.
func TestMessage_HoldsNothingThatItQuotes(t *testing.T) {
	m := New(rules(t, usual))
	for _, text := range []string{`invalid input syntax for type integer: "SECRET"`, `ОШИБКА: значение «SECRET» занято`,
		`Key (_code)=(SECRET) already exists`, `unknown value 'SECRET'`, `a user: SECRET@firm.example`} {
		if got := m.Message(text); strings.Contains(got, "SECRET") || len(got) < 10 {
			t.Errorf("%q is %q", text, got)
		}
	}
	var none *Mask
	if got := none.Message(`"plain"`); got != `"plain"` {
		t.Errorf("without rules: %q", got)
	}
}

// A value is the same everywhere, and another with another key.
func TestPseudonym_IsConsistentAndOfItsKey(t *testing.T) {
	r := rules(t, usual)
	m := New(r)
	sent := []*string{new(string)}
	*sent[0] = "O'Brien"
	first := m.Statement(`SELECT 1 FROM people WHERE note = 'O''Brien'`, nil, false)
	second := m.Statement(`SELECT 1 FROM people WHERE note = $1`, sent, false)
	if !strings.Contains(first, "'"+*sent[0]+"'") || !strings.HasSuffix(second, "$1") || len(*sent[0]) < least {
		t.Errorf("%s, %s with %s", first, second, *sent[0])
	}
	if other := New(r).pseudonym("O'Brien"); other == *sent[0] {
		t.Error("another key gives the same")
	}
	for value, want := range map[string]int{"Ы": least, strings.Repeat("Ы", 20): 20, strings.Repeat("a", 99): 64} {
		if got := m.pseudonym(value); len(got) != want {
			t.Errorf("%s is %s, want %d characters", value, got, want)
		}
	}
}

// The base is masked as statements are.
func TestBase_HoldsWhatStatementsLookFor(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	clustertest.Exec(t, dsn, `CREATE TABLE _Reference18 (_idrref bytea, _old int, _code varchar(11),
		_description varchar(100), phone text)`)
	clustertest.Exec(t, dsn, "ALTER TABLE _Reference18 DROP COLUMN _old") // which has a place no more
	clustertest.Exec(t, dsn, `INSERT INTO _Reference18 VALUES ('\x01', 'a', 'Иванов Иван', '+7 495 1234567'),
		('\x02', 'b', '', NULL)`)
	clustertest.Exec(t, dsn, `CREATE TABLE "People" ("Note" text, n int, "Phone" int)`)
	clustertest.Exec(t, dsn, `INSERT INTO "People" VALUES ('Сидоров Пётр', 1, 2), ('2026-11-28', 1, 2)`)
	m := New(rules(t, usual))
	changed, err := m.Base(t.Context(), dsn)
	if err == nil {
		err = m.Learn(t.Context(), dsn)
	}
	if err != nil || changed != 3 {
		t.Fatalf("%d values, %v", changed, err)
	}
	people := clustertest.Value(t, dsn, `SELECT string_agg(p::text, ' ' ORDER BY "Note") FROM "People" p`)
	if strings.Contains(people, "Сидоров") || !strings.Contains(people, "(2026-11-28,1,2)") {
		t.Errorf("mixed case, a time and a number: %s", people)
	}
	sql := m.Statement(`SELECT count(*)::int FROM _Reference18
		WHERE _Description = 'Иванов Иван' AND phone = '+7 495 1234567'`, nil, false)
	if got := clustertest.Value(t, dsn, sql); got != "1" || strings.Contains(sql, "Иван") {
		t.Errorf("%s finds %s", sql, got)
	}
	clustertest.Exec(t, dsn, m.Statement(`INSERT INTO _Reference18 VALUES ('\x03', 'c', 'Петров', NULL)`, nil, false))
	got := clustertest.Value(t, dsn, "SELECT string_agg(_description, '') FROM _Reference18")
	if strings.Contains(got, "Петров") {
		t.Error(got)
	}
}

func TestRead_ErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"columns = 7":             "rules.toml:1: columns: must be a list",
		"\npatterns = [\"fone\"]": "rules.toml:2: patterns: \"fone\" is no pattern",
		"own = ['(']":             "rules.toml:1: own:",
		"colums = [\"a\"]":        "rules.toml:1: colums: is not known",
		"columns = []":            "no rule in it",
	} {
		path := filepath.Join(t.TempDir(), "rules.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) ||
			problem.ClassOf(err) != problem.Usage ||
			problem.HintOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzStatement(f *testing.F) {
	f.Add(`SELECT 1 FROM _Reference18 WHERE _Description = 'a\'b' AND x = $$c$$`, "v", true)
	f.Add(`INSERT INTO t (a) VALUES ((`, "", false)
	f.Fuzz(func(_ *testing.T, sql, value string, escapes bool) {
		m := New(Rules{columns: []string{"_reference18._description", "a"}})
		m.Statement(sql, []*string{&value, nil}, escapes)
	})
}
