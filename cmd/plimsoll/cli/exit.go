package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

// Exit codes. docs/cli.md is generated from exitCodes.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitThreshold   = 3
	ExitEnvironment = 4
	ExitInterrupted = 130 // 128 + SIGINT, as shells count
)

var exitCodes = []struct {
	code    int
	class   problem.Class
	name    string
	meaning string
}{
	{ExitOK, -1, "ok", "success"},
	{ExitFailure, problem.Failure, "failure", "any other failure"},
	{ExitUsage, problem.Usage, "usage", "wrong command line, environment variable or configuration file; nothing " +
		"was done"},
	{ExitThreshold, problem.Threshold, "threshold", "a threshold failed: Apdex too low, run not " +
		"valid, books wrong, claim refuted, comparison inconclusive, durable data lost, server " +
		"not fit for an application"},
	{ExitEnvironment, problem.Environment, "environment",
		"something is missing: engine, running cluster, port, disk space, rights"},
	{ExitInterrupted, problem.Interrupted, "interrupted",
		"stopped by Ctrl-C, SIGTERM or the dashboard; what was measured is kept"},
}

// exitOf returns the exit code and the name of err's class.
func exitOf(err error) (int, string) {
	if err == nil {
		return ExitOK, exitCodes[0].name
	}
	for _, e := range exitCodes[1:] {
		if e.class == problem.ClassOf(err) {
			return e.code, e.name
		}
	}
	return ExitFailure, exitCodes[1].name
}

// dialing is what the driver says between the address, which it has named already, and the reason.
var dialing = regexp.MustCompile(`: dial error: dial \w+ \S+: (?:connect: )?`)

// errorBody is an error as programs read it.
type errorBody struct {
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Class    string `json:"class"`
	ExitCode int    `json:"exit_code"`
}

// bodyOf an error. No secret passes: every error goes through here.
func bodyOf(err error) errorBody {
	code, class := exitOf(err)
	message, hint := oneLine(human.Redact(err.Error())), oneLine(human.Redact(problem.HintOf(err)))
	return errorBody{dialing.ReplaceAllString(message, ": "), hint, class, code}
}

// reportError writes err for a person, or with asJSON one line for a program, and
// returns the exit code.
func reportError(w io.Writer, err error, asJSON bool) int {
	if err == nil {
		return ExitOK
	}
	body := bodyOf(err)
	if asJSON {
		_ = json.NewEncoder(w).Encode(map[string]errorBody{"error": body})
		return body.ExitCode
	}
	fmt.Fprintf(w, "plimsoll: %s\n", body.Message)
	if body.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", body.Hint)
	}
	return body.ExitCode
}

// oneLine joins the lines into which drivers and joined errors break their texts. A line comes once: the driver tries
// an address with and without TLS and reports both.
func oneLine(text string) string {
	var parts []string
	for _, line := range strings.Split(text, "\n") {
		if line = human.PlainLine(strings.TrimSpace(line)); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": ")
}
