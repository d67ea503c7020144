package compare

import (
	"fmt"
	"strings"

	"plimsoll/lab/prove/compare/verdict"
)

// Statement is the answer in one sentence.
func (c *Comparison) Statement() string {
	if len(c.Findings) == 0 {
		return "nothing was compared"
	}
	var parts []string
	for _, f := range c.Findings {
		parts = append(parts, f.statement(c))
	}
	return strings.Join(parts, "; ")
}

func (f Finding) statement(c *Comparison) string {
	title := c.Plan.metric().Title
	effect := title + " " + effectText(c.Plan.metric(), f.Headline)
	switch {
	case f.Verdict == verdict.TooFew:
		return fmt.Sprintf("%s: too few runs for a statement; at least %d of each side are needed", f.Side,
			verdict.RunsMin)
	case c.JudgedAfter == 0:
		return fmt.Sprintf("%s against A is provisional: the first planned look is after %d pairs, so far %s", f.Side,
			c.Plan.Looks[0].Pairs, effect)
	case f.Verdict == verdict.Inconclusive && f.Because != "":
		text := fmt.Sprintf("%s is not called %s: %s, but %s", f.Side, calledText(f.Headline.Verdict), effect,
			f.Because)
		if f.Headline.MorePairs > 0 {
			text += fmt.Sprintf("; about %s more pairs are needed", moreText(f.Headline.MorePairs))
		}
		return text
	case f.Because != "":
		return fmt.Sprintf("%s is %s than A: %s; %s", f.Side, f.Verdict, f.Because, effect)
	case f.Verdict == verdict.Equal:
		return fmt.Sprintf("%s equals A within %s: %s", f.Side, marginText(c.Plan.metric(), f.Headline), effect)
	case f.Verdict == verdict.Inconclusive:
		return fmt.Sprintf("%s against A is inconclusive: %s; about %s more pairs are needed", f.Side, effect,
			moreText(f.Headline.MorePairs))
	}
	return fmt.Sprintf("%s is %s than A: %s", f.Side, f.Verdict, effect)
}

// metric that decides.
func (p Plan) metric() Metric { return metricOf(p.Metric, nil) }

// calledText is "better than A" or "equal to A".
func calledText(v verdict.Verdict) string {
	if v == verdict.Equal {
		return "equal to A"
	}
	return string(v) + " than A"
}

func moreText(n int) string {
	if n >= 1000 {
		return "1,000 or more"
	}
	return fmt.Sprint(n)
}

func marginText(m Metric, r verdict.Row) string {
	switch {
	case r.Scale == verdict.Ratio:
		return fmt.Sprintf("%.3g %%", 100*r.Margin)
	case m.Share:
		return fmt.Sprintf("%.3g points", 100*r.Margin)
	}
	return fmt.Sprintf("%.3g", r.Margin)
}
