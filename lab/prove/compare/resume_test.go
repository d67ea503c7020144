package compare

import (
	"context"
	"strings"
	"testing"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
)

// Runs of another server, and of another version of the program, are never combined with those that were recorded.
func TestResume_OfAnotherServerOrVersionIsRefused(t *testing.T) {
	t.Parallel() // it waits more than it works
	side := server(t)
	side.Run.Users = fewUsers
	o := Options{Sides: []Side{side, side}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Store: OpenStore(t.TempDir()), Version: "1.0+abc"}
	ctx, stop := context.WithCancel(t.Context())
	o.Progress = func(p Progress) {
		if p.Ended != nil {
			stop()
		}
	}
	first, err := Compare(ctx, o)
	if err != nil || first.Stopped != ByUser {
		t.Fatalf("%v %+v", err, first)
	}
	o.Progress, o.Resume = nil, true
	for want, change := range map[string]func(*Options){
		"B: comparison " + first.ID + " is of another server: database ": func(o *Options) {
			o.Sides[1].Run.DSN = server(t).Run.DSN
		},
		"comparison " + first.ID + " was made by plimsoll 1.0+abc, this is 1.1": func(o *Options) { o.Version = "1.1" },
	} {
		other := o
		other.Sides = []Side{side, side}
		change(&other)
		c, err := Compare(t.Context(), other)
		if problem.ClassOf(err) != problem.Usage || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s; %+v", err, want, c)
		}
	}
	if c := compared(t, o); c.ID != first.ID || !c.Complete {
		t.Errorf("the same server: %+v", c)
	}
}

// A self-test that was stopped between two comparisons goes on with the same server alone.
func TestSelfTest_ResumesWithNoOtherServer(t *testing.T) {
	t.Parallel() // it waits more than it works
	side := server(t)
	side.Run.Users = fewUsers
	o := Options{Sides: []Side{side}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Store: OpenStore(t.TempDir())}
	if done, err := SelfTest(t.Context(), o, AA, 1, silent); err != nil || done.Done != 1 {
		t.Fatalf("%v %+v", err, done)
	}
	o.Resume, o.Sides[0].Run.DSN = true, server(t).Run.DSN
	done, err := SelfTest(t.Context(), o, AA, 2, silent)
	if problem.ClassOf(err) != problem.Usage || !strings.Contains(err.Error(), "this self-test is of another server") {
		t.Errorf("%v, %+v", err, done)
	}
}
