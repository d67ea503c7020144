package cli

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/lab/run/result"
	"plimsoll/lab/run/store"
	"plimsoll/test/files"
)

var briefly = []string{"--duration", "3s", "--ramp", "0s", "--quiet"}

// gateOf a run by the beginning of its text.
func gateOf(t *testing.T, r result.Result, text string) result.Gate {
	t.Helper()
	for _, g := range r.Gates {
		if strings.HasPrefix(g.Gate, text) {
			return g
		}
	}
	t.Fatalf("no gate %s: %+v", text, r.Gates)
	return result.Gate{}
}

// A run of requests with gates of the file and of the command line, in each of the three ways that they end, and what
// becomes of it: files for a CI server, an archive, another machine, and a baseline.
func TestRun_Gates(t *testing.T) {
	freshState(t)
	path, _ := shop(t, "shop.toml", false)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path = files.Write(t, folder, "shop.toml", string(text)+"[gates]\nfail_if = \"look: p50 > 1ms\"\n")
	junit, markdown := filepath.Join(folder, "gates.xml"), filepath.Join(folder, "gates.md")
	o := plimsoll(t, append([]string{"run", "--scenario", path, "--json", "--junit", junit, "--markdown", markdown,
		"--fail-if", "*: p99.99 > 1m", "--fail-if", "errors > 50%"}, briefly...)...)
	var r result.Result
	o.decode(t, &r)
	slow, rare, errors := gateOf(t, r, "look: p50"), gateOf(t, r, "look: p99.99"), gateOf(t, r, "errors")
	if slow.Verdict != result.GateFailed || slow.Measured == nil || *slow.Measured < 1 ||
		rare.Verdict != result.GateUndecided || r.Valid && !strings.Contains(rare.Because, "at least 38,") {
		t.Errorf("%+v\n%+v", slow, rare)
	}
	if r.Valid {
		o.want(t, ExitThreshold, "1 of 3 gates failed, 1 cannot be decided: look: p50 ")
		if errors.Verdict != result.GatePassed {
			t.Errorf("%+v", errors)
		}
	}
	t.Run("FilesForCI", func(t *testing.T) {
		var suites struct {
			Suites []struct {
				Name     string `xml:"name,attr"`
				Failures int    `xml:"failures,attr"`
			} `xml:"testsuite"`
		}
		text, err := os.ReadFile(junit)
		if err == nil {
			err = xml.Unmarshal(text, &suites)
		}
		if err != nil || len(suites.Suites) != 3 || suites.Suites[1].Name != "gates" || suites.Suites[1].Failures != 1 {
			t.Errorf("%v: %+v", err, suites)
		}
		if text, err := os.ReadFile(markdown); err != nil || !strings.Contains(string(text), "**not passed**") {
			t.Errorf("%v\n%s", err, text)
		}
	})
	t.Run("ReportShowsThem", func(t *testing.T) {
		page := filepath.Join(folder, "page.html")
		o := plimsoll(t, "report", "--html", page)
		o.want(t, ExitOK)
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "look: p50 &gt; 1ms") {
			t.Errorf("the page lacks the gates: %v", err)
		}
		if o = plimsoll(t, "report"); !strings.Contains(o.stdout, "FAILED     look: p50 > 1ms") {
			t.Errorf("the text lacks the gates:\n%s", o.stdout)
		}
	})
	t.Run("ArchiveOpensElsewhere", func(t *testing.T) {
		file := filepath.Join(folder, "shared.tar.zst")
		if o := plimsoll(t, "export", "--archive", file); o.code != ExitOK || !strings.Contains(o.stdout, "1 run") {
			t.Fatalf("%+v", o)
		}
		before := plimsoll(t, "report", "--json").stdout
		state := os.Getenv("PLIMSOLL_STATE")
		freshState(t)
		if o := plimsoll(t, "report", file, "--json"); o.code != ExitOK || o.stdout != before {
			t.Errorf("another result: %s", o.stderr)
		}
		plimsoll(t, "report").want(t, ExitUsage, "no run is stored")
		t.Setenv("PLIMSOLL_STATE", state)
	})
	t.Run("BaselineThatIsTooSmall", func(t *testing.T) {
		o := plimsoll(t, append([]string{"run", "--scenario", path, "--against", r.ID, "--json"}, briefly...)...)
		var again result.Result
		o.decode(t, &again)
		g := gateOf(t, again, "worse than "+r.ID)
		if o.code != ExitThreshold || g.Verdict != result.GateUndecided {
			t.Errorf("exit %d, %+v", o.code, g)
		}
		if r.Valid && again.Valid && !strings.Contains(g.Because, "1 new run against 1 stored cannot show a") {
			t.Errorf("%+v", g)
		}
		stored, err := store.Default().Load(again.ID)
		if err != nil || len(stored.Gates) != len(again.Gates) {
			t.Errorf("the stored run has other gates: %v", err)
		}
		if !r.Valid || !again.Valid {
			return
		}
		o = plimsoll(t, "compare", "--baseline", r.ID, "latest")
		o.want(t, ExitThreshold, "cannot be decided: 1 new run against 1 stored", "hint: ")
	})
}

func TestGates_MistakesAreRefusedBeforeAnythingStarts(t *testing.T) {
	freshState(t)
	path, _ := shop(t, "shop.toml", false)
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"Operation": {[]string{"run", "--scenario", path, "--fail-if", "lok: p95 > 1s"},
			[]string{`--fail-if "lok: p95 > 1s", character 1: no key operation "lok"`, "did you mean look?"}},
		"Wish": {[]string{"run", "--scenario", path, "--fail-if", "look: p95 < 1s"},
			[]string{"fails when all is well", "did you mean p95 >?"}},
		"Baseline": {[]string{"run", "--scenario", path, "--against", "nosuch"}, []string{"no run"}},
		"Archive": {[]string{"run", "--scenario", path, "--against", "no.tar.zst"},
			[]string{"read archive no.tar.zst"}},
		"Folder": {[]string{"run", "--scenario", path, "--against", t.TempDir()}, []string{"has no archive"}},
		"JUnit": {[]string{"run", "--scenario", path, "--junit", "/no/such/file.xml"},
			[]string{"/no/such/file.xml"}},
		"Margin": {[]string{"run", "--scenario", path, "--margin", "0.2"},
			[]string{"--margin has no effect without --against"}},
		"Line": {[]string{"line", "--scenario", path, "--fail-if", "look: p95 > 1s"},
			[]string{`no configuration "look"`}},
		"LineFigure": {[]string{"line", "--scenario", path, "--fail-if", "apdex < 0.9"},
			[]string{"a search for the load line finds users", "plimsoll run"}},
		"LineNumber": {[]string{"line", "--scenario", path, "--fail-if", "users < many"},
			[]string{"character 9: users takes a whole number, not many"}},
		"Compare": {[]string{"compare", "--command-a", "a", "--command-b", "b", "--fail-if", "wurse"},
			[]string{`"wurse" is none of worse`, "did you mean worse?"}},
		"CompareMetric": {[]string{"compare", "--command-a", "a", "--command-b", "b", "--fail-if", "latency: worse"},
			[]string{`no metric "latency"`, "did you mean latency_ms?"}},
		"CompareBaseline": {[]string{"compare", "--baseline", "latest", "--pairs", "9"},
			[]string{"--pairs has no effect with --baseline"}},
		"ArchiveName": {[]string{"export", "--archive", "x.rar"}, []string{"ends in .tar.zst or .zip"}},
	} {
		t.Run(name, func(t *testing.T) {
			plimsoll(t, c.args...).want(t, usageOr(c.args), c.says...)
		})
	}
	if ids, err := store.Default().IDs(); err != nil || len(ids) > 0 {
		t.Errorf("runs were made: %v, %v", ids, err)
	}
}

// usageOr is the code of a mistake: a file that cannot be written is the machine's.
func usageOr(args []string) int {
	if args[len(args)-2] == "--junit" {
		return ExitEnvironment
	}
	return ExitUsage
}

// benchOf is a program whose latency is known; each run differs a little.
func benchOf(t *testing.T, ms string) string {
	t.Helper()
	path := files.Write(t, t.TempDir(), "bench", "#!/bin/sh\necho '{\"figures\": {\"latency_ms\": '$(("+ms+
		" + PLIMSOLL_COMPARE_ROUND % 3))'}}'\n")
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A slower system is an answer, and no failure, unless a gate says so.
func TestCompare_Gates(t *testing.T) {
	freshState(t)
	fast, slow := benchOf(t, "100"), benchOf(t, "150")
	compared := func(a, b string, gates ...string) outcome {
		args := []string{"compare", "--command-a", a, "--command-b", b, "--pairs", "8", "--quiet"}
		for _, g := range gates {
			args = append(args, "--fail-if", g)
		}
		return plimsoll(t, args...)
	}
	compared(fast, slow).want(t, ExitOK)
	o := compared(fast, slow, "worse")
	o.want(t, ExitThreshold, "1 of 1 gate failed: B: worse (failed: +4")
	if !strings.Contains(o.stdout, "FAILED     B: worse") || strings.Count(o.stdout, "\n") > 25 {
		t.Errorf("want the gate, on one screen:\n%s", o.stdout)
	}
	compared(slow, fast, "worse").want(t, ExitOK)
	compared(fast, fast, "worse", "not equal").want(t, ExitOK)
	compared(fast, fast, "not better").want(t, ExitThreshold, "B: not better")
	compared(fast, slow, "latency_ms_p95: worse").want(t, ExitThreshold,
		"cannot be decided: the runs have no such figure")
	show := plimsoll(t, "compare", "--show", "latest", "--fail-if", "worse", "--json")
	var shown struct {
		Gates []result.Gate `json:"gates"`
		ID    string        `json:"id"`
	}
	show.decode(t, &shown)
	if show.code != ExitThreshold || len(shown.Gates) != 1 || shown.ID == "" {
		t.Errorf("exit %d, %+v", show.code, shown)
	}
}
