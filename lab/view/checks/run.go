package checks

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/load/apdex"
	"plimsoll/lab/run/result"
	"plimsoll/web"
)

// Groups of a run's checks.
const (
	groupRun        = "run"
	groupGates      = "gates"
	groupOperations = "operations"
)

// OfRun are the checks of a run: that it is valid, its overall score against the target (0: none was asked for), its
// gates, and each key operation against its own T.
func OfRun(r *result.Result, target float64) Report {
	all := Report{Command: "plimsoll run", ID: r.ID, Started: r.Started, Took: r.Finished.Sub(r.Started),
		Headline: headline(r), Facts: facts(r), Tables: []web.Table{operations(r)}}
	if all.Took < 0 {
		all.Took = time.Duration(r.DurationS * float64(time.Second))
	}
	all.Checks = append(all.Checks, valid(r))
	if target > 0 {
		all.Checks = append(all.Checks, Check{groupRun, fmt.Sprintf("Apdex of at least %v", target),
			scored(r.Apdex, target, r.Valid), scoreSays(r.Apdex, r.Ops)})
	}
	all.Checks = append(all.Checks, OfGates(r.Gates)...)
	for _, op := range r.Operations {
		all.Checks = append(all.Checks, ofOperation(op, target, r.Valid))
	}
	return all
}

// OfGates are the checks of gates.
func OfGates(gates []result.Gate) (all []Check) {
	for _, g := range gates {
		all = append(all, Check{groupGates, g.Gate, gateOutcome[g.Verdict], g.MeasuredText()})
	}
	return all
}

var gateOutcome = map[result.GateVerdict]Outcome{result.GatePassed: Passed, result.GateFailed: Failed,
	result.GateUndecided: Undecided}

func headline(r *result.Result) string {
	parts := []string{"no score"}
	if r.Apdex != nil {
		parts[0] = fmt.Sprintf("Apdex %s (%s)", apdex.Text(*r.Apdex), r.Band)
	}
	parts = append(parts, human.Count(r.Users, "user"), fmt.Sprintf("%.1f operations per second", r.OpsPerS))
	if text := result.GatesText(r.Gates); text != "" {
		parts = append(parts, text)
	}
	if !r.Valid {
		parts = append([]string{"the run is not valid"}, parts...)
	}
	return strings.Join(parts, ", ")
}

func valid(r *result.Result) Check {
	c := Check{groupRun, "the run is valid", Passed, human.Count(r.Ops, "operation") + " in " +
		human.Seconds(r.DurationS)}
	if !r.Valid {
		c.Outcome, c.Says = Undecided, strings.Join(r.InvalidReasons, "; ")
	}
	if r.Audit.Done && !r.Audit.Clean {
		c.Outcome = Failed
	}
	return c
}

// scored compares a score with what it must reach.
func scored(score *float64, target float64, valid bool) Outcome {
	switch {
	case score == nil:
		return Undecided
	case *score < target:
		return Failed
	case !valid:
		return Undecided
	}
	return Passed
}

func scoreSays(score *float64, n int64) string {
	if score == nil {
		return "no score"
	}
	return fmt.Sprintf("Apdex %s of %s", apdex.Text(*score), human.Count(n, "operation"))
}

// ofOperation is an operation against its T: by the target of the run where there is one; without, it only must not
// fail always.
func ofOperation(op result.Operation, target float64, valid bool) Check {
	t := human.Duration(time.Duration(op.TargetMS * float64(time.Millisecond)))
	c := Check{groupOperations, op.ID + " within T = " + t, Passed, scoreSays(op.Apdex, op.Ops)}
	if p95 := op.LatencyOrAnswered().P95; p95 != nil {
		c.Says += ", p95 " + human.Millis(*p95) + " ms"
	}
	switch {
	case op.Ops == 0:
		c.Outcome, c.Says = Skipped, "nobody did it"
	case op.OK+op.Refused == 0:
		c.Outcome, c.Says = Failed, "it never got a valid answer"+op.Failing()
	case target > 0:
		c.Outcome = scored(op.Apdex, target, valid)
	}
	return c
}

func operations(r *result.Result) web.Table {
	t := web.Table{Title: "Key operations", Names: true, Columns: []string{"key operation", "T", "count", "failed",
		"Apdex", "p50 ms", "p95 ms", "p99 ms"}}
	for _, op := range r.Operations {
		l := op.LatencyOrAnswered()
		t.Rows = append(t.Rows, []string{op.ID,
			human.Duration(time.Duration(op.TargetMS * float64(time.Millisecond))), human.Thousands(op.Ops),
			human.Thousands(op.Errors + op.Overload), human.Known(op.Apdex, "-", apdex.Text),
			human.Known(l.P50, "-", human.Millis), human.Known(l.P95, "-", human.Millis),
			human.Known(l.P99, "-", human.Millis)})
	}
	return t
}

func facts(r *result.Result) (all []string) {
	c := r.Conditions
	if s := c.Load.Scenario; s != nil {
		all = append(all, fmt.Sprintf("scenario %s (%s)", s.Name, s.Digest))
	}
	all = append(all, fmt.Sprintf("steady state %s, seed %d", human.Seconds(r.DurationS), c.Load.Seed))
	if c.Engine.Version != "" {
		all = append(all, fmt.Sprintf("PostgreSQL %s, %s", c.Engine.Version, c.Engine.Flavour))
	}
	if c.Machine.Cores > 0 {
		all = append(all, fmt.Sprintf("%s, %d cores", c.Machine.CPU, c.Machine.Cores))
	}
	return append(all, "plimsoll "+c.Software)
}
