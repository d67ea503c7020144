package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
	"plimsoll/lab/line"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/checks"
	"plimsoll/lab/view/report"
)

// lineGate is a least number of users of one configuration; empty: of each.
type lineGate struct {
	text          string
	configuration string
	least         int
}

const lineGateExample = `such as "users < 500", or "plimsoll+lean: users < 500"`

// lineGates reads what fails a search.
func lineGates(texts, configurations []string) (all []lineGate, err error) {
	for _, text := range texts {
		wrong := func(at int, says, hint string) error {
			return wrongGate(&gate.Mistake{Text: text, At: at + 1, Says: says, Hint: hint})
		}
		g := lineGate{text: text}
		rest, from := text, 0
		if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
			g.configuration = strings.TrimSpace(text[:colon])
			rest, from = text[colon+1:], colon+1
			if g.configuration == "" || !slices.Contains(configurations, g.configuration) {
				return nil, wrong(0, fmt.Sprintf("no configuration %q", g.configuration),
					human.NearestHint(g.configuration, configurations, lineGateExample))
			}
		}
		words := strings.Fields(strings.Replace(rest, "<", " < ", 1))
		switch {
		case len(words) == 0 || words[0] != "users":
			return nil, wrong(from+len(rest)-len(strings.TrimLeft(rest, " ")), "a search for the load line finds users",
				lineGateExample+"; figures of operations are gates of 'plimsoll run'")
		case len(words) != 3 || words[1] != "<":
			return nil, wrong(from, "it takes users < NUMBER", lineGateExample)
		}
		if g.least, err = strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(words[2])); err != nil ||
			g.least < 1 {
			return nil, wrong(strings.LastIndex(text, words[2]), "users takes a whole number, not "+words[2],
				lineGateExample)
		}
		all = append(all, g)
	}
	return all, nil
}

// lines of a search, by configuration.
func linesOf(f *line.Found) (all []*line.Line) {
	switch r := f.Result.(type) {
	case *line.Line:
		all = append(all, r)
	case *line.Comparison:
		for _, one := range r.Lines {
			if !one.Control {
				all = append(all, one.Line)
			}
		}
	}
	return all
}

// judgeLineGates compares the whole interval with the limit: only where it lies on one side is the answer known.
func judgeLineGates(gates []lineGate, f *line.Found) (all []result.Gate) {
	for _, g := range gates {
		for _, l := range linesOf(f) {
			if g.configuration == "" || g.configuration == l.Plan.Configuration {
				all = append(all, judgeLineGate(g, l))
			}
		}
	}
	return all
}

func judgeLineGate(g lineGate, l *line.Line) result.Gate {
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

// lineReport is what a CI server reads of a search.
func lineReport(f *line.Found, gates []result.Gate, host string) checks.Report {
	r := checks.Report{Command: "plimsoll line", ID: f.ID, Host: host}
	for _, l := range linesOf(f) {
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
	if c, is := f.Result.(*line.Comparison); is {
		r.Headline, r.Started, r.Took = c.Headline, c.Started, c.Finished.Sub(c.Started)
	}
	r.Checks = append(r.Checks, gateChecks(gates)...)
	return r
}

// withGates adds the gates to the JSON of a result that does not know them.
func withGates(v any, gates []result.Gate) (any, error) {
	if len(gates) == 0 {
		return v, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	more, err := json.Marshal(map[string]any{"gates": gates})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(string(text[:len(text)-1]) + "," + string(more[1:])), nil
}

// answerJudged is an answer with its gates, and in text with the path of its page.
func (a *app) answerJudged(v any, gates []result.Gate, text func(io.Writer) error, page string) error {
	all, err := withGates(v, gates)
	if err != nil {
		return err
	}
	return a.answer(all, func(w io.Writer) error {
		if err := text(w); err != nil {
			return err
		}
		_, err := fmt.Fprint(w, report.Gates(gates, len(gates)+1))
		if err == nil && page != "" {
			_, err = fmt.Fprintf(w, "report: %s\n", page)
		}
		return err
	})
}

// lineGatesError is judgeGates with what narrows the answer of a search.
func lineGatesError(gates []result.Gate) error {
	err := judgeGates(gates)
	if err != nil && problem.HintOf(err) != "" {
		return problem.WithHint(err, "what cannot be decided does not pass: more --confirmations, or a finer "+
			"--resolution")
	}
	return err
}
