package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/config"
	"plimsoll/ground/host/kept"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/gate"
	"plimsoll/lab/run/result"
	"plimsoll/lab/view/checks"
)

// gateOptions say what fails, and where a CI server reads it.
type gateOptions struct {
	failIf          []string
	junit, markdown string
}

// gateFlags are the same for all that measure; what a gate may say is each command's own.
func gateFlags(c *cobra.Command, o *gateOptions, failIf string) {
	fs := c.Flags()
	fs.StringArrayVar(&o.failIf, "fail-if", nil, failIf)
	fs.StringVar(&o.junit, "junit", "", "write each condition as a test case to this JUnit XML `FILE`")
	fs.StringVar(&o.markdown, "markdown", "", "write a summary in Markdown to this `FILE`, for a pull request or "+
		"$GITHUB_STEP_SUMMARY")
	config.FlagOnly(fs, "fail-if", "junit", "markdown")
}

// check that the files can be written, before anything long begins.
func (o gateOptions) check() error {
	return errors.Join(kept.Page(o.junit).Check(), kept.Page(o.markdown).Check())
}

// write the files.
func (o gateOptions) write(r checks.Report) error {
	return errors.Join(kept.Page(o.junit).Write(r.JUnit), kept.Page(o.markdown).Write(r.Markdown))
}

// runGates reads the gates of a run.
func runGates(texts, operations []string) (all []gate.Gate, err error) {
	for _, text := range texts {
		g, err := gate.Parse(text, operations)
		if err != nil {
			return nil, wrongGate(err)
		}
		all = append(all, g)
	}
	return all, nil
}

func wrongGate(err error) error {
	var m *gate.Mistake
	hint := ""
	if errors.As(err, &m) {
		hint = m.Hint
	}
	return problem.New(problem.Usage, fmt.Errorf("--fail-if %w", err), hint)
}

// judgeGates is why the gates did not pass; nil: they did.
func judgeGates(gates []result.Gate) error {
	bad := result.NotPassed(gates)
	if len(bad) == 0 {
		return nil
	}
	var texts []string
	for _, g := range bad {
		texts = append(texts, g.Gate+" ("+g.Verdict.Text()+says(g)+")")
	}
	hint := ""
	if bad[0].Verdict == result.GateUndecided {
		hint = "what cannot be decided does not pass: measure for longer, with --duration, or with more --users"
	}
	return problem.New(problem.Threshold, fmt.Errorf("%s: %s", result.GatesText(gates), strings.Join(texts, ", ")),
		hint)
}

func says(g result.Gate) string {
	if text := g.MeasuredText(); text != "" {
		return ": " + text
	}
	return ""
}

// gateChecks are gates as a CI server sees them.
func gateChecks(gates []result.Gate) (all []checks.Check) {
	outcomes := map[result.GateVerdict]checks.Outcome{result.GatePassed: checks.Passed,
		result.GateFailed: checks.Failed, result.GateUndecided: checks.Undecided}
	for _, g := range gates {
		all = append(all, checks.Check{Group: "gates", Name: g.Gate, Outcome: outcomes[g.Verdict],
			Says: g.MeasuredText()})
	}
	return all
}

// host is this machine's name, which a JUnit file asks for.
func (a *app) host() string {
	name, _ := os.Hostname()
	return name
}
