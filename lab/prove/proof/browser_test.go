package proof

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/test/files"
	"plimsoll/web/browsertest"
)

// findings of all kinds: two engines, each with a verdict of its own, a chart, stale, cut short, hostile.
func findings() []claims.Record {
	return []claims.Record{
		kept("C12", func(k *claims.Record) {
			k.Measured = "CREATE TEMP TABLE ×12.3 (11.9 to 12.8)"
			k.Verdict, k.Answers = claims.InDirection, &claims.Answers{Direction: claims.InClaimedDirection,
				Size: claims.LessThanClaimed, Situation: []claims.Met{{Name: "users", Report: "30,000", Here: "3,000"}}}
			k.Engines = []claims.EngineVerdict{{Engine: "ours", Verdict: claims.Confirmed},
				{Engine: "stock", Verdict: claims.Refuted, Why: "it takes 12 times as long"}}
			k.Figures = []claims.Figure{
				{Name: "ours, 16 clients: CREATE TEMP TABLE", Unit: "ms", Values: []float64{1.1, 1.2, 1.4, 1.15}},
				{Name: "stock, 16 clients: CREATE TEMP TABLE", Unit: "ms", Values: []float64{14, 13.5, 15, 14.2}},
				{Name: "ours, 16 clients: cycles", Unit: "1/s", Values: []float64{800, 810, 790, 30000}}}
			k.Conditions = []claims.Condition{{Name: "load", Text: "one statement a transaction over a socket"},
				{Name: "judged by", Text: "is said above"}}
		}),
		kept("C21", func(k *claims.Record) {
			k.Verdict, k.Software = claims.Refuted, "v1"
			k.Chart = &claims.Chart{Title: "Objects per second by jobs", X: "jobs", Y: "objects/s"}
			k.Chart.Lines = []claims.Line{
				{Name: "synchronous", Points: []claims.Point{{X: 10, Y: 300, Low: 280, High: 310},
					{X: 50, Y: 900, Low: 850, High: 930}, {X: 100, Y: 1100, Low: 1000, High: 1150}}},
				{Name: "asynchronous", Points: []claims.Point{{X: 10, Y: 500, Low: 480, High: 520},
					{X: 50, Y: 1400, Low: 1350, High: 1500}, {X: 100, Y: 1500, Low: 1450, High: 1600}}}}
		}),
		kept("C15", func(k *claims.Record) { k.Answers = nil }),
		kept("C40", func(k *claims.Record) {
			k.Verdict, k.Partial = claims.Inconclusive, true
			k.Measured = `<img src=x onerror="document.title='broken'"></script>` +
				`<script>document.title='broken'</script>`
			k.Engine = `PostgreSQL 18.6 vanilla<b>`
		}),
	}
}

func TestPageInABrowser(t *testing.T) {
	states := gathered(t, findings()...)
	var text strings.Builder
	if err := HTML(&text, states, here, time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	file := files.Write(t, t.TempDir(), "claims.html", text.String())
	v := browsertest.Open(t, "file://"+file)
	t.Run("LoadsQuietly", v.Quiet)
	t.Run("SaysWhatTheJSONHas", func(t *testing.T) {
		var all []State
		if err := json.Unmarshal([]byte(browsertest.Ask[string](t, v,
			`document.getElementById("proof").textContent`)), &all); err != nil {
			t.Fatal(err)
		}
		pills := browsertest.Ask[map[string]string](t, v, `Object.fromEntries([...document.querySelectorAll("article")]
			.map(a => [a.id, a.querySelector("h3 .pill").textContent]))`)
		for _, s := range all {
			if pills[s.ID] != s.Words() {
				t.Errorf("%s: %q, want %q", s.ID, pills[s.ID], s.Words())
			}
		}
		if len(pills) != len(claims.All()) || len(all) != len(pills) {
			t.Errorf("%d claims on the page, %d in the JSON", len(pills), len(all))
		}
	})
	t.Run("StaleVerdictsCountAsNone", func(t *testing.T) {
		// C15 is confirmed by other rules, C21 refuted by another version
		head := browsertest.Ask[string](t, v, `document.querySelector("h1").textContent`)
		for _, part := range []string{"0 confirmed", "1 in direction", "0 refuted", "1 inconclusive", "2 stale"} {
			if !strings.Contains(head, part) {
				t.Errorf("the tally lacks %q: %s", part, head)
			}
		}
	})
	t.Run("HasWhatAReaderNeeds", func(t *testing.T) {
		for claim, parts := range map[string][]string{
			"C12": {"report says", "tens, sometimes hundreds", "ours confirmed", "stock refuted it takes 12 times",
				"×12.3", "one statement a transaction", "plimsoll prove C12", "Example 9000", "took 62 s",
				"(logarithmic scale)", "the effect shows when",
				"in direction, smaller", "users: 3,000 (report: 30,000), not met"},
			"C21": {"stale: recorded with another version", "Objects per second by jobs", "asynchronous"},
			"C40": {"stopped early", "<img src=x"},
			"C13": {"measure it", "plimsoll prove C13", "not run"},
			"C15": {"stale: recorded with another set of rules"},
			"C47": {"cannot be had here", "none: Plimsoll runs on Linux alone"},
		} {
			got := strings.Join(strings.Fields(browsertest.Ask[string](t, v,
				`document.getElementById("`+claim+`").innerText`)), " ")
			for _, part := range parts {
				if !strings.Contains(got, part) {
					t.Errorf("%s lacks %q:\n%s", claim, part, got)
				}
			}
		}
	})
	t.Run("DrawsFiguresWhereTheyAre", func(t *testing.T) {
		at := browsertest.Ask[[]float64](t, v, `[...document.querySelectorAll("#C12 .strip:has(.median) .median")]
			.map(m => { const r = m.getBoundingClientRect(), s = m.ownerSVGElement.getBoundingClientRect();
				return (r.left + r.width / 2 - s.left) / s.width; })`)
		if len(at) != 3 || at[0] > 0.15 || at[1] < 0.85 {
			t.Errorf("medians at %v of the scale, want ours at its beginning and stock at its end", at)
		}
		if n := browsertest.Ask[int](t, v, `document.querySelectorAll("#C21 svg.lines circle").length`); n != 6 {
			t.Errorf("%d points of the chart, want 6", n)
		}
	})
	v.Look(t, "claims")
	// the last width is the narrow one
	if out := browsertest.Ask[int](t, v, `(() => {
		const box = e => e.getBoundingClientRect(), room = box(document.querySelector("#C21 figure:has(.lines)"));
		return [...document.querySelectorAll("#C21 .lines circle, #C21 .lines text")]
			.filter(e => box(e).right > room.right || box(e).left < room.left).length; })()`); out > 0 {
		t.Errorf("%d parts of the narrow chart are out of sight", out)
	}
}
