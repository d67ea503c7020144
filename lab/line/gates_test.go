package line

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"plimsoll/lab/run/result"
)

// Only an interval that lies wholly on one side of the limit decides.
func TestGates_WantTheWholeInterval(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	gates, err := parseGates([]string{"users < 500"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		low, high *float64
		want      result.GateVerdict
	}{
		"Above":   {at(520), at(700), result.GatePassed},
		"Open":    {at(520), nil, result.GatePassed},
		"Below":   {at(100), at(480), result.GateFailed},
		"Within":  {at(400), at(600), result.GateUndecided},
		"Unknown": {nil, nil, result.GateUndecided},
	} {
		l := &Line{Answer: &Answer{Users: 510, Interval: &UsersInterval{Low: c.low, High: c.high}}}
		found := &Found{Result: l}
		if found.judgeGates(gates); len(found.Gates) != 1 || found.Gates[0].Verdict != c.want {
			t.Errorf("%s: %+v", name, found.Gates)
		}
	}
}

// The character of a mistake is one that a person counts, whatever the letters.
func TestGates_NameTheCharacter(t *testing.T) {
	for text, want := range map[string]string{"slow: users < many": "character 15: users takes",
		"узел: users < many": "character 15: users takes", "узел: ops < 5": "character 7: a search"} {
		if _, err := parseGates([]string{text}, []string{"slow", "узел"}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

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
func TestGates_AreSummed(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	searched := func(name string, users int, low, high float64) *Line {
		return &Line{ID: "l1", Complete: true,
			Plan:   Plan{Configuration: name, Target: 0.85, Scenario: "shop", Digest: "d1", Seed: 3, ThinkS: 1},
			Answer: &Answer{Users: users, Interval: &UsersInterval{Low: at(low), High: at(high)}}}
	}
	slow, near := searched("slow", 200, 150, 240), searched("near", 510, 400, 600)
	fast := searched("fast", 900, 800, 990)
	gates, err := parseGates([]string{"users < 500"}, []string{"slow", "near", "fast"})
	if err != nil {
		t.Fatal(err)
	}
	found := &Found{ID: "l1", Result: &Comparison{Headline: "fast carries most",
		Lines: []Compared{{Line: slow}, {Line: near}, {Line: fast}, {Line: fast, Control: true}}}}
	found.judgeGates(gates)
	report := found.report()
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
	err = result.JudgeGates(found.Gates, gateHint)
	if err == nil || !strings.Contains(err.Error(), "1 of 3 gates failed, 1 cannot be decided: slow: users < 500") {
		t.Errorf("want the counts and the gate that failed, got %v", err)
	}
}
