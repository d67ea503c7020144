package compare

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/problem"
	"plimsoll/lab/prove/compare/verdict"
)

// silent is for what a self-test says.
func silent(string) {}

// A self-test that is stopped within a trial goes on with the rest of that trial, and can have more trials.
func TestSelfTest_Resumes(t *testing.T) {
	o := programs(t, "100")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	inSecond := 0
	o.Progress = func(p Progress) {
		if p.Ended != nil && p.Trial == 2 {
			if inSecond++; inSecond == 3 {
				stop()
			}
		}
	}
	stopped, err := SelfTest(ctx, o, AA, 2, silent)
	if err != nil || stopped.Done != 1 || stopped.UnderWay == "" {
		t.Fatalf("%v %+v", err, stopped)
	}
	again := 0
	o.Resume = true
	o.Progress = func(p Progress) {
		if p.Ended != nil && p.Trial == 1 {
			again++
		}
		if p.Left < 0 || p.Share < 0 || p.Share > 1 {
			t.Errorf("%s left, %v done", p.Left, p.Share)
		}
	}
	var said strings.Builder
	whole, err := SelfTest(t.Context(), o, AA, 3, func(line string) { said.WriteString(line + "\n") })
	if err != nil || whole.Done != 3 || whole.UnderWay != "" || again > 0 || !whole.Holds {
		t.Fatalf("%v %+v, %d runs of a trial that was made", err, whole, again)
	}
	if whole.Trials[0] != stopped.Trials[0] || whole.Trials[1].ID != stopped.UnderWay {
		t.Errorf("%+v does not go on with %+v", whole, stopped)
	}
	for _, part := range []string{"1 earlier trials: 1 equal", "so far 3 equal"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("lacks %q:\n%s", part, said.String())
		}
	}
	if whole.Verdicts[string(verdict.Equal)] != 3 {
		t.Errorf("verdicts %v, want three equal", whole.Verdicts)
	}
	if _, err := SelfTest(t.Context(), o, Slow, 3, silent); problem.ClassOf(err) != problem.Usage {
		t.Errorf("a command is slowed: %v", err)
	}
	o.Seed++
	if _, err := SelfTest(t.Context(), o, AA, 3, silent); problem.ClassOf(err) != problem.Usage {
		t.Errorf("a self-test of other settings goes on: %v", err)
	}
}

// During the first trial the others are taken to last as long as it will, later as long as those that were made.
func TestSelfTest_EstimatesFromWhatItHasSeen(t *testing.T) {
	var seen Progress
	s := &selfTest{Options: Options{Progress: func(p Progress) { seen = p }}, SelfTested: &SelfTested{Wanted: 4}}
	for _, c := range []struct {
		done       int
		took, want float64 // seconds
	}{{0, 0, 70}, {2, 80, 50}} {
		s.Done, s.TookS, s.began = c.done, c.took, time.Now().Add(-10*time.Second)
		s.progress(Progress{Left: 10 * time.Second})
		if left := seen.Left.Seconds(); math.Abs(left-c.want) > 1 {
			t.Errorf("after %d trials %.0f s are left, want %.0f", c.done, left, c.want)
		}
	}
}

// The second side passes a proxy with a delay that the first runs have found. They are not made again.
func TestSelfTest_SlowsTheSecondSide(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := Options{Sides: []Side{server(t)}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Store: OpenStore(t.TempDir())}
	o.Sides[0].Run.Users = fewUsers
	if err := o.Sides[0].identify(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, release, err := beginSelfTest(t.Context(), Options{Sides: []Side{o.Sides[0], o.Sides[0]}, Pairs: o.Pairs,
		Margin: o.Margin, Seed: o.Seed, Store: o.Store}, Slow, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.DelayMS = 0.25
	if err := o.Store.keepSelfTest(s); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	if _, err := SelfTest(t.Context(), o, Slow, 1, silent); err == nil ||
		!strings.Contains(err.Error(), "in use by self-test (pid ") {
		t.Errorf("two self-tests in one file: %v", err)
	}
	release()
	done, err := SelfTest(t.Context(), o, Slow, 1, silent)
	if err != nil || done.Done != 1 || done.DelayMS != 0.25 {
		t.Fatalf("%v %+v", err, done)
	}
	c, err := o.Store.Load(done.Trials[0].ID)
	if err != nil || c.Plan.Sides[0].ProxyDelay != "0s" || c.Plan.Sides[1].ProxyDelay != "250µs" {
		t.Errorf("%v %+v", err, c.Plan.Sides)
	}
}

// The side that fails a fifth of what it is asked is faster in the rest, and worse.
func TestSelfTest_OfASideThatFails(t *testing.T) {
	t.Parallel() // it waits more than it works
	o := Options{Sides: []Side{server(t)}, Pairs: verdict.RunsMin, Margin: MarginDefault, Seed: 1,
		Store: OpenStore(t.TempDir())}
	o.Sides[0].Run.Users = fewUsers
	if _, err := SelfTest(t.Context(), o, Failing, 1, silent); problem.ClassOf(err) != problem.Usage {
		t.Errorf("runs are too short for outages: %v", err)
	}
	o.Sides[0].Run.Duration = failingLeast
	done, err := SelfTest(t.Context(), o, Failing, 1, silent)
	if err != nil || done.Done != 1 || !done.Holds || done.Verdicts[string(verdict.Worse)] != 1 {
		t.Fatalf("%v %+v", err, done)
	}
	c, err := o.Store.Load(done.Trials[0].ID)
	if err != nil || c.Plan.Sides[1].Refuses != failingPart || c.Findings[0].Because == "" {
		t.Errorf("%v %+v %s", err, c.Plan.Sides, c.Statement())
	}
	t.Log(c.Statement())
}
