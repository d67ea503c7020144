package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/lab/apdex"
	"plimsoll/lab/result"
)

// unknown stands for what was not measured.
const unknown = "–"

func score(s *float64) string {
	if s == nil {
		return unknown
	}
	return apdex.Text(*s)
}

// markedScore has the specification's mark of a small group.
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

// count has thousands set apart.
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

// millis has as many digits as a person can use.
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

// verdict is the word that stands beside the score.
func verdict(r *result.Result) string {
	switch {
	case r.Valid:
		return "valid"
	case r.Interrupted:
		return "stopped by hand"
	}
	return "INVALID"
}

// Audit of the books in a word or a few.
func Audit(a result.Audit) string { return auditLine(a) }

func auditLine(a result.Audit) string {
	switch {
	case a.None:
		return "no audit: without the ERP there are no books to check"
	case !a.Done:
		return "not done: " + a.Error
	case a.Clean:
		return "clean"
	}
	return fmt.Sprintf("%s %s", count(int64(a.Violations)), plural(a.Violations, "violation"))
}

// auditMode tells what of the books was looked at; older results do not say.
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
