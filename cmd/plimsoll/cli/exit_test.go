package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/platform/problem"
)

func TestComplain_LeavesNothingForATerminalToObey(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out strings.Builder
		err := errors.New("a\x1b]0;title\x07b\u009b31m\u202ec\rd")
		complain(&out, problem.New(problem.Failure, err, "e\x1b[2Jf"), asJSON)
		said := strings.TrimRight(out.String(), "\n")
		if strings.ContainsAny(said, "\x1b\x07\r\u009b\u202e") || !strings.Contains(said, "]0;title") {
			t.Errorf("json %v: %q", asJSON, said)
		}
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
			t.Errorf("%v: %v", err, !want)
		}
	}
}
