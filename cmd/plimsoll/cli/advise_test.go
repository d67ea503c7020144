package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/lab/advise"
	"plimsoll/lab/postgres/cluster/clustertest"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/test/patience"
)

func TestAdvise(t *testing.T) {
	dsn := clustertest.Database(t).Secret()
	conn := clustertest.Connect(t, dsn, "")
	if _, err := conn.Exec(patience.Context(t), "CREATE TABLE quiet (id int) WITH (autovacuum_enabled = "+
		"off)"); err != nil {
		t.Fatal(err)
	}
	const id = "autovacuum:public.quiet"
	t.Run("PrintsAReport", func(t *testing.T) {
		o := plimsoll(t, "advise", "--dsn", dsn)
		o.want(t, ExitOK)
		// The server of tests has no fsync.
		for _, want := range []string{"fsync = off is harmful, whatever it gains", id, "NOTHING TO DO", "UNAVAILABLE"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("stdout lacks %q:\n%s", want, o.stdout)
			}
		}
	})
	t.Run("WatchesForPrices", func(t *testing.T) {
		o := plimsoll(t, "advise", "--dsn", dsn, "--for", "1s", "--json")
		o.want(t, ExitOK)
		var r advise.Report
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || r.Schema != advise.Schema || r.Diagnosis == "" ||
			r.Find(id) == nil {
			t.Errorf("%v, %+v", err, r)
		}
	})
	t.Run("WritesAPage", func(t *testing.T) {
		page := filepath.Join(t.TempDir(), "advice.html")
		plimsoll(t, "advise", "--dsn", dsn, "--html", page).want(t, ExitOK)
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), id) {
			t.Errorf("%v, %d bytes", err, len(text))
		}
	})
	t.Run("RefusesWhatWouldHaveNoEffect", func(t *testing.T) {
		for _, args := range [][]string{{"--revert", "--for", "1s"}, {"--check", "--run", "latest"},
			{"--revert", "--html", "x.html"}, {"--apply", id, "--html", "x.html"}} {
			o := plimsoll(t, append([]string{"advise", "--dsn", dsn}, args...)...)
			o.want(t, ExitUsage)
			if o.stdout != "" || !strings.Contains(o.stderr, "hint: ") || strings.Count(o.stderr, "\n") != 2 {
				t.Errorf("%q: %q, %q", args, o.stdout, o.stderr)
			}
		}
	})
	t.Run("AsksBeforeItChanges", func(t *testing.T) {
		plimsoll(t, "advise", "--dsn", dsn, "--apply", id).want(t, ExitUsage)
		plimsoll(t, "advise", "--dsn", dsn, "--apply", "harmful:fsync", "--yes").want(t, ExitUsage)
		plimsoll(t, "advise", "--dsn", dsn, "--check").want(t, ExitUsage)
	})
	t.Run("AppliesAndReverts", func(t *testing.T) {
		o := plimsoll(t, "advise", "--dsn", dsn, "--apply", id, "--yes")
		o.want(t, ExitOK)
		if !strings.Contains(o.stdout, "done") || !strings.Contains(o.stdout, "plimsoll compare") {
			t.Errorf("%s", o.stdout)
		}
		o = plimsoll(t, "advise", "--dsn", dsn, "--revert")
		o.want(t, ExitOK)
		if !strings.Contains(o.stdout, "reverted  "+id) {
			t.Errorf("%s", o.stdout)
		}
		if o := plimsoll(t, "advise", "--dsn", dsn, "--revert"); !strings.Contains(o.stdout, "nothing is applied") {
			t.Errorf("%s", o.stdout)
		}
	})
}

func TestGainOf(t *testing.T) {
	c := &compare.Comparison{ID: "x", Findings: []compare.Finding{{Verdict: verdict.Better,
		Headline: verdict.Row{Effect: 0.8, Low: 0.7, High: 0.85, Confidence: 0.95}}}}
	c.Plan.Metric = compare.MetricDefault
	g := gainOf(c)
	if g.Gain < 0.199 || g.Gain > 0.201 || g.Interval.Low < 0.149 || g.Interval.Low > 0.151 ||
		g.Interval.High < 0.299 ||
		g.Interval.High > 0.301 {
		t.Errorf("%+v", g)
	}
}
