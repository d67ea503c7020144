package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/web"
)

// Text writes the comparison for a terminal.
func (c *Comparison) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nComparison %s  %s\n\n", c.ID, c.Started.Format(whenFormat))
	if c.Title != "" {
		fmt.Fprintf(&b, "  %s\n", c.Title)
	}
	for i, side := range c.Plan.Sides {
		fmt.Fprintf(&b, "  %s  %s\n", Letter(i), side.Name)
	}
	fmt.Fprintf(&b, "\n  %s\n", c.Statement())
	for _, line := range c.evidence() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	for _, f := range c.Findings {
		c.findingText(&b, f)
	}
	if err := c.besideText(&b); err != nil {
		return err
	}
	b.WriteString("\n")
	for _, line := range c.conditionLines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) findingText(b *strings.Builder, f Finding) {
	for _, t := range []web.Table{f.table(overallText, f.summary()),
		f.table(c.Plan.metric().label(), f.rowsOf(c.Plan.Metric)), f.table("Apdex", f.rowsOf("apdex")),
		f.table("waiting sessions, ms per operation", f.waitRows(waitsShown))} {
		if len(t.Rows) == 0 || t.Title == "Apdex" && c.Plan.Metric == "apdex" {
			continue
		}
		b.WriteString("\n")
		t.Columns[0] = t.Title
		_ = t.Text(b, "  ") // into memory
	}
	if f.AtOneUser != nil {
		fmt.Fprintf(b, "\n  one user without think time: %s\n", f.AtOneUser.text(c.Plan.metric()))
	}
}

// text of the control with the effect of the metric that decides.
func (a *AtOneUser) text(m Metric) string {
	return a.Says + ": " + m.Title + " " + effectText(m, a.Row)
}

// evidence is what the answer is based on.
func (c *Comparison) evidence() (lines []string) {
	d := c.dataOf(Load, 0)
	voids := 0
	for _, r := range c.Runs {
		if r.Void != "" {
			voids++
		}
	}
	text := fmt.Sprintf("%d of at most %d pairs", d.rounds(), c.Plan.Pairs)
	switch {
	case voids == 1:
		text += ", 1 run was void and repeated"
	case voids > 1:
		text += fmt.Sprintf(", %d runs were void and repeated", voids)
	}
	if n := len(c.Findings); n > 0 && c.Findings[0].DecidedAfter > 0 {
		text += fmt.Sprintf("; decided at the planned look after %d", c.Findings[0].DecidedAfter)
	}
	lines = append(lines, text)
	if made := d.rounds(); c.JudgedAfter > 0 && made > c.JudgedAfter {
		lines = append(lines, fmt.Sprintf("figures and verdicts are those of the planned look after %d pairs: "+
			"judging in between would raise the error rate", c.JudgedAfter))
	}
	if !c.Complete {
		lines = append(lines, "not complete: stopped ("+c.StoppedBy()+")")
	}
	if spent := verdict.Spent(c.Plan.Looks); spent > verdict.Alpha+1e-9 {
		lines = append(lines, fmt.Sprintf("pairs were added after the last planned "+
			"look: the error rate is at most %.1f %%",
			100*spent))
	}
	m := c.Plan.metric()
	switch {
	case c.Floor == nil:
		lines = append(lines, "A/A floor: not known, too few runs")
	case m.Amount > 0:
		lines = append(lines, fmt.Sprintf("A/A floor: A differs from itself by up to %.3g (from its own runs)",
			*c.Floor))
	default:
		lines = append(lines, fmt.Sprintf("A/A floor: A differs from itself by up to %.1f %% (from its own runs)",
			100**c.Floor))
	}
	return append(lines, c.Warnings...)
}

func (c *Comparison) conditionLines() (lines []string) {
	p := c.Plan
	if p.Replay != nil {
		lines = append(lines, p.Replay.String())
	}
	if p.DurationS > 0 {
		lines = append(lines, fmt.Sprintf("runs of %.3g s after a ramp of %.3g s, think time %.3g s; blocks ABBA by "+
			"random seed %d", p.DurationS, p.RampS, p.ThinkS, p.Seed))
	}
	if p.Restarted {
		lines = append(lines, "the server is restarted before each run with its side's settings: its buffers begin "+
			"empty")
	}
	for i, side := range p.Sides {
		var parts []string
		add := func(name, value string) {
			if value != "" {
				parts = append(parts, name+" "+value)
			}
		}
		add("scenario", side.Scenario)
		if side.Users > 0 {
			add("users", fmt.Sprint(side.Users))
		}
		add("base before each run:", side.Reset)
		add("restored before each run by:", side.Restore)
		add("SQL before each run:", strings.Join(strings.Fields(side.SQL), " "))
		add("proxy before the database, delay", side.ProxyDelay)
		add("command:", strings.Join(side.Command, " "))
		lines = append(lines, Letter(i)+": "+strings.Join(parts, ", "))
	}
	missing := map[string]bool{}
	for _, r := range c.Runs {
		for _, m := range r.Missing {
			if text := r.Side + ": cold start: " + m; !missing[text] {
				missing[text] = true
				lines = append(lines, text)
			}
		}
	}
	if n := len(c.Findings); n > 0 && c.Findings[0].Verdict != verdict.TooFew {
		lines = append(lines, fmt.Sprintf("intervals have %.1f %% confidence, that of the look after %d pairs",
			100*c.Findings[0].Headline.Confidence, c.Findings[0].Headline.Runs[0]))
	}
	if slices.ContainsFunc(c.Runs, func(r Replica) bool { return r.Figures[""][failedShare] > 0 }) {
		timeout := "the timeout"
		if p.TimeoutS > 0 {
			timeout = fmt.Sprintf("the timeout of %.3g s", p.TimeoutS)
		}
		lines = append(lines, "in latencies an operation that failed, or was refused for overload, counts with "+
			timeout)
	}
	return append(lines, "over all operations latency is the geometric mean, weighted by the mix",
		"verdicts of operations are corrected by Holm for their number; metrics are not corrected for each other")
}
