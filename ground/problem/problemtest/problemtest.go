// Package problemtest checks what a user is told when something goes wrong.
package problemtest

import (
	"strings"
	"testing"

	"plimsoll/ground/problem"
)

// Want checks that err has a class and a hint, and that the two texts together have these parts.
func Want(t testing.TB, err error, class problem.Class, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	hint := problem.HintOf(err)
	if problem.ClassOf(err) != class || hint == "" {
		t.Errorf("class %v, hint %q of %v", problem.ClassOf(err), hint, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error()+"\n"+hint, part) {
			t.Errorf("%v (%s) lacks %q", err, hint, part)
		}
	}
}
