package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
	"plimsoll/test/golden"
)

// fine is the overloaded run with nothing wrong.
func fine(t *testing.T) *result.Result {
	r := resulttest.Overloaded(t)
	score := 0.9512
	r.Valid = true
	r.InvalidReasons = []string{}
	r.Events = []result.Event{}
	r.Title = ""
	r.Apdex, r.Interval, r.Band = &score, &apdex.Interval{Low: 0.9478, High: 0.9544}, apdex.Excellent
	r.OK, r.Overload, r.Errors = r.Ops-r.Refused, 0, 0
	low, high := r.OpsPerS-1, r.OpsPerS+1
	r.OpsPerSInterval = &result.Range{Low: low, High: &high}
	r.IntervalBasis = &result.IntervalBasis{SteadyS: 60, BlockS: 7}
	p50 := 12.3
	r.Operations[0].LatencyIntervals = &result.LatencyIntervals{P50: &result.Range{Low: 8.8, High: &p50},
		P95: &result.Range{Low: 30, High: &high}, P99: &result.Range{Low: 42}}
	for i := range r.Operations {
		r.Operations[i].ErrorTexts = nil
	}
	return r
}

// broken is a valid run, one operation of which always fails.
func broken(t *testing.T) *result.Result {
	r := fine(t)
	op := &r.Operations[6]
	r.RefusedShare = r.Refusals()
	all, available, mixed := 612.5, 0.755, 3348.2
	r.AllPerS, r.Availability, r.Standstills = &all, &available, []result.Standstill{{FromS: 14.1, ToS: 19}}
	r.Operations[0].LatencyAll = &result.Latency{P50: &mixed}
	r.Operations[0].LatencyAllIntervals = &result.LatencyIntervals{P50: &result.Range{Low: 3201}}
	op.Totals, op.Counts = result.Totals{Ops: 12, Errors: 12}, apdex.Counts{Frustrated: 12}
	op.ErrorTexts = []result.ErrorText{{Text: "report: column \"x\" does not exist", Count: 12}}
	op.Latency, op.HistogramT = result.Latency{}, apdex.Histogram{}
	r.Warnings = []string{op.ID + " never got a valid answer, 12 of 12 failed" + op.Failing()}
	return r
}

// wrong is a run with wrong books, unknown processors and nothing answered in one operation.
func wrong(t *testing.T) *result.Result {
	r := resulttest.Overloaded(t)
	r.Apdex, r.Interval, r.Band = nil, nil, apdex.NoSample
	r.Audit = result.Audit{Done: true, Checks: 18, Violations: 2, DurationS: 0.31, Findings: []result.Finding{
		{Check: "debit = credit", Detail: "goods sale 000123: expected 10.00, found 9.00"},
	}}
	r.InvalidReasons = append(r.InvalidReasons, "the books are wrong: 2 violations")
	r.Conditions.CPU = result.CPU{}
	op := &r.Operations[0]
	op.Totals, op.Counts, op.Apdex, op.Interval, op.Band = result.Totals{}, apdex.Counts{}, nil, nil, apdex.NoSample
	op.Latency, op.HistogramT, op.ErrorTexts = result.Latency{}, apdex.Histogram{}, nil
	return r
}

// hostile has texts in it that try to become something else.
func hostile(t *testing.T) *result.Result {
	r := resulttest.Overloaded(t)
	const evil = `</script><script>document.title="pwned"</script><img src=x onerror=alert(1)>`
	r.Title, r.ID = evil, "20260131-154500-1u"
	r.Operations[0].Title = evil
	r.Operations[0].ErrorTexts = []result.ErrorText{{Text: evil + "\x1b[2J\u009b31m", Count: 1}}
	r.InvalidReasons = []string{evil}
	r.Events = []result.Event{{AtS: 1, Text: evil}}
	r.Conditions.Engine.Settings["work_mem"] = evil
	r.Audit.Findings = []result.Finding{{Check: evil, Detail: evil}}
	return r
}

// crowded has more of everything than fits.
func crowded(t *testing.T) *result.Result {
	r := wrong(t)
	r.ID, r.Conditions.Load.Profile = "20260131-154500-30000u", &result.Profile{Name: "erp-1",
		Changes: []string{"think time 2s instead of 10s", "T of goods_sale.list 30s instead of 500ms",
			"priority of goods_sale.list 1 instead of 2", "the pace of a day"}}
	for i := range 40 {
		op := r.Operations[1+i%6]
		op.ID += fmt.Sprintf(" number %d", i)
		op.ErrorTexts = []result.ErrorText{{Text: strings.Repeat("the server said no ", 20), Count: 3}}
		r.Operations = append(r.Operations, op)
		r.InvalidReasons = append(r.InvalidReasons, strings.Repeat("a reason of many words ", 1+i))
		r.Warnings = append(r.Warnings, "a warning")
	}
	r.Audit = result.Audit{Error: strings.Repeat("could not connect ", 10)}
	r.Diagnosis = &result.Diagnosis{Samples: 1, Ledger: []result.LedgerLine{{Name: "a"}},
		Findings: []result.TimeCause{{Title: strings.Repeat("everybody waits for a lock ", 9)}}}
	return r
}

// A person sees the verdict, the reason and what to look at without scrolling.
func TestSummaryFitsOnAScreen(t *testing.T) {
	quick := fine(t)
	for i := range quick.Operations {
		share := 0.01 * float64(1+i)
		quick.Operations[i].P95OfTarget = &share
	}
	for name, r := range map[string]*result.Result{"overloaded": resulttest.Overloaded(t), "fine": quick,
		"wrong_books": wrong(t), "broken_operation": broken(t), "hostile": hostile(t), "crowded": crowded(t)} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := Summary(&got, r, "/var/lib/plimsoll/runs/"+r.ID+"/report.html"); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(got.String(), "\n"), "\n")
			if len(lines) > SummaryLines {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > Width {
					t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
				}
			}
			golden.Compare(t, "testdata/summary_"+name+".golden", got.String())
		})
	}
}

func TestText(t *testing.T) {
	for name, r := range map[string]*result.Result{"overloaded": resulttest.Overloaded(t), "fine": fine(t),
		"wrong_books": wrong(t), "broken_operation": broken(t), "hostile": hostile(t)} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := Text(&got, r); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+name+".golden", got.String())
			for line := range strings.Lines(got.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > Width {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\u009b\r") {
					t.Errorf("a control character: %q", line)
				}
			}
		})
	}
}

func written(t *testing.T, r *result.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	t.Run("NeedsNothingElse", func(t *testing.T) {
		page := written(t, fine(t))
		for _, reference := range regexp.MustCompile(
			`(?i)\s(src|href|action|srcset|data)\s*=\s*"([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(reference[2], "#") {
				t.Errorf("refers to %q", reference[2])
			}
		}
		if strings.Contains(page, "@import") || strings.Contains(page, "url(") {
			t.Error("the style sheet loads something")
		}
	})
	t.Run("EscapesEverything", func(t *testing.T) {
		page := written(t, hostile(t))
		if strings.Contains(page, "<script>document") || strings.Contains(page, "<img") {
			t.Error("a text became markup")
		}
	})
	t.Run("CarriesTheWholeResult", func(t *testing.T) {
		r := resulttest.Overloaded(t)
		_, rest, _ := strings.Cut(written(t, r), `id="result">`)
		text, _, _ := strings.Cut(rest, "</script>")
		var back result.Result
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, &back); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("SaysWhichOperationAlwaysFails", func(t *testing.T) {
		verdict, _, _ := strings.Cut(written(t, broken(t)), "<dl")
		if !strings.Contains(verdict, "trial_balance.report never got a valid answer, 12 of 12 failed: report: "+
			"column") {
			t.Error("not said in the verdict")
		}
	})
	t.Run("SaysWhyARunScoresNothing", func(t *testing.T) {
		if page := written(t, wrong(t)); !strings.Contains(page, "it has no score") ||
			!strings.Contains(page, "expected 10.00, found 9.00") {
			t.Error("not said")
		}
	})
	t.Run("WorksForARunThatMeasuredNothing", func(t *testing.T) {
		empty := &result.Result{InvalidReasons: []string{"stopped by the user"}, Band: apdex.NoSample}
		if page := written(t, empty); !strings.Contains(page, "Nothing was measured") {
			t.Error("not said")
		}
		var text strings.Builder
		if err := Text(&text, empty); err != nil {
			t.Error(err)
		}
	})
}

func TestFigures(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct{ got, want string }{
		{score(at(0.84999)), "0.849"},
		{score(at(0.85)), "0.850"},
		{score(at(1)), "1.000"},
		{score(at(0.29)), "0.290"},
		{score(nil), unknown},
		{markedScore(at(0.5), 99), "0.500*"},
		{markedScore(at(0.5), 100), "0.500"},
		{millis(at(12345.6)), "12,346"},
		{percent(nil), "unavailable"},
		{percent(at(0.034)), "3.4 %"},
		{portion(1, apdex.Histogram{1, 1, 1}), "33.3 %"},
		{portion(0, apdex.Histogram{}), unknown},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestMemorySaysWhatGrows(t *testing.T) {
	steady := result.Memory{Of: "generator", FromS: 300, ToS: 900, First: 60 << 20, Last: 61 << 20, Max: 70 << 20}
	grown := result.Memory{Of: "workers", FromS: 300, ToS: 900, First: 100 << 20, Last: 120 << 20, Max: 125 << 20}
	if got := memory(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	for _, c := range []struct {
		all  []result.Memory
		want string
	}{
		{[]result.Memory{steady}, "no growth; generator 61 MB, +1.7 %, at most 70 MB; private memory of all " +
			"processes of a kind, medians of the two halves from 300 s to 900 s"},
		{[]result.Memory{steady, grown}, "GROWS: workers; generator 61 MB, +1.7 %, at most 70 MB; workers " +
			"120 MB, +20.0 %, at most 125 MB; private memory of all processes of a kind, medians of the two " +
			"halves from 300 s to 900 s"},
	} {
		if got := memory(c.all); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
	r := resulttest.Overloaded(t)
	r.Memory = []result.Memory{grown}
	if page := written(t, r); !strings.Contains(page, "GROWS: workers") {
		t.Error("the report does not say it")
	}
}

func TestSideBySide_ShowsBothAndWhatDiffers(t *testing.T) {
	a, b := resulttest.Overloaded(t), fine(t)
	b.ID, b.Operations = "20260101-000000-1u", b.Operations[1:]
	b.Conditions.Engine.Settings = map[string]string{"fsync": "off\x1b[2J"}
	var text strings.Builder
	if err := SideBySide(&text, []*result.Result{a, b}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{a.ID, b.ID, "0.951", "durability", "fsync=off\ufffd[2J", "B: missing",
		a.Operations[0].ID} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("lacks %q:\n%s", part, text.String())
		}
	}
	if strings.Contains(text.String(), "machine\n") || strings.Contains(text.String(), "\x1b") {
		t.Errorf("shows what is the same, or what a terminal obeys:\n%s", text.String())
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if utf8.RuneCountInString(line) > Width {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
}
