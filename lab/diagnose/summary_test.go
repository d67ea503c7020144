package diagnose

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSummary_FitsOnAScreen(t *testing.T) {
	price, long := 0.4, strings.Repeat("sessions wait for a lock of the table ", 12)
	d := &Diagnosis{LastedS: 10, Stopped: "by the user", Ledger: Ledger{TotalS: 10, Sessions: 3}}
	for range 9 {
		d.Findings = append(d.Findings, Finding{Title: long, Level: Problem, Price: &price,
			Evidence: []string{long, long}, Next: []string{long}, Mechanism: long})
		d.Ledger.Lines = append(d.Ledger.Lines, Line{Name: "waiting for locks", S: 1, Share: 0.1})
		d.Healthy = append(d.Healthy, long)
		d.Contradictions = append(d.Contradictions, Contradiction{Verdict: Contradicts, Says: long})
		d.Unavailable = append(d.Unavailable, Source{Name: "x"})
	}
	text := summaryOf(t, d)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 25 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > summaryWidth {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, want := range []string{"9 PROBLEMS, 0 notes", "40 %", "seen  ", "next  ", "and 6 findings more",
		"9 pairs of measurements", "--details"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	for want, d := range map[string]*Diagnosis{"NOTHING TO DIAGNOSE": {}, "NO CAUSE": {Ledger: Ledger{TotalS: 1}}} {
		if text := summaryOf(t, d); !strings.Contains(text, want) {
			t.Errorf("want %s:\n%s", want, text)
		}
	}
}

func summaryOf(t *testing.T, d *Diagnosis) string {
	t.Helper()
	var b strings.Builder
	if err := d.Summary(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
