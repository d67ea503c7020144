package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"plimsoll/ground/postgres/sqltext"
)

func TestWithoutValues(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"Strings", "SELECT 'it''s', E'x' FROM t", "SELECT ?, ? FROM t"},
		{"Numbers", "SELECT 1.5 + 20 FROM t2", "SELECT ? + ? FROM t2"},
		{"Lines", "SELECT a\n\t  FROM t ", "SELECT a FROM t"},
		{"Comments", "SELECT /* of ann */ a -- secret\nFROM t", "SELECT a FROM t"},
		{"CommentsWithAQuote", "/* ann's */ SELECT 'secret'", "SELECT ?"},
		{"StringsWithAComment", "SELECT 'a--b', c, '/*' FROM t", "SELECT ?, c, ? FROM t"},
		{"DollarQuotes", "DO $$ BEGIN secret(); END $$", "DO ?"},
		{"TaggedDollarQuotes", "SELECT $tag$it's -- secret$tag$, b", "SELECT ?, b"},
		{"CutWithinAString", "SELECT a WHERE b = 'secre", "SELECT a WHERE b = ?"},
		{"EscapedQuotes", `SELECT E'ann\'s', b`, "SELECT ?, b"},
		{"NumbersInOtherForms", "SELECT 1e5, 0x1F, 1_000, .5, a[1..2]", "SELECT ?, ?, ?, ?, a[?..?]"},
		{"NamesWithDigits", `SELECT "t 1".b2, имя3 FROM s.t4`, `SELECT "t 1".b2, имя3 FROM s.t4`},
		{"Parameters", "SELECT $1, a$2", "SELECT $?, a$2"},
		{"AnotherDollarQuoteWithin", "SELECT $a$ $b$ secret $a$, b", "SELECT ?, b"},
		{"CommentsWithin", "SELECT /* a /* b */ secret */ 1", "SELECT ?"},
		{"CutWithinDollarQuotes", "DO $$ BEGIN secre", "DO ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sqltext.WithoutValues(c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWithoutStrings(t *testing.T) {
	for sql, want := range map[string]string{
		"INSERT INTO t VALUES ('$2 it''s', $1, 'cu":      "INSERT INTO t VALUES ('', $1, ''",
		"DO $$ BEGIN INSERT INTO t VALUES ('a'); END $$": "DO $$ BEGIN INSERT INTO t VALUES (''); END $$",
		"SELECT 1/* from u */FROM t":                     "SELECT 1 FROM t",
	} {
		if got := sqltext.WithoutStrings(sql); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWithoutLead(t *testing.T) {
	for sql, want := range map[string]string{" /* a */ -- b\n(SELECT 1) -- c": "(SELECT 1) -- c", "-- alone": ""} {
		if got := sqltext.WithoutLead(sql); got != want {
			t.Errorf("%s: got %s, want %s", sql, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	const sql = `SELECT s."T 1".a, E'it\'s', $t$x$t$, $1, -2.5e-3 FROM t WHERE a$b<>'\'--'
/* c /* d */ */AND b = 'cu`
	want := []string{"name SELECT", `name s."T 1".a`, "symbol ,", `string it\'s`, "symbol ,", "string x", "symbol ,",
		"parameter $1", "symbol ,", "symbol -", "number 2.5e-3", "name FROM", "name t", "name WHERE", "name a$b",
		"symbol <>", `string \`, "comment --'", "comment /* c /* d */ */", "name AND", "name b", "symbol =", "cut cu"}
	names := map[sqltext.Kind]string{sqltext.Symbol: "symbol", sqltext.Comment: "comment", sqltext.Name: "name",
		sqltext.String: "string", sqltext.Number: "number", sqltext.Parameter: "parameter"}
	var got []string
	for p := range sqltext.Parts(sql, false) {
		switch {
		case p.Kind == sqltext.Blank:
		case p.Cut:
			got = append(got, "cut "+p.Inner())
		case p.Kind == sqltext.String:
			got = append(got, "string "+p.Inner())
		default:
			got = append(got, names[p.Kind]+" "+p.Text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for p := range sqltext.Parts(`'a\'b'`, true) {
		if p.Inner() != `a\'b` {
			t.Errorf("backslashes escape: %q", p.Inner())
		}
	}
}

// Parts are the whole text, whatever it is, and a text without values has none to take out.
func FuzzParts(f *testing.F) {
	for _, sql := range []string{"SELECT $a$ ; $a$, 'it''s', \"q\"\"q\", E'\\'' /* /* ; */ */ -- ;\n;",
		"a.\"b\".c$1 $1 $_$ 1..2 1.5e+3 0x1F <--", "'cut", "$$cut", "/* cut", "\"cut", "E'cut\\"} {
		f.Add(sql, true)
		f.Add(sql, false)
	}
	f.Fuzz(func(t *testing.T, sql string, escapes bool) {
		whole := ""
		for p := range sqltext.Parts(sql, escapes) {
			if p.Text == "" || p.Kind == sqltext.String && len(p.Inner()) >= len(p.Text) {
				t.Fatalf("%q of %q", p.Text, sql)
			}
			whole += p.Text
		}
		if whole != sql {
			t.Errorf("%q, want %q", whole, sql)
		}
		once := sqltext.WithoutValues(sql)
		if twice := sqltext.WithoutValues(once); twice != once {
			t.Errorf("%q, then %q", once, twice)
		}
	})
}
