package compare

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/checks"
)

// badVerdict is a gate: a verdict that a comparison must not end with.
type badVerdict struct {
	text      string
	operation string // empty: all together
	metric    string // empty: the one that decides
	bad       string // worse, not better, not equal
}

// Verdicts that fail a comparison.
const (
	ifWorse     = "worse"
	ifNotBetter = "not better"
	ifNotEqual  = "not equal"
)

const gateExample = `such as "worse", "latency_ms_p95: worse", "goods_sale.post: latency_ms: worse" or ` +
	`"not better"`

// parseGates reads what fails a comparison: [[OPERATION:] METRIC:] VERDICT. Operations are known from the runs alone.
func parseGates(texts []string) ([]badVerdict, error) {
	return gate.ReadAll(texts, func(text string, wrong gate.Wrong) (badVerdict, error) {
		g, rest := badVerdict{text: text}, text
		if colon := strings.LastIndexByte(rest, ':'); colon >= 0 {
			before := rest[:colon]
			rest = rest[colon+1:]
			if colon = strings.LastIndexByte(before, ':'); colon >= 0 {
				g.operation = strings.Trim(strings.TrimSpace(before[:colon]), `"`)
			}
			g.metric = strings.TrimSpace(before[colon+1:])
			if !slices.Contains(MetricNames(), g.metric) {
				return g, wrong(colon+1, fmt.Sprintf("no metric %q", g.metric), human.NearestHint(g.metric,
					MetricNames(), "there are "+strings.Join(MetricNames(), ", ")))
			}
		}
		known := []string{ifWorse, ifNotBetter, ifNotEqual}
		if g.bad = strings.Join(strings.Fields(rest), " "); !slices.Contains(known, g.bad) {
			return g, wrong(len(text)-len(strings.TrimLeft(rest, " ")), fmt.Sprintf("%q is none of %s", g.bad,
				strings.Join(known, ", ")), human.NearestHint(g.bad, known, gateExample))
		}
		return g, nil
	})
}

// judgeGates of each further side.
func (f *Found) judgeGates(gates []badVerdict) {
	for _, g := range gates {
		for _, one := range f.Findings {
			f.Gates = append(f.Gates, g.judge(f.Comparison, one))
		}
	}
}

func (g badVerdict) judge(c *Comparison, f Finding) result.Gate {
	one := result.Gate{Gate: f.Side + ": " + g.text, Operation: g.operation, Figure: g.metric, Unit: gate.Ratio,
		Limit: 1, Verdict: result.GateUndecided}
	found, row := f.Verdict, f.Headline
	if g.operation != "" || g.metric != "" && g.metric != c.Plan.Metric {
		var known bool
		if row, known = f.row(g.metric, g.operation); !known {
			one.Because = "the runs have no such figure"
			return one
		}
		found = row.Verdict
	} else {
		one.Figure, one.Because = c.Plan.Metric, f.Because
	}
	if row.Scale == verdict.Ratio && row.Runs[0] > 0 {
		one.Measured, one.Interval = &row.Effect, &result.Range{Low: row.Low, High: &row.High}
	}
	switch found {
	case verdict.Inconclusive, verdict.TooFew:
		if one.Because == "" {
			one.Because = string(found)
		}
		return one
	}
	bad := map[string]bool{ifWorse: found == verdict.Worse, ifNotBetter: found != verdict.Better,
		ifNotEqual: found != verdict.Equal}[g.bad]
	if one.Verdict = result.GatePassed; bad {
		one.Verdict = result.GateFailed
	}
	if one.Because == "" {
		one.Because = string(found)
	}
	return one
}

// row of a metric and an operation.
func (f Finding) row(metric, operation string) (verdict.Row, bool) {
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if t.Name == metric && r.Operation == operation {
				return r.Row, true
			}
		}
	}
	return verdict.Row{}, false
}

// report is what a CI server reads of a comparison.
func (f *Found) report() checks.Report {
	r := checks.Report{Command: "plimsoll compare", ID: f.ID, Headline: f.Statement(), Started: f.Started,
		Took: f.Finished.Sub(f.Started)}
	for i, side := range f.Plan.Sides {
		r.Facts = append(r.Facts, fmt.Sprintf("%s: %s", Letter(i), side.Name))
	}
	for _, one := range f.Findings {
		c := checks.Check{Group: "comparison", Name: one.Side + " against A: " + one.Name, Outcome: checks.Passed,
			Says: string(one.Verdict)}
		if undecided(one.Verdict) || one.Because != "" {
			c.Outcome, c.Says = checks.Undecided, string(one.Verdict)+" "+one.Because
		}
		r.Checks = append(r.Checks, c)
	}
	r.Checks = append(r.Checks, checks.OfGates(f.Gates)...)
	return r
}
