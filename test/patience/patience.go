// Package patience owns how long tests wait for an event, however busy the machine is.
//
// A test waits for a signal where there is one (a channel, the end of a process). What can only be looked for, such as
// a row of pg_stat_activity, is looked for with Until.
package patience

import (
	"context"
	"testing"
	"time"
)

// Max guards against waiting for ever, and measures nothing: what needs milliseconds on an idle machine happens in this
// time on one that is overloaded ten times.
const Max = 5 * time.Minute

// Pauses between two checks: they begin short and double, so that checking is no load.
const (
	pauseMin = time.Millisecond
	pauseMax = 50 * time.Millisecond
)

// Until checks until the condition holds, and ends the test if it never does. Call it from the test's own goroutine.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Holds(holds) {
		t.Fatalf("timed out waiting until %s", what)
	}
}

// Holds checks until the condition holds, and says whether it ever did.
func Holds(condition func() bool) bool {
	pause := pauseMin
	for deadline := time.Now().Add(Max); !condition(); pause = min(2*pause, pauseMax) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// Context is the test's, for calls that must return: it ends after Max.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Max)
	t.Cleanup(cancel)
	return ctx
}
