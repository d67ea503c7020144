package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/lab/line"
)

// lacks reports which parts a summary does not have.
func lacks(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// What a CI server reads of a search names each configuration, and its gates in the order failed, undecided, passed.
func TestLineGates_AreSummed(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	searched := func(name string, users int, low, high float64) *line.Line {
		return &line.Line{ID: "l1", Complete: true,
			Plan:   line.Plan{Configuration: name, Target: 0.85, Scenario: "shop", Digest: "d1", Seed: 3, ThinkS: 1},
			Answer: &line.Answer{Users: users, Interval: &line.UsersInterval{Low: at(low), High: at(high)}}}
	}
	slow, near := searched("slow", 200, 150, 240), searched("near", 510, 400, 600)
	fast := searched("fast", 900, 800, 990)
	gates, err := lineGates([]string{"users < 500"}, []string{"slow", "near", "fast"})
	if err != nil {
		t.Fatal(err)
	}
	found := &line.Found{ID: "l1", Result: &line.Comparison{Headline: "fast carries most",
		Lines: []line.Compared{{Line: slow}, {Line: near}, {Line: fast}, {Line: fast, Control: true}}}}
	judged := judgeLineGates(gates, found)
	report := lineReport(found, judged, "ci")
	var x, m bytes.Buffer
	if err := errors.Join(report.JUnit(&x), report.Markdown(&m)); err != nil {
		t.Fatal(err)
	}
	lacks(t, "JUnit", x.String(), `<testsuite name="gates" package="plimsoll.line"`,
		`tests="3" failures="1" errors="1"`, `name="slow: users &lt; 500"`, `name="near: users &lt; 500"`,
		`name="fast: users &lt; 500"`,
		`value="fast carries most"`, "the limit lies within the interval")
	lacks(t, "Markdown", m.String(), "### plimsoll line: **not passed**", "fast carries most",
		"| slow: users &lt; 500 | **failed** |", "| near: users &lt; 500 | **cannot be decided** |",
		"| fast: users &lt; 500 | passed |", "| slow at Apdex 0.85 | passed |")
	if text := m.String(); strings.Index(text, "slow: users") > strings.Index(text, "fast: users") {
		t.Errorf("what failed does not come first:\n%s", text)
	}
	err = lineGatesError(judged)
	if err == nil || !strings.Contains(err.Error(), "1 of 3 gates failed, 1 cannot be decided: slow: users < 500") {
		t.Errorf("want the counts and the gate that failed, got %v", err)
	}
}

func TestCompareGates_AreSummed(t *testing.T) {
	freshState(t)
	dir := t.TempDir()
	x, m := filepath.Join(dir, "gates.xml"), filepath.Join(dir, "gates.md")
	plimsoll(t, "compare", "--command-a", benchOf(t, "100"), "--command-b", benchOf(t, "150"), "--pairs", "8",
		"--quiet", "--fail-if", "worse", "--fail-if", "latency_ms_p95: worse", "--junit", x, "--markdown", m).want(t,
		ExitThreshold, "1 of 2 gates failed, 1 cannot be decided: B: worse (failed: +4")
	for file, parts := range map[string][]string{
		x: {`<testsuite name="comparison" package="plimsoll.compare"`, `name="B against A`,
			`<testsuite name="gates" package="plimsoll.compare"`, `tests="2" failures="1" errors="1"`,
			`name="B: worse"`, `name="B: latency_ms_p95: worse"`},
		m: {"### plimsoll compare: **not passed**", "| B: worse | **failed** |",
			`| B: latency\_ms\_p95: worse | **cannot be decided** | the runs have no such figure`},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lacks(t, filepath.Base(file), string(text), parts...)
	}
}
