package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/ground/problem"
)

func TestComplain_LeavesNothingForATerminalToObey(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out strings.Builder
		err := errors.New("a\x1b]0;title\x07b\u009b31m\u202ec\rd")
		reportError(&out, problem.New(problem.Failure, err, "e\x1b[2Jf"), asJSON)
		text := strings.TrimRight(out.String(), "\n")
		if strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e") || !strings.Contains(text, "]0;title") {
			t.Errorf("json %v: %q", asJSON, text)
		}
	}
}

func TestComplain_NamesAnAddressOnce(t *testing.T) {
	err := errors.New("failed to connect to `user=ann database=erp`: db:1 (10.0.0.1): dial error: " +
		"dial tcp 10.0.0.1:1: connect: connection refused")
	var out strings.Builder
	reportError(&out, err, false)
	const want = "plimsoll: failed to connect to `user=ann database=erp`: db:1 (10.0.0.1): connection refused\n"
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A driver's words for a cancelled context are no timeout, and a command that says itself how it ended keeps its words.
func TestStopped_IsWhatSaysNothingOfIt(t *testing.T) {
	driver := fmt.Errorf("audit: timeout: context already done: %w", context.Canceled)
	for err, want := range map[error]bool{
		driver: true,
		problem.New(problem.Interrupted, driver, "the same command continues"): false,
		problem.New(problem.Environment, driver, ""):                           true,
		problem.New(problem.Usage, driver, ""):                                 false,
	} {
		if stopped(err) != want {
			t.Errorf("stopped(%v) is %v", err, !want)
		}
	}
}
