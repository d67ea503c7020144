package compare

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/human"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/web"
)

// WriteJSON writes it, indented, with a final newline.
func (p *Past) WriteJSON(w io.Writer) error { return kept.JSON(w, p) }

// statement is the answer in a sentence.
func (p *Past) statement() string {
	effect := p.Metric.Title + " " + p.effect(p.Headline)
	switch {
	case p.Verdict == verdict.Worse && p.Because != "":
		return "worse than the baseline: " + p.Because
	case p.Verdict == verdict.Worse:
		return "worse than the baseline: " + effect
	case p.Verdict == verdict.NotWorse:
		return fmt.Sprintf("not worse than the baseline: %s; a worsening of %s is found in 8 of 10 such comparisons",
			effect, p.amount(p.Headline, p.Headline.Detects))
	case p.Because != "":
		return "cannot be decided: " + p.Because
	case p.Verdict == verdict.TooFew:
		return fmt.Sprintf("cannot be decided: %s cannot show a difference%s", p.runs(), p.more())
	}
	return fmt.Sprintf("cannot be decided: %s; such runs find a worsening of %s in 8 of 10 comparisons, not one of "+
		"%s%s", effect, p.amount(p.Headline, p.Headline.Detects), p.amount(p.Headline, p.Headline.Margin), p.more())
}

func (p *Past) runs() string {
	noun := "run"
	if p.BySession {
		noun = "session"
	}
	return fmt.Sprintf("%d new %s against %d stored", p.Headline.Runs[1],
		strings.TrimPrefix(human.Count(p.Headline.Runs[1], noun), fmt.Sprint(p.Headline.Runs[1], " ")),
		p.Headline.Runs[0])
}

// more says how many runs would do.
func (p *Past) more() string {
	var ways []string
	if n := p.Headline.MoreNew; n > 0 {
		ways = append(ways, fmt.Sprintf("%d more new", n))
	}
	if n := p.Headline.MoreStored; n > 0 {
		ways = append(ways, fmt.Sprintf("%d more stored", n))
	}
	if len(ways) == 0 {
		return ""
	}
	return "; " + strings.Join(ways, " or ") + " would"
}

// effect with its interval.
func (p *Past) effect(v verdict.Past) string {
	row := verdict.Row{Scale: v.Scale, Effect: v.Effect, Low: v.Low, High: v.High, Base: v.Stored, Variant: v.New,
		Above: 1}
	if v.Runs[0] == 0 || v.Runs[1] == 0 {
		return "-"
	}
	return effectText(p.Metric, row)
}

// amount of a distance from no difference.
func (p *Past) amount(v verdict.Past, distance float64) string {
	switch {
	case v.Scale == verdict.Ratio:
		return human.Share(distance)
	case p.Metric.Share:
		return human.Decimal(100*distance, 1) + " points"
	}
	return human.Figure(distance, 3)
}

// Text writes the answer for a terminal; with details also the operations and the runs.
func (p *Past) Text(w io.Writer, details bool) error {
	var b strings.Builder
	text := func(first, says string) { b.WriteString(human.Hanging(first, says, columns, 0)) }
	b.WriteString("\n")
	text("  ", p.Says)
	text("  ", fmt.Sprintf("%s, of %s; error of a false alarm %s, intervals %.0f %%", p.runs(),
		human.Count(p.Sessions, "session"), human.Percent(verdict.Alpha), 100*p.Headline.Confidence))
	for _, warning := range p.Warnings {
		text("  warning: ", warning)
	}
	for _, one := range p.LeftOut {
		text("  left out: ", one)
	}
	t := p.Table()
	left := 0
	if !details {
		left = max(0, len(t.Rows)-pastShown)
		t.Rows = t.Rows[:len(t.Rows)-left]
	}
	if len(t.Rows) > 0 {
		b.WriteString("\n")
		if err := t.Text(&b, "  "); err != nil {
			return err
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "  %s more: --details\n", human.Count(left, "operation"))
	}
	if details {
		b.WriteString("\n")
		for _, r := range p.Stored {
			fmt.Fprintf(&b, "  stored  %s\n", r.ID)
		}
		for _, r := range p.New {
			fmt.Fprintf(&b, "  new     %s\n", r.ID)
		}
	}
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

// pastShown are the operations that fit on a screen.
const pastShown = 12

// Table of the operations, the worst first.
func (p *Past) Table() web.Table {
	t := web.Table{Title: p.Metric.label() + " by operation", Names: true, Says: true,
		Columns: []string{p.Metric.label(), "stored", "new", "effect (interval)", "verdict"}}
	for _, order := range []verdict.Verdict{verdict.Worse, verdict.Inconclusive, verdict.TooFew, verdict.NotWorse} {
		for _, one := range p.Operations {
			if one.Verdict == order {
				t.Rows = append(t.Rows, []string{one.Operation, figureText(one.Stored, 1), figureText(one.New, 1),
					p.effect(one.Past), string(one.Verdict)})
			}
		}
	}
	return t
}
