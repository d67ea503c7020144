package problem_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"plimsoll/ground/problem"
)

func TestProblem(t *testing.T) {
	base := errors.New("port 5432 is in use")
	env := problem.New(problem.Environment, base, "choose another with --port")
	for _, c := range []struct {
		name  string
		err   error
		class problem.Class
		hint  string
	}{
		{"NilHasNoClass", problem.New(problem.Usage, nil, "x"), problem.Failure, ""},
		{"PlainErrorIsFailure", base, problem.Failure, ""},
		{"KeepsClassAndHintThroughWrapping", fmt.Errorf("start cluster: %w", env), problem.Environment,
			"choose another with --port"},
		{"OuterHintWins", problem.WithHint(env, "try later"), problem.Environment, "try later"},
		{"EmptyOuterHintFallsBack", problem.New(problem.Usage, env, ""), problem.Usage, "choose another with --port"},
		{"CancelledContextIsInterrupted", fmt.Errorf("run: %w", context.Canceled), problem.Interrupted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problem.ClassOf(c.err); got != c.class {
				t.Errorf("class %v, want %v", got, c.class)
			}
			if got := problem.HintOf(c.err); got != c.hint {
				t.Errorf("hint %q, want %q", got, c.hint)
			}
		})
	}
}
