package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/advise"
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
		if o.want(t, ExitOK); !strings.Contains(o.stdout, "2 HARMFUL") || strings.Contains(o.stdout, "UNAVAILABLE") {
			t.Errorf("want the summary, got:\n%s", o.stdout)
		}
		o = plimsoll(t, "advise", "--dsn", dsn, "--details")
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
	t.Run("ShowsAfterCtrlCWhatWasSeen", func(t *testing.T) {
		for _, more := range [][]string{nil, {"--all", "--yes"}} {
			ctx, stop := context.WithCancel(t.Context())
			look := &watched{text: "active sessions", seen: stop}
			o := plimsollWith(t, ctx, "", look, append([]string{"advise", "--dsn", dsn, "--for", "1h"},
				more...)...)
			stop()
			o.want(t, ExitInterrupted)
			if !strings.Contains(o.stdout, id) || !strings.Contains(o.stdout, "watched for") {
				t.Errorf("stdout lacks the advice:\n%s", o.stdout)
			}
			if n := clustertest.Exec(t, dsn, "SELECT count(*) FROM pg_class WHERE reloptions IS NOT NULL AND "+
				"relname = 'quiet'"); n != 1 {
				t.Error("it was applied after Ctrl-C")
			}
		}
	})
	t.Run("ListsWhatIsRefused", func(t *testing.T) {
		conn := clustertest.Connect(t, dsn, "")
		for _, sql := range []string{"CREATE ROLE half LOGIN PASSWORD 'x'", "GRANT pg_monitor TO half"} {
			if _, err := conn.Exec(patience.Context(t), sql); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { clustertest.Value(t, dsn, "DROP ROLE half") })
		c := conn.Config()
		half := fmt.Sprintf("host=%s port=%d user=half password=x dbname=%s sslmode=disable", c.Host, c.Port,
			c.Database)
		o := plimsoll(t, "advise", "--dsn", half, "--apply", id, "--yes")
		o.want(t, ExitFailure, "1 of 1 changes were refused")
		if !strings.Contains(o.stdout, "refused   "+id+": must be owner of table quiet") {
			t.Errorf("want the reason of the refusal, got %s", o.stdout)
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
			t.Errorf("want the step done and the comparison named, got %s", o.stdout)
		}
		o = plimsoll(t, "advise", "--dsn", dsn, "--revert")
		o.want(t, ExitOK)
		if !strings.Contains(o.stdout, "reverted  "+id) {
			t.Errorf("want the step reverted, got %s", o.stdout)
		}
		if o := plimsoll(t, "advise", "--dsn", dsn, "--revert"); !strings.Contains(o.stdout, "nothing is applied") {
			t.Errorf("want that nothing is applied, got %s", o.stdout)
		}
	})
}

// What is no latency is not saved, and what has no scale of shares has no percent.
func TestGainOf_OfWhatIsNoLatency(t *testing.T) {
	for name, c := range map[string]struct {
		metric   string
		headline verdict.Row
		want     string
	}{
		"Apdex": {"apdex", verdict.Row{Scale: verdict.Difference, Effect: -0.1, Low: -0.15, High: -0.05,
			Confidence: 0.95},
			"apdex 0.1 lower (0.05 to 0.15, 95 % confidence): worse"},
		"BetterApdex": {"apdex", verdict.Row{Scale: verdict.Difference, Effect: 0.1, Low: 0.05, High: 0.15,
			Confidence: 0.95}, "apdex 0.1 higher (0.05 to 0.15, 95 % confidence): worse"},
		"Throughput": {"ops_per_s", verdict.Row{Scale: verdict.Ratio, Effect: 1.1, Low: 1.05, High: 1.2,
			Confidence: 0.95},
			"ops_per_s 10.0 % higher (5.0 % to 20.0 %, 95 % confidence): worse"},
		"Log": {"wal_bytes", verdict.Row{Scale: verdict.Ratio, Effect: 1.1, Low: 0.9, High: 1.2, Confidence: 0.95},
			"wal_bytes 10.0 % higher (-10.0 % to 20.0 %, 95 % confidence): worse"},
	} {
		one := &compare.Comparison{Findings: []compare.Finding{{Verdict: verdict.Worse, Headline: c.headline}}}
		one.Plan.Metric = c.metric
		g := gainOf(one)
		if text := (advise.Step{Actual: &g}).GainText(); !strings.HasSuffix(text, c.want) {
			t.Errorf("%s: %s", name, text)
		}
		if better := name == "BetterApdex" || name == "Throughput"; better != (g.Gain > 0) {
			t.Errorf("%s: a gain of %g", name, g.Gain)
		}
	}
}

func TestGainOf(t *testing.T) {
	c := &compare.Comparison{ID: "x", Findings: []compare.Finding{{Verdict: verdict.Better,
		Headline: verdict.Row{Scale: verdict.Ratio, Effect: 0.8, Low: 0.7, High: 0.85, Confidence: 0.95}}}}
	c.Plan.Metric = compare.MetricDefault
	g := gainOf(c)
	if g.Gain < 0.199 || g.Gain > 0.201 || g.Interval.Low < 0.149 || g.Interval.Low > 0.151 ||
		g.Interval.High < 0.299 ||
		g.Interval.High > 0.301 {
		t.Errorf("want a gain of 0.2 within 0.15 to 0.3, got %+v", g)
	}
}
