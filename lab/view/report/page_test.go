package report

import (
	"regexp"
	"strings"
	"testing"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/lab/run/result/resulttest"
)

// page is the HTML of a run without its data, scripts and styles.
func pageOf(t *testing.T, r *result.Result) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`).ReplaceAllString(b.String(), "")
	return strings.Join(strings.Fields(shown), " ")
}

func TestThePageOfAnInvalidRunSaysSoFirst(t *testing.T) {
	r := fine(t)
	r.Valid, r.InvalidReasons = false, []string{"nobody was served"}
	got := pageOf(t, r)
	if !strings.Contains(got, `<span class="score invalid">not valid</span>`) ||
		strings.Contains(got, `<span class="score">0.951</span>`) || !strings.Contains(got,
		"Apdex 0.951, excellent: not to be quoted") ||
		!strings.Contains(got, "<title>Not valid · Apdex 0.951 excellent") {
		t.Error("the largest word of an invalid run is its band")
	}
}

func TestThePageHasNoBarsThatAreAllEqual(t *testing.T) {
	r := resulttest.Overloaded(t)
	for i := range r.Operations[1:] {
		r.Operations[1+i].HistogramT = apdex.Histogram{50, 0, 0, 0, 0}
	}
	if got := pageOf(t, r); strings.Count(got, `<td class="bar" aria-hidden="true">`) != 1 ||
		!strings.Contains(got, "6 other operations were answered within T each time.") {
		t.Error("operations that were always answered within T have bars of 100 %")
	}
	r.Operations = r.Operations[1:]
	if got := pageOf(t, r); strings.Contains(got, `<td class="bar"`) ||
		!strings.Contains(got, "All 6 operations were answered within T each time.") {
		t.Error("a table without a row")
	}
}

func TestThePageOfAnOwnScenarioKnowsNoERP(t *testing.T) {
	r := fine(t)
	r.Audit, r.AuditBefore = result.Audit{None: true}, nil
	r.Conditions.Load.Scenario = &result.Scenario{Name: "shop", Title: "Web shop in December", Application: "none"}
	got := pageOf(t, r)
	for _, wrong := range []string{"synthetic", "Audit of the books", "checks of the books"} {
		if strings.Contains(got, wrong) {
			t.Errorf("it says %q", wrong)
		}
	}
	if !strings.Contains(got, `<span class="title">Web shop in December</span>`) {
		t.Error("the scenario's title is not shown")
	}
	var text strings.Builder
	if err := Text(&text, r); err != nil || !strings.Contains(text.String(), "Web shop in December") {
		t.Errorf("%v, %s", err, text.String())
	}
	if erp := pageOf(t, fine(t)); !strings.Contains(erp, "synthetic") || !strings.Contains(erp, "Audit of the books") {
		t.Error("the page of the ERP lost its books")
	}
}

func TestThePageShowsStatementsWithTheirPlans(t *testing.T) {
	r := resulttest.Overloaded(t)
	r.Diagnosis = &result.Diagnosis{Samples: 1, Ledger: []result.LedgerLine{{Name: "database: locks", S: 1, Share: 1}}}
	worst := worstFirst(r)[0].ID
	long := "SELECT '<b>' " + strings.Repeat("long ", 100)
	for i := range r.Operations {
		if r.Operations[i].ID == worst {
			r.Operations[i].Statements = []result.Statement{
				{Text: long, S: 12, Share: 0.34, Plan: &result.Plan{How: "generic",
					Lines: []string{"Seq Scan on <stock>"}, Remarks: []string{"reads all of stock"}}},
				{Text: "COMMIT", S: 3, Share: 0.08},
			}
		}
	}
	got := pageOf(t, r)
	for _, want := range []string{"<small>" + worst + "</small></h4>", "<summary>34.0 %, 12 s: <code>SELECT " +
		"&#39;&lt;b&gt;&#39; long", "…</code></summary>", "Plan for any values, as the planner estimates it:",
		"Seq Scan on &lt;stock&gt;", "<li>reads all of stock</li>", "<code>COMMIT</code>", "There is no plan of it."} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(got, "<b>' long") {
		t.Error("a statement is not escaped")
	}
	if none := pageOf(t, fine(t)); strings.Contains(none, "Statements that took the time") {
		t.Error("a heading without statements")
	}
}
