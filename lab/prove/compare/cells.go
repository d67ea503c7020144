package compare

import (
	"fmt"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/web"
)

// effectText is the effect with its interval: +10.2 % (8.1 % to 12.0 %).
func effectText(m Metric, r verdict.Row) string {
	switch {
	case r.Verdict == verdict.TooFew:
		return "-"
	case zeroOnBothSides(r):
		return "none on either side"
	case mostlyNothing(r):
		return fmt.Sprintf("0 in most runs, more in %.0f %%, less in %.0f %%", 100*r.Above, 100*r.Below)
	case r.Scale == verdict.Ratio && (r.High >= 3 || r.Effect >= 2):
		return fmt.Sprintf("×%s (%s to %s)", human.Figure(r.Effect, 3), human.Figure(r.Low, 3), human.Figure(r.High, 3))
	case r.Scale == verdict.Ratio:
		return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", 100*(r.Effect-1), 100*(r.Low-1), 100*(r.High-1))
	case m.Share:
		return fmt.Sprintf("%+.1f points (%+.1f to %+.1f)", 100*r.Effect, 100*r.Low, 100*r.High)
	}
	return fmt.Sprintf("%+.3g (%+.3g to %+.3g)", r.Effect, r.Low, r.High)
}

// zeroOnBothSides: the figure was 0 in all runs.
func zeroOnBothSides(r verdict.Row) bool {
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

// table of a finding.
func (f Finding) table(title string, rows [][]string) web.Table {
	return web.Table{Title: title, Names: true, Columns: []string{"", "A", f.Side, "effect (interval)", "verdict"},
		Rows: rows}
}

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
			if t.Name == metric && r.Operation != "" && !(t.Share && zeroOnBothSides(r.Row)) {
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
			return human.Percent1(v)
		}
		return figureText(v, runs)
	}
	return []string{name, value(r.Base, r.Runs[0]), value(r.Variant, r.Runs[1]), effectText(m, r), verdictText(r)}
}

// text of a figure with its unit.
func (m Metric) text(v float64) string {
	if m.Share {
		return human.Percent1(v)
	}
	return strings.TrimSpace(figureText(v, 1) + " " + strings.TrimPrefix(m.Unit, "/s"))
}

func figureText(v float64, runs int) string {
	if runs == 0 {
		return "-"
	}
	return human.Figure(v, 4)
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
