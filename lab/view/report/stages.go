package report

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// stageLoad is what a stage asks for.
func stageLoad(s result.Stage) string {
	if s.RatePerS != nil {
		return human.Decimal(*s.RatePerS, 2) + " per s"
	}
	return human.Thousands(int64(result.ValueOrZero(wholeOf(s.Users)))) + " users"
}

func wholeOf(n *int) *float64 {
	if n == nil {
		return nil
	}
	x := float64(*n)
	return &x
}

// stages is a table of them; nothing without any.
func stages(b *strings.Builder, all []result.Stage) error {
	if len(all) == 0 {
		return nil
	}
	var t table
	t.add("stage", "from s", "to s", "count", "failed", "per s", "Apdex", "p50 ms", "p95", "p99")
	for _, s := range all {
		t.add(stageLoad(s), human.Decimal(s.FromS, 1), human.Decimal(s.ToS, 1), human.Thousands(s.Ops),
			human.Thousands(s.Failed), human.Decimal(s.OpsPerS, 1), markedScore(s.Apdex, s.Ops), millis(s.P50MS),
			millis(s.P95MS), millis(s.P99MS))
	}
	if err := t.write(b); err != nil {
		return err
	}
	b.WriteString("\n")
	return nil
}

// stageLine has the score of each stage; empty without any.
func stageLine(all []result.Stage) string {
	var texts []string
	for _, s := range all {
		score := unknown
		if s.Apdex != nil {
			score = apdex.Text(*s.Apdex)
		}
		texts = append(texts, fmt.Sprintf("%s %s", stageLoad(s), score))
	}
	if len(texts) == 0 {
		return ""
	}
	return "Apdex by stage: " + strings.Join(texts, ", ")
}
