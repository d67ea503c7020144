package script

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"plimsoll/ground/postgres/cluster/clustertest"
)

const schema = "CREATE TABLE seen (n serial, what text); CREATE TABLE numbers AS SELECT generate_series(1, 10) AS k"

// scripts write down what they come by; both programs must write the same.
var scripts = []struct {
	name, text string
	modes      []Mode
}{
	{"Variables", `
\set a 1 + 2
\set b :a * \
   2.5
\set t :a = 3
INSERT INTO seen(what) VALUES (:a::text || ' ' || :b::text || ' ' || :t::text);
INSERT INTO seen(what) VALUES (':a stays ; in quotes'), ('it''s ; fine') -- a comment ; here
;`, []Mode{Simple}},
	{"Bound", `
\set a 41
INSERT INTO seen(what) VALUES ((:a::int + 1)::text);
INSERT INTO seen(what) SELECT (:a::int)::text || (:a::int)::text;
INSERT INTO seen(what) VALUES ((:a::int + 1)::text);`, []Mode{Simple, Extended, Prepared}},
	{"Gset", `
SELECT k AS first, k * 2 AS second, NULL::int AS nothing FROM numbers WHERE k = 4 \gset
INSERT INTO seen(what) VALUES ((:first::int + :second::int)::text);
SELECT k FROM numbers WHERE k = 7 \gset p_
\set sum :p_k + :first
INSERT INTO seen(what) VALUES (:sum::text);`, []Mode{Simple, Extended, Prepared}},
	{"AsetAndCombined", `
SELECT 1 AS one \; SELECT k AS several FROM numbers ORDER BY k \; SELECT 5 AS none WHERE false \aset
INSERT INTO seen(what) VALUES ((:one + :several)::text);
SELECT 3 AS x \; SELECT 4 AS y \gset
INSERT INTO seen(what) VALUES (:y::text);`, []Mode{Simple}},
	{"If", `
\set x 2
\if :x = 1
  INSERT INTO seen(what) VALUES ('one');
\elif :x = 2
  \if false
    INSERT INTO seen(what) VALUES ('wrong');
  \else
    INSERT INTO seen(what) VALUES ('two');
  \endif
\else
  INSERT INTO seen(what) VALUES ('other');
\endif
\if null
INSERT INTO seen(what) VALUES ('null is true');
\endif
INSERT INTO seen(what) VALUES ('end');`, []Mode{Simple, Extended, Prepared}},
	{"Quotes", `
INSERT INTO seen(what) VALUES ($$dollar ; quoted$$), ($tag$ $$ ; $tag$), (E'back\'s;lash');
/* a comment ; /* nested ; */ ; */ INSERT INTO seen(what) VALUES ('a"b;c');
CREATE OR REPLACE FUNCTION pg_temp.f(a int) RETURNS int LANGUAGE sql AS 'SELECT a; SELECT a + 1;';
INSERT INTO seen(what) SELECT pg_temp.f(2)::text;`, []Mode{Simple, Extended}},
	{"Pipeline", `
\set a 5
\startpipeline
INSERT INTO seen(what) VALUES ((:a::int)::text);
\syncpipeline
INSERT INTO seen(what) VALUES ((:a::int + 1)::text);
SELECT 1;
INSERT INTO seen(what) VALUES ((:a::int)::text);
\endpipeline
INSERT INTO seen(what) VALUES ('after');`, []Mode{Extended, Prepared}},
	{"Transaction", `
\sleep 1 ms
BEGIN;
INSERT INTO seen(what) VALUES ('in');
SAVEPOINT s;
INSERT INTO seen(what) VALUES ('gone');
ROLLBACK TO s;
END;
\set d debug(1.0 / 3)
INSERT INTO seen(what) VALUES (:d::text);`, []Mode{Simple}},
}

// seen empties the table and gives what was in it.
func seen(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT what FROM seen ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "TRUNCATE seen RESTART IDENTITY"); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestScriptsDoWhatPgbenchDoes(t *testing.T) {
	o := newOracle(t)
	conn := clustertest.Connect(t, o.dsn, "")
	if _, err := conn.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range scripts {
		for _, mode := range c.modes {
			t.Run(c.name+"/"+string(mode), func(t *testing.T) {
				if printed, ok := o.run(c.text, "-M", string(mode)); !ok {
					t.Fatalf("pgbench: %s", printed)
				}
				want := seen(t, conn)
				s, err := Parse(c.text)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time statements are prepared
					if err := s.Run(t.Context(), conn.PgConn(), mode, environment()); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(want, seen(t, conn)); diff != "" || len(want) == 0 {
						t.Errorf("pgbench -, ours +\n%s", diff)
					}
				}
			})
		}
	}
}

func TestScriptThatFailsSaysWhere(t *testing.T) {
	o := newOracle(t)
	conn := clustertest.Connect(t, o.dsn, "")
	for _, c := range []struct{ name, text, says string }{
		{"SQL", "SELECT 1;\nSELECT nosuch;", "line 2: "},
		{"GsetOfNoRow", "SELECT 1 WHERE false \\gset", "line 1: \\gset expects one row, got 0"},
		{"GsetOfTwoRows", "SELECT generate_series(1, 2) \\gset", "expects one row, got 2"},
		{"UndefinedVariable", "\n\\set a :b + 1", `line 2: undefined variable "b"`},
		{"UndefinedParameter", "SELECT 1;\nSELECT :who::text;", `line 2: undefined variable "who"`},
		{"Division", "\\set a 1 / 0", "division by zero"},
		{"InPipeline", "\\startpipeline\nSELECT 1;\nSELECT nosuch;\n\\endpipeline", "line 4: "},
		{"GsetName", "SELECT 1 AS \"a b\" \\gset", `column "a b" is not a variable name`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []Mode{Extended, Prepared} {
				err := s.Run(t.Context(), conn.PgConn(), mode, environment())
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s: %v", mode, err)
				}
				if _, err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
					t.Fatalf("the connection is of no use afterwards: %v", err)
				}
			}
		})
	}
}

func TestParse_SaysLineAndWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, says, hint string }{
		{"Empty", "-- nothing\n", "the script is empty", ""},
		{"UnknownMeta", "SELECT 1;\n\\sett a 1", "line 2 of the script: no meta-command \\sett", "\\set"},
		{"Shell", "\\shell rm", "a scenario must not start programs", ""},
		{"Setrandom", "\\setrandom a 1 2", "gone from pgbench", "random(FROM, TO)"},
		{"BadExpression", "\\set a 1 +", "\\set a: the expression ends too soon", ""},
		{"UnknownFunction", "\\set a rnd(1)", `no function "rnd"`, ""},
		{"Arguments", "\\set a random(1)", "random takes 2 arguments, not 1", ""},
		{"BadName", "\\set 1a 1", "\\set takes a name", ""},
		{"NoEndif", "\\if true\nSELECT 1;", "\\if without \\endif", ""},
		{"ElseTwice", "\\if true\n\\else\n\\else\n\\endif", "line 3 of the script: \\else after \\else", ""},
		{"LoneEndif", "\\endif", "\\endif without \\if", ""},
		{"GsetAlone", "SELECT 1;\n\\gset", "\\gset stands at the end of a query", ""},
		{"GsetInPipeline", "\\startpipeline\nSELECT 1 \\gset\n\\endpipeline", "not possible in a pipeline", ""},
		{"OpenPipeline", "SELECT 1;\n\\startpipeline\nSELECT 2;", "line 2 of the script: \\startpipeline without", ""},
		{"EndOnly", "\\endpipeline", "without \\startpipeline", ""},
		{"SleepUnit", "\\sleep 1 hour", `\sleep in "hour"`, ""},
		{"SleepText", "\\sleep soon", "takes a whole number", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.text)
			var m *Mistake
			if !errors.As(err, &m) || !strings.Contains(err.Error(), c.says) || !strings.Contains(m.Hint, c.hint) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	s, err := Parse("\\set n 100\n\\sleep :n s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := s.Run(ctx, nil, Simple, environment()); !errors.Is(err, context.DeadlineExceeded) || s.HasSQL() {
		t.Error(err)
	}
}

// The distributions are those that pgbench documents: chi-square against the exact
// chances, with a fixed seed.
func TestRandomNumbersFollowTheirDistribution(t *testing.T) {
	const n, from, size = 200_000, 11, 20
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, c := range []struct {
		expression string
		chance     func(i float64) float64 // of the i-th value, from 1; in any unit
	}{
		{"random(11, 30)", func(float64) float64 { return 1 }},
		{"random_exponential(11, 30, 2.5)", func(i float64) float64 {
			return math.Exp(-2.5*(i-1)/size) - math.Exp(-2.5*i/size)
		}},
		{"random_gaussian(11, 30, 2.5)", func(i float64) float64 {
			return phi(2.5*(2*i/size-1)) - phi(2.5*(2*(i-1)/size-1))
		}},
		{"random_zipfian(11, 30, 1.2)", func(i float64) float64 { return math.Pow(i, -1.2) }},
		{"random_zipfian(11, 30, 3)", func(i float64) float64 { return math.Pow(i, -3) }},
	} {
		t.Run(c.expression, func(t *testing.T) {
			e, err := ParseExpression(c.expression)
			if err != nil {
				t.Fatal(err)
			}
			env := &Environment{RNG: rand.New(rand.NewPCG(7, 8))}
			var got, chance [size]float64
			sum := 0.0
			for i := range chance {
				chance[i] = c.chance(float64(i + 1))
				sum += chance[i]
			}
			for range n {
				v, err := e.Eval(env)
				if err != nil {
					t.Fatal(err)
				}
				got[v.i-from]++
			}
			square := 0.0
			for i := range got {
				want := n * chance[i] / sum
				square += (got[i] - want) * (got[i] - want) / want
			}
			if square > 50 { // 19 degrees of freedom: above 50 in one of 7,000 samples
				t.Errorf("chi-square %.1f of 19 degrees of freedom; counts %v", square, got)
			}
		})
	}
}

func TestParse_OfAnythingEndsWithAScriptOrAMistake(t *testing.T) {
	parts := []string{"\\", "\n", ";", "'", "\"", "$", "$a$", "--", "/*", "*/", "(", ")", ":", "x", " ", "E", "\\;",
		"\\set a ", "\\if ", "\\else", "\\endif",
		"\\gset", "\\startpipeline", "\\endpipeline", "1", "+", "case", "when", "end", "\x00", "é", "\r\n", "\\sleep "}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "text"), "")
		s, err := Parse(text)
		var m *Mistake
		if err != nil && !errors.As(err, &m) || err == nil && len(s.commands) == 0 {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
