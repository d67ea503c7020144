package line

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/checks"
)

// leastUsers is a gate: a least number of users of one configuration; empty: of each.
type leastUsers struct {
	configuration string
	least         int
}

const gateExample = `such as "users < 500", or "plimsoll+lean: users < 500"`

// parseGates reads what fails a search.
func parseGates(texts, configurations []string) ([]leastUsers, error) {
	return gate.ReadAll(texts, func(text string, wrong gate.Wrong) (g leastUsers, err error) {
		rest, from := text, 0
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
			g.configuration = strings.TrimSpace(text[:colon])
			rest, from = text[colon+1:], colon+1
			if g.configuration == "" || !slices.Contains(configurations, g.configuration) {
				return g, wrong(0, fmt.Sprintf("no configuration %q", g.configuration),
					human.NearestHint(g.configuration, configurations, gateExample))
			}
		}
		words := strings.Fields(strings.Replace(rest, "<", " < ", 1))
		switch {
		case len(words) == 0 || words[0] != "users":
			return g, wrong(from+len(rest)-len(strings.TrimLeft(rest, " ")), "a search for the load line finds users",
				gateExample+"; figures of operations are gates of 'plimsoll run'")
		case len(words) != 3 || words[1] != "<":
			return g, wrong(from, "it takes users < NUMBER", gateExample)
		}
		if g.least, err = strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(words[2])); err != nil ||
			g.least < 1 {
			return g, wrong(strings.LastIndex(text, words[2]), "users takes a whole number, not "+words[2],
				gateExample)
		}
		return g, nil
	})
}

// lines of a search, by configuration.
func (f *Found) lines() (all []*Line) {
	switch r := f.Result.(type) {
	case *Line:
		all = append(all, r)
	case *Comparison:
		for _, one := range r.Lines {
			if !one.Control {
				all = append(all, one.Line)
			}
		}
	}
	return all
}

// judgeGates of each line that they are about.
func (f *Found) judgeGates(gates []leastUsers) {
	for _, g := range gates {
		for _, l := range f.lines() {
			if g.configuration == "" || g.configuration == l.Plan.Configuration {
				f.Gates = append(f.Gates, g.judge(l))
			}
		}
	}
}

// judge compares the whole interval with the limit: only where it lies on one side is the answer known.
func (g leastUsers) judge(l *Line) result.Gate {
	one := result.Gate{Gate: fmt.Sprintf("users < %s", human.Thousands(g.least)), Operation: l.Plan.Configuration,
		Figure: "users", Unit: gate.Users, Limit: float64(g.least), Verdict: result.GateUndecided}
	if one.Operation != "" {
		one.Gate = one.Operation + ": " + one.Gate
	}
	a := l.Answer
	switch {
	case l.ServesNobody():
		one.Verdict, one.Because = result.GateFailed, l.Statement()
		return one
	case a == nil || a.Interval == nil || a.Interval.Low == nil && a.Interval.High == nil:
		one.Because = l.Statement()
		return one
	}
	users := float64(a.Users)
	one.Measured = &users
	i := a.Interval
	one.Interval = &result.Range{High: i.High}
	if i.Low != nil {
		one.Interval.Low = *i.Low
	}
	switch {
	case i.High != nil && *i.High < one.Limit:
		one.Verdict = result.GateFailed
	case i.Low != nil && *i.Low >= one.Limit:
		one.Verdict = result.GatePassed
	default:
		one.Because = "the limit lies within the interval: more --confirmations or a finer --resolution narrow it"
	}
	return one
}

// report is what a CI server reads of a search.
func (f *Found) report() checks.Report {
	r := checks.Report{Command: "plimsoll line", ID: f.ID}
	for _, l := range f.lines() {
		name := l.Plan.Configuration
		if name == "" {
			name = "the load line"
		}
		c := checks.Check{Group: "line", Name: fmt.Sprintf("%s at Apdex %g", name, l.Plan.Target),
			Outcome: checks.Passed, Says: l.Statement()}
		switch {
		case l.ServesNobody():
			c.Outcome = checks.Failed
		case l.Answer == nil || !l.Complete || l.Open():
			c.Outcome = checks.Undecided
		}
		r.Checks = append(r.Checks, c)
		r.Headline, r.Started, r.Took = l.Statement(), l.Started, l.Finished.Sub(l.Started)
		r.Facts = append(r.Facts, fmt.Sprintf("%s: scenario %s (%s), seeds from %d", name, l.Plan.Scenario,
			l.Plan.Digest, l.Plan.Seed))
	}
	if c, is := f.Result.(*Comparison); is {
		r.Headline, r.Started, r.Took = c.Headline, c.Started, c.Finished.Sub(c.Started)
	}
	r.Checks = append(r.Checks, checks.OfGates(f.Gates)...)
	return r
}

// gateHint is what decides a gate of a search.
const gateHint = "what cannot be decided does not pass: more --confirmations, or a finer --resolution"
