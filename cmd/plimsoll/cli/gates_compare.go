package cli

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/prove/compare"
	"plimsoll/lab/prove/compare/verdict"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/checks"
)

// compareGate is a verdict that a comparison must not end with.
type compareGate struct {
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

const compareGateExample = `such as "worse", "latency_ms_p95: worse", "goods_sale.post: latency_ms: worse" or ` +
	`"not better"`

// compareGates reads what fails a comparison: [[OPERATION:] METRIC:] VERDICT. Operations are known from the runs alone.
func compareGates(texts []string) (all []compareGate, err error) {
	for _, text := range texts {
		wrong := func(at int, says, hint string) error {
			return gate.Usage(&gate.Mistake{Text: text, At: at + 1, Says: says, Hint: hint})
		}
		g := compareGate{text: text}
		rest := text
		if colon := strings.LastIndexByte(rest, ':'); colon >= 0 {
			before := rest[:colon]
			rest = rest[colon+1:]
			if colon = strings.LastIndexByte(before, ':'); colon >= 0 {
				g.operation = strings.Trim(strings.TrimSpace(before[:colon]), `"`)
			}
			g.metric = strings.TrimSpace(before[colon+1:])
			if !slices.Contains(compare.MetricNames(), g.metric) {
				return nil, wrong(colon+1, fmt.Sprintf("no metric %q", g.metric), human.NearestHint(g.metric,
					compare.MetricNames(), "there are "+strings.Join(compare.MetricNames(), ", ")))
			}
		}
		known := []string{ifWorse, ifNotBetter, ifNotEqual}
		if g.bad = strings.Join(strings.Fields(rest), " "); !slices.Contains(known, g.bad) {
			return nil, wrong(len(text)-len(strings.TrimLeft(rest, " ")), fmt.Sprintf("%q is none of %s", g.bad,
				strings.Join(known, ", ")), human.NearestHint(g.bad, known, compareGateExample))
		}
		all = append(all, g)
	}
	return all, nil
}

func judgeCompareGates(gates []compareGate, c *compare.Comparison) (all []result.Gate) {
	for _, g := range gates {
		for _, f := range c.Findings {
			all = append(all, judgeCompareGate(g, c, f))
		}
	}
	return all
}

func judgeCompareGate(g compareGate, c *compare.Comparison, f compare.Finding) result.Gate {
	one := result.Gate{Gate: f.Side + ": " + g.text, Operation: g.operation, Figure: g.metric, Unit: gate.Ratio,
		Limit: 1, Verdict: result.GateUndecided}
	found, row := f.Verdict, f.Headline
	if g.operation != "" || g.metric != "" && g.metric != c.Plan.Metric {
		var known bool
		if row, known = rowOf(f, g); !known {
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

// rowOf a metric and an operation.
func rowOf(f compare.Finding, g compareGate) (verdict.Row, bool) {
	for _, t := range f.Tables {
		for _, r := range t.Rows {
			if t.Name == g.metric && r.Operation == g.operation {
				return r.Row, true
			}
		}
	}
	return verdict.Row{}, false
}

// compareReport is what a CI server reads of a comparison.
func compareReport(c *compare.Comparison, gates []result.Gate) checks.Report {
	r := checks.Report{Command: "plimsoll compare", ID: c.ID, Headline: c.Statement(), Started: c.Started,
		Took: c.Finished.Sub(c.Started)}
	for i, side := range c.Plan.Sides {
		r.Facts = append(r.Facts, fmt.Sprintf("%s: %s", compare.Letter(i), side.Name))
	}
	for _, f := range c.Findings {
		one := checks.Check{Group: "comparison", Name: f.Side + " against A: " + f.Name, Outcome: checks.Passed,
			Says: string(f.Verdict)}
		if f.Verdict == verdict.Inconclusive || f.Verdict == verdict.TooFew || f.Because != "" {
			one.Outcome, one.Says = checks.Undecided, string(f.Verdict)+" "+f.Because
		}
		r.Checks = append(r.Checks, one)
	}
	r.Checks = append(r.Checks, checks.OfGates(gates)...)
	return r
}
