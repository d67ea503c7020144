package cli

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/platform/problem"
)

func TestComplain_LeavesNothingForATerminalToObey(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out strings.Builder
		err := errors.New("a\x1b]0;title\x07b\u009b31m\u202ec\rd")
		complain(&out, problem.New(problem.Failure, err, "e\x1b[2Jf"), asJSON)
		text := strings.TrimRight(out.String(), "\n")
		if strings.ContainsAny(text, "\x1b\x07\r\u009b\u202e") || !strings.Contains(text, "]0;title") {
			t.Errorf("json %v: %q", asJSON, text)
		}
	}
}
