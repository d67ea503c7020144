package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/compare/verdict"
)

// What of a comparison fits on one screen.
const (
	columns           = 100
	summaryOperations = 5
	summaryEvidence   = 4
)

// summaryMetrics are shown whatever they say; others only where they differ.
var summaryMetrics = []string{MetricDefault, "latency_ms_p95", "apdex", throughput, failedShare}

// Summary writes what matters of a comparison on one screen: the answer, what it rests on, and what differs. Text has
// the rest.
func (c *Comparison) Summary(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\n" + human.Hanging("  ", c.Statement(), columns, 4))
	for i, side := range c.Plan.Sides {
		b.WriteString(human.Hanging("  "+Letter(i)+"  ", side.Name, columns, 1))
	}
	for i, line := range c.evidence() {
		if i == summaryEvidence {
			break
		}
		b.WriteString(human.Hanging("  ", line, columns, 1))
	}
	for _, f := range c.Findings {
		if err := c.findingSummary(&b, f); err != nil {
			return err
		}
	}
	if err := c.besideText(&b); err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n  comparison %s; all metrics, operations, waits and conditions: --details\n", c.ID)
	_, err := io.WriteString(w, human.Plain(b.String()))
	return err
}

func (c *Comparison) findingSummary(b *strings.Builder, f Finding) error {
	t := f.table(overallText, nil)
	t.Columns[0] = t.Title
	for _, one := range f.Tables {
		shown := one.Name == c.Plan.Metric || len(c.Findings) == 1 && slices.Contains(summaryMetrics, one.Name)
		for _, r := range one.Rows {
			if r.Operation == "" && shown {
				t.Rows = append(t.Rows, cells(one.Metric, one.label(), r.Row))
			}
		}
	}
	b.WriteString("\n")
	if err := t.Text(b, "  "); err != nil {
		return err
	}
	differ := f.differing(c.Plan.Metric)
	if len(differ) > 0 {
		names := differ[:min(summaryOperations, len(differ))]
		text := strings.Join(names, ", ")
		if more := len(differ) - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		b.WriteString(human.Hanging("  operations that differ: ", text, columns, 3))
	}
	if f.AtOneUser != nil {
		b.WriteString(human.Hanging("  one user without think time: ", f.AtOneUser.text(c.Plan.metric()), columns, 2))
	}
	return nil
}

// differing operations by a metric, each with its effect, the worse ones first.
func (f Finding) differing(metric string) (texts []string) {
	for _, want := range []verdict.Verdict{verdict.Worse, verdict.Better} {
		for _, t := range f.Tables {
			for _, r := range t.Rows {
				if t.Name == metric && r.Operation != "" && r.Verdict == want {
					texts = append(texts, fmt.Sprintf("%s %s %s", r.Operation, want, effectText(t.Metric, r.Row)))
				}
			}
		}
	}
	return texts
}
