package report

import (
	"fmt"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// unknown stands for what was not measured.
const unknown = "–"

func score(s *float64) string { return human.Known(s, unknown, apdex.Text) }

// markedScore has the specification's mark for a small group.
func markedScore(s *float64, n int64) string {
	if s == nil || n >= apdex.SmallGroup {
		return score(s)
	}
	return score(s) + "*"
}

func interval(i *apdex.Interval) string {
	if i == nil {
		return unknown
	}
	return fmt.Sprintf("%s–%s", score(&i.Low), score(&i.High))
}

func millis(ms *float64) string { return human.Known(ms, unknown, human.Millis) }

func percent(share *float64) string { return human.Known(share, "unavailable", human.Share) }

// refusals stand next to the score, which counts them as answers; absent in older results.
func refusals(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf(", %s refused", percent(share))
}

// retried operations were tried more than once; what they took is in the latency.
func retried(t result.Totals) string {
	if t.Retried == 0 {
		return ""
	}
	share := float64(t.Retried) / float64(max(1, t.Ops))
	return fmt.Sprintf(", %s tried again, %s times in all", percent(&share), human.Thousands(t.Retries))
}

// reconciled summarizes the comparison of acknowledged operations with the database; differences are among the reasons.
func reconciled(c *result.Reconciliation) string {
	if !c.Done {
		return "no: " + c.Error
	}
	var acknowledged, unknown, differ int64
	for _, row := range c.Rows {
		acknowledged, unknown = acknowledged+row.Acknowledged, unknown+row.Unknown
		if row.Differs() {
			differ++
		}
	}
	text := fmt.Sprintf("%s acknowledged operations and documents with the database", human.Thousands(acknowledged))
	if unknown > 0 {
		text += fmt.Sprintf(", %s with an unknown outcome", human.Thousands(unknown))
	}
	if differ > 0 {
		return text + fmt.Sprintf(": %d of %d counts differ", differ, len(c.Rows))
	}
	return text + ": no difference"
}

// shareText is empty if unknown.
func shareText(share *float64) string { return human.Known(share, "", human.Share) }

// portion of the answered operations of a histogram.
func portion(n int64, h apdex.Histogram) string {
	var all int64
	for _, k := range h {
		all += k
	}
	if all == 0 {
		return unknown
	}
	return human.Percent1(float64(n) / float64(all))
}

// verdict is the word next to the score.
func verdict(r *result.Result) string {
	switch {
	case r.Valid:
		return "valid"
	case r.Interrupted:
		return "stopped by the user"
	}
	return "INVALID"
}

// Audit of the books in a few words.
func Audit(a result.Audit) string { return auditLine(a) }

func auditLine(a result.Audit) string {
	switch {
	case a.None:
		return "no audit: without the ERP there are no books"
	case !a.Done:
		return "not done: " + a.Error
	case a.Clean:
		return "clean"
	}
	return human.Count(a.Violations, "violation")
}

// auditMode says how much of the books was checked; unknown in older results.
func auditMode(a result.Audit) string {
	switch a.Mode {
	case "all":
		return " of everything"
	case "changed":
		return " of what changed since the clean point"
	}
	return ""
}
