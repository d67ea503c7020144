package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

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
		return fmt.Sprintf("%s: too few runs to say anything, at least %d of each side are needed", f.Side,
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

// effectText is the effect with its interval: +10.2 % (8.1 % to 12.0 %).
func effectText(m Metric, r verdict.Row) string {
	switch {
	case r.Verdict == verdict.TooFew:
		return "-"
	case nowhere(r):
		return "none on either side"
	case mostlyNothing(r):
		return fmt.Sprintf("0 in most runs, more in %.0f %%, less in %.0f %%", 100*r.Above, 100*r.Below)
	case r.Scale == verdict.Ratio && (r.High >= 3 || r.Effect >= 2):
		return fmt.Sprintf("×%s (%s to %s)", timesText(r.Effect), timesText(r.Low), timesText(r.High))
	case r.Scale == verdict.Ratio:
		return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*(r.Effect-1), 100*(r.Low-1), 100*(r.High-1))
	case m.Share:
		return fmt.Sprintf("%+.1f points (%+.1f to %+.1f)", 100*r.Effect, 100*r.Low, 100*r.High)
	}
	return fmt.Sprintf("%+.3g (%+.3g to %+.3g)", r.Effect, r.Low, r.High)
}

// nowhere was the figure above 0.
func nowhere(r verdict.Row) bool {
	return r.Above == 0 && r.Below == 0 && r.Base == 0 && r.Variant == 0
}

// mostlyNothing: most runs do not differ, and those that do are what the verdict is about.
func mostlyNothing(r verdict.Row) bool {
	none := func(v float64) bool { return v == 0 || r.Scale == verdict.Ratio && v == 1 }
	switch r.Verdict {
	case verdict.Better, verdict.Worse:
		return none(r.Effect)
	case verdict.Inconclusive:
		return none(r.Effect) && none(r.Low) && none(r.High)
	}
	return false
}

func timesText(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// verdictText says more if a row is not decided.
func verdictText(r verdict.Row) string {
	if r.Verdict == verdict.Inconclusive && mostlyNothing(r) && r.Above+r.Below > 0 {
		return "inconclusive, seen in too few runs"
	}
	if r.Verdict == verdict.Inconclusive {
		return fmt.Sprintf("inconclusive, +%s pairs", moreText(r.MorePairs))
	}
	return string(r.Verdict)
}

// OverallText names the row of all operations.
const overallText = "all operations"

var columns = []string{"", "A", "B", "effect (interval)", "verdict"}

// summary has a row for each metric, over all operations.
func (f Finding) summary() (rows [][]string) {
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if r.Operation == "" {
				rows = append(rows, cells(t.Metric, t.label(), r.Row))
			}
		}
	}
	return rows
}

// rowsOf lists the operations of a metric.
func (f Finding) rowsOf(metric string) (rows [][]string) {
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if t.Name == metric && r.Operation != "" && !(t.Share && nowhere(r.Row)) {
				rows = append(rows, cells(t.Metric, r.Operation, r.Row))
			}
		}
	}
	return rows
}

func (m Metric) label() string {
	if m.Unit == "" {
		return m.Title
	}
	return m.Title + ", " + m.Unit
}

func cells(m Metric, name string, r verdict.Row) []string {
	value := func(v float64, runs int) string {
		if m.Share && runs > 0 {
			return shareText(v)
		}
		return figureText(v, runs)
	}
	return []string{name, value(r.Base, r.Runs[0]), value(r.Variant, r.Runs[1]), effectText(m, r), verdictText(r)}
}

func shareText(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// text of a figure with its unit.
func (m Metric) text(v float64) string {
	if m.Share {
		return shareText(v)
	}
	return strings.TrimSpace(figureText(v, 1) + " " + strings.TrimPrefix(m.Unit, "/s"))
}

func figureText(v float64, runs int) string {
	switch {
	case runs == 0:
		return "-"
	case v >= 1000 || v <= -1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}

// waitsShown is the number of waits shown in a terminal.
const waitsShown = 12

// waitRows lists the waits and marks those of one side alone.
func (f Finding) waitRows(most int) (rows [][]string) {
	for _, w := range f.Waits {
		name := strings.TrimSpace(w.Type + " " + w.Event)
		if name == "" {
			name = "running (no wait)"
		}
		row := cells(Metric{}, name, w.Row)
		if w.OnlyIn != "" {
			row[4] += ", only in " + w.OnlyIn
		}
		if len(rows) < most {
			rows = append(rows, row)
		}
	}
	return rows
}

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
	b.WriteString("\n")
	for _, line := range c.conditionLines() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) findingText(b *strings.Builder, f Finding) {
	head := append([]string{}, columns...)
	head[2] = f.Side
	table := func(title string, rows [][]string) {
		if len(rows) == 0 {
			return
		}
		head[0] = title
		b.WriteString("\n")
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{head}, rows...) {
			fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
		}
		_ = t.Flush() // into memory
	}
	table(overallText, f.summary())
	table(c.Plan.metric().label(), f.rowsOf(c.Plan.Metric))
	if c.Plan.Metric != "apdex" {
		table("Apdex", f.rowsOf("apdex"))
	}
	table("waiting sessions, ms per operation", f.waitRows(waitsShown))
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
		lines = append(lines, fmt.Sprintf("figures and verdicts are those of the planned look after %d pairs: to "+
			"judge in between would raise the error", c.JudgedAfter))
	}
	if !c.Complete {
		lines = append(lines, "not complete: stopped ("+c.Stopped+")")
	}
	if spent := verdict.Spent(c.Plan.Looks); spent > verdict.Alpha+1e-9 {
		lines = append(lines, fmt.Sprintf("pairs were added after all looks were made: the error is at most %.1f %%",
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
		add("put back before each run by:", side.Clearing)
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
		lines = append(lines, "in latencies an operation that failed, or was refused for overload, counts with "+timeout)
	}
	return append(lines, "over all operations latency is the geometric mean, weighted by the mix",
		"verdicts of operations are corrected by Holm for their number; metrics are not corrected for each other")
}
