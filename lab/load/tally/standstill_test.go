package tally

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// counted is the tally of operations that ended at the moments given, in seconds; each was due so long before.
func counted(t *testing.T, took float64, failed bool, parts int, at ...float64) *Tally {
	t.Helper()
	sum := New([]time.Duration{time.Second}, []int{1}, 2*time.Second, 20*time.Second)
	generators := make([]*Tally, parts)
	for i := range generators {
		generators[i] = New([]time.Duration{time.Second}, []int{1}, 2*time.Second, 20*time.Second)
	}
	next := 0
	for second := range 20 {
		page := NewSum(second, 1)
		for ; next < len(at) && at[next] < float64(second+1); next++ {
			s := Sample{Done: inSeconds(at[next]), Due: max(0, inSeconds(at[next]-took)), Outcome: OK}
			if failed && at[next] > 6 && at[next] < 11 {
				s.Outcome = Failed
			}
			generators[next%parts].Count(s)
		}
		for _, g := range generators {
			p, err := g.Tick(1, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			page.Add(p)
		}
		if err := sum.Add(page); err != nil {
			t.Fatal(err)
		}
	}
	return sum
}

func inSeconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

func every(step, from, to float64) (all []float64) {
	for at := from; at < to-1e-9; at += step {
		all = append(all, at)
	}
	return all
}

func TestStandstills(t *testing.T) {
	busy := append(every(0.05, 0.05, 6.1), every(0.05, 11, 20)...)
	for _, c := range []struct {
		name   string
		took   float64
		failed bool
		at     []float64
		want   string
	}{
		{"None", 0.02, false, every(0.05, 0.05, 20), ""},
		{"UsersWaited", 6, false, busy, "6.0-11.0"},
		{"NobodyWaited", 0.02, false, busy, ""},
		{"SomebodyCameLater", 3, false, busy, "8.0-11.0"},
		{"OnlyFailures", 0.05, true, every(0.05, 0.05, 20), "6.0-11.0"},
		{"UntilTheEnd", 4, true, every(0.05, 0.05, 10.96), "6.0-10.9"},
		{"BeforeTheSteadyState", 6, false, append(every(0.05, 0, 0.5), every(0.05, 2.5, 20)...), ""},
		{"SlowButSteady", 3, false, every(3, 1, 20), ""},
	} {
		for _, parts := range []int{1, 3} { // whoever counted, the sum of the pages says the same
			t.Run(fmt.Sprintf("%s/%d", c.name, parts), func(t *testing.T) {
				var got []string
				for _, s := range counted(t, c.took, c.failed, parts, c.at...).Standstills() {
					got = append(got, fmt.Sprintf("%.1f-%.1f", s.From.Seconds(), s.To.Seconds()))
				}
				if text := strings.Join(got, " "); text != c.want {
					t.Errorf("%q, want %q", text, c.want)
				}
			})
		}
	}
}

func TestFailuresStayInPercentiles(t *testing.T) {
	times := NewTimes()
	for ms := range 100 {
		times.Record(time.Duration(1+ms) * time.Millisecond)
	}
	for _, c := range []struct {
		failures int64
		p        float64
		wantMS   int64 // 0: a failure
	}{{0, 50, 50}, {0, 99, 99}, {0, 100, 100}, {1, 99, 100}, {1, 100, 0}, {10, 95, 0}, {10, 50, 55}, {100, 50, 100},
		{101, 50, 0}} {
		got, ok := times.PercentileWith(c.failures, c.p)
		if want := time.Duration(c.wantMS) * time.Millisecond; ok != (want > 0) || (got-want).Abs() > want/500 {
			t.Errorf("p%v with %d failures: %v %v, want %v", c.p, c.failures, got, ok, want)
		}
	}
	if mean, deviation := times.Mean(); (mean-50500*time.Microsecond).Abs() > 100*time.Microsecond ||
		(deviation-28866*time.Microsecond).Abs() > 100*time.Microsecond {
		t.Errorf("mean %v, standard deviation %v", mean, deviation)
	}
	if _, ok := NewTimes().PercentileWith(3, 50); ok {
		t.Error("nothing was answered, and there is a median")
	}
}
