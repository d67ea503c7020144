package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
)

// unknown stands for what was not measured.
const unknown = "–"

func score(s *float64) string {
	if s == nil {
		return unknown
	}
	return apdex.Text(*s)
}

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

// count has thousands separators.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// millis has as many digits as are useful.
func millis(ms *float64) string {
	switch {
	case ms == nil:
		return unknown
	case *ms < 9.95:
		return fmt.Sprintf("%.1f", *ms)
	}
	return count(int64(math.Round(*ms)))
}

func percent(share *float64) string {
	switch {
	case share == nil:
		return "unavailable"
	case *share > 0 && *share < 0.1:
		return fmt.Sprintf("%.1f %%", 100**share)
	}
	return fmt.Sprintf("%.0f %%", 100**share)
}

// refusals stand next to the score, which counts them as answers; absent in older results.
func refusals(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf(", %s refused", percent(share))
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
	text := fmt.Sprintf("%s acknowledged operations and documents with the database", count(acknowledged))
	if unknown > 0 {
		text += fmt.Sprintf(", %s with an unknown outcome", count(unknown))
	}
	if differ > 0 {
		return text + fmt.Sprintf(": %d of %d counts differ", differ, len(c.Rows))
	}
	return text + ": no difference"
}

// shareText is empty if unknown.
func shareText(share *float64) string {
	if share == nil {
		return ""
	}
	return percent(share)
}

// portion of the answered operations of a histogram.
func portion(n int64, h apdex.Histogram) string {
	var all int64
	for _, k := range h {
		all += k
	}
	if all == 0 {
		return unknown
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(all))
}

func seconds(s float64) string {
	if s > 0 && s < 1 {
		return strconv.FormatFloat(math.Round(s*1000)/1000, 'f', -1, 64) + " s"
	}
	if s >= 120 && math.Mod(s, 60) == 0 {
		return fmt.Sprintf("%.0f min", s/60)
	}
	return strconv.FormatFloat(math.Round(s*10)/10, 'f', -1, 64) + " s"
}

func size(n float64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", n/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", n/(1<<20))
	}
	return fmt.Sprintf("%.1f KB", n/(1<<10))
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
	return fmt.Sprintf("%s %s", count(int64(a.Violations)), plural(a.Violations, "violation"))
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

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
