package advise

import (
	"fmt"
	"strings"
	"testing"
)

func TestSummary_FitsOnAScreen(t *testing.T) {
	long := strings.Repeat("an index that nobody uses costs writes ", 12)
	r := &Report{Diagnosis: long, Unavailable: []Unavailable{{}}, Healthy: []string{"a", "b"}}
	for i, level := range []Level{Harmful, Problem, Problem, Note, Note, Note, Note, Note, Note, Note} {
		r.Advice = append(r.Advice, Advice{ID: fmt.Sprintf("index:%d", i), Level: level, Title: long,
			Do: []string{long}, Mechanism: "mechanism"})
	}
	text := summaryOf(t, r)
	if n := strings.Count(text, "\n"); n > 25 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"1 HARMFUL, 2 PROBLEMS, 7 notes", "index:7  ", "and 2 more", "--details"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "mechanism\n") {
		t.Error("it has the mechanism")
	}
	if text := summaryOf(t, &Report{}); !strings.Contains(text, "NOTHING TO CHANGE") {
		t.Error(text)
	}
}

func summaryOf(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Summary(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
