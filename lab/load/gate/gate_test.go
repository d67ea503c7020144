package gate

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/lab/stats"
)

var shop = []string{"goods_sale.post", "goods_sale.list", "GET /cart: all", "look"}

func TestParse_ReadsWhatPeopleWrite(t *testing.T) {
	for text, want := range map[string]Gate{
		"goods_sale.post: p95 > 200ms": {Operation: "goods_sale.post", Figure: Percentile, Percent: 95, Limit: 200},
		"look:p99.9>=1s": {Operation: "look", Figure: Percentile, Percent: 99.9, AtLimit: true,
			Limit: 1000},
		"look: P50 > 1.5 s":           {Operation: "look", Figure: Percentile, Percent: 50, Limit: 1500},
		"*: mean > 80ms":              {Operation: Each, Figure: Mean, Limit: 80},
		"look: max > 2m":              {Operation: "look", Figure: Max, Limit: 120_000},
		"errors > 1%":                 {Figure: Errors, Limit: 0.01},
		"errors > 0":                  {Figure: Errors},
		"refused > 2.5 %":             {Figure: Refused, Limit: 0.025},
		"throughput < 50/s":           {Figure: Throughput, Limit: 50},
		"throughput < 3000/min":       {Figure: Throughput, Limit: 50},
		"look: throughput <= 7":       {Operation: "look", Figure: Throughput, AtLimit: true, Limit: 7},
		"apdex < 0.9":                 {Figure: Apdex, Limit: 0.9},
		`"GET /cart: all": apdex < 1`: {Operation: "GET /cart: all", Figure: Apdex, Limit: 1},
	} {
		got, err := Parse(text, shop)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		again, err := Parse(got.String(), shop)
		if err != nil || again != want {
			t.Errorf("%s is written %s, which is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParse_NamesTheMistakeAndItsPlace(t *testing.T) {
	for text, c := range map[string]struct {
		at         int
		says, hint string
	}{
		"goods_sale.psot: p95 > 200ms": {1, `no key operation "goods_sale.psot"`, "did you mean goods_sale.post?"},
		"look: p59 > x":                {13, "p59 takes a time such as 200ms", ""},
		"look: q95 > 200ms":            {7, `no figure "q95"`, "did you mean p95?"},
		"look: p100 > 1s":              {7, "between p0 and p100", "max is the longest"},
		"look: p95 < 200ms":            {11, "p95 < fails when all is well", "did you mean p95 >?"},
		"throughput > 5/s":             {12, "fails when all is well", "did you mean throughput <?"},
		"p95 > 200ms":                  {1, "p95 of which operation?", `"*: p95 > 200ms"`},
		"errors > 0.01":                {10, "errors takes a share in percent such as 1%, not 0.01", ""},
		"errors = 1%":                  {8, "= is no comparison", "did you mean errors >"},
		"errors":                       {7, "errors is compared with a limit by >", "such as"},
		"errors >":                     {9, "there is no limit", "percent"},
		"apdex < 85":                   {9, "a score between 0 and 1", ""},
		": p95 > 1s":                   {1, "no operation before the colon", "such as"},
		"":                             {1, "there is no figure", "such as"},
		"errrors > 1%":                 {1, `no figure "errrors"`, "did you mean errors?"},
		"é: p95 > 1s":                  {1, "no key operation", "there are goods_sale.post"},
		`"look: p95 > 1s`:              {1, "quotes do not end", ""},
	} {
		_, err := Parse(text, shop)
		var m *Mistake
		if !errors.As(err, &m) {
			t.Errorf("%q is read, or refused otherwise: %v", text, err)
			continue
		}
		if m.At != c.at || !strings.Contains(m.Says, c.says) || !strings.Contains(m.Hint, c.hint) {
			t.Errorf("%q: at %d %s, hint %s", text, m.At, m.Says, m.Hint)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"look: p95 > 200ms", "*: apdex < 0.9", `"look": errors > 1%`, "throughput < 1/h",
		":"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Parse(text, shop)
		var m *Mistake
		if err != nil {
			if !errors.As(err, &m) || m.At < 1 || m.At > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := Parse(g.String(), shop); err != nil || again.Figure != g.Figure {
			t.Fatalf("%q is written %q, which is refused: %v", text, g, err)
		}
	})
}

func TestFails_AtAndBeyondTheLimit(t *testing.T) {
	for text, c := range map[string]struct{ good, limit, bad float64 }{
		"look: p95 > 200ms":  {199, 200, 201},
		"look: p95 >= 200ms": {199, 200, 201},
		"apdex < 0.9":        {0.91, 0.9, 0.89},
		"apdex <= 0.9":       {0.91, 0.9, 0.89},
		"errors > 1%":        {0.009, 0.01, 0.011},
		"throughput < 50/s":  {51, 50, 49},
	} {
		g, err := Parse(text, shop)
		if err != nil {
			t.Fatal(err)
		}
		if g.Fails(c.good) || !g.Fails(c.bad) || g.Fails(c.limit) != strings.Contains(text, "=") {
			t.Errorf("%s: %v %v %v", text, g.Fails(c.good), g.Fails(c.limit), g.Fails(c.bad))
		}
	}
}

// With one operation fewer than Least the interval of a share without a bad operation reaches beyond the limit.
func TestLeast_IsWhereTheIntervalReachesTheLimit(t *testing.T) {
	for text, want := range map[string]int64{"look: p50 > 1s": 4, "look: p95 > 1s": 73, "look: p99 > 1s": 381,
		"look: p99.9 > 1s": 3838, "errors > 1%": 381, "errors > 0": 1, "apdex < 0.9": 35, "apdex < 1": 100,
		"throughput < 5/s": 1, "look: max > 1s": 1} {
		g, err := Parse(text, shop)
		if err != nil || g.Least() != want {
			t.Errorf("%s: at least %d, want %d (%v)", text, g.Least(), want, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		g := Gate{Figure: Errors, Limit: rapid.Float64Range(0.0001, 0.9).Draw(t, "limit")}
		n := float64(g.Least())
		if _, high := stats.Wilson(0, n); high > g.Limit+1e-9 {
			t.Fatalf("%v of %v: up to %v", g.Limit, n, high)
		}
		if n < 2 {
			return
		}
		if _, high := stats.Wilson(0, n-1); high < g.Limit {
			t.Fatalf("%v: one fewer than %v would do", g.Limit, n)
		}
	})
}
