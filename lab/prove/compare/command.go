package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"plimsoll/ground/problem"
	"plimsoll/lab/run/result"
	"plimsoll/lab/system"
)

// Report is what a command prints: one JSON object, alone or as the last line of stdout. A command may print the result
// of 'plimsoll run --json' instead.
//
//	{"figures": {"latency_ms": 12.5, "ops_per_s": 800}, "operations": {"post": {"latency_ms": 9}}, "void": ""}
//
// failed_share, from 0 to 1, is the share of its operations that failed: who fails more is not better (see judge.go).
// Less is better, but of figures named ops_per_s, …_per_s, apdex, and those that higher_better names.
type Report struct {
	Figures      map[string]float64            `json:"figures"`
	Operations   map[string]map[string]float64 `json:"operations"`
	HigherBetter []string                      `json:"higher_better"`
	// Void says why the run does not count; it is repeated.
	Void string `json:"void"`
}

// command makes one run of a program.
func (s *comparing) command(ctx context.Context, side *Side, r *Replica) error {
	s.report(Progress{Side: r.Side, Phase: r.Phase, Round: r.Round})
	stdout, err := system.Execute(ctx, side.Command, r.environment()...)
	if made := runIn(stdout); made != nil && ctx.Err() == nil {
		return r.takeRun(made, s.Metric) // with a missed target, 'plimsoll run' ends with an exit code
	}
	if err != nil {
		return err
	}
	return r.take(stdout, s.Metric)
}

// runIn is the result of 'plimsoll run --json', if a command printed that.
func runIn(stdout []byte) *result.Result {
	var r result.Result
	if json.Unmarshal(stdout, &r) != nil || r.Schema != result.Schema {
		return nil
	}
	return &r
}

const sideVariable, roundVariable, seedVariable = "PLIMSOLL_COMPARE_SIDE", "PLIMSOLL_COMPARE_ROUND",
	"PLIMSOLL_COMPARE_SEED"

// Variables of the environment that tell a side's program which run it makes.
var Variables = []string{sideVariable, roundVariable, seedVariable}

// environment tells a side's program which run it makes.
func (r *Replica) environment() []string {
	return []string{sideVariable + "=" + r.Side, roundVariable + "=" + strconv.Itoa(r.Round),
		seedVariable + "=" + strconv.FormatUint(r.Seed, 10)}
}

// take stores the figures that a command printed.
func (r *Replica) take(stdout []byte, metric string) error {
	var report Report
	if json.Unmarshal(stdout, &report) != nil {
		report = Report{}
		if err := json.Unmarshal([]byte(system.LastLine(string(stdout))), &report); err != nil {
			return problem.New(problem.Usage, errors.New("its command's last output line is not JSON"), contract)
		}
	}
	if r.Void = report.Void; r.Void != "" {
		return nil
	}
	f := figures{}
	for name, value := range report.Figures {
		f.set("", name, &value)
	}
	for operation, values := range report.Operations {
		for name, value := range values {
			f.set(operation, name, &value)
		}
	}
	r.Figures, r.HigherBetter = f, report.HigherBetter
	return f.decide(metric, printed)
}

// takeRun stores the figures of a run that a command made.
func (r *Replica) takeRun(made *result.Result, metric string) (err error) {
	if made.Interrupted {
		return problem.New(problem.Failure, fmt.Errorf("its command's run %s was interrupted", made.ID), "")
	}
	r.Run = made.ID
	for len(made.InvalidCauses) < len(made.InvalidReasons) { // an older program tells no causes
		made.InvalidCauses = append(made.InvalidCauses, "")
	}
	if r.Void, err = void(made, r.Phase); err != nil || r.Void != "" {
		return err
	}
	f := figuresOf(made)
	r.Figures = f
	return f.decide(metric, printed)
}

// printed begins what is said about the figures of a command.
const printed = "its command prints"

const contract = `such as {"figures": {"latency_ms": 12.5, "ops_per_s": 800}}`
