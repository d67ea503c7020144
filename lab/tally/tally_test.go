package tally

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const second = time.Second

func newTally() *Tally {
	return New([]time.Duration{second, second / 2}, []int{1, 2}, 2*second, 6*second)
}

func sample(t *rapid.T) Sample {
	ms := func(label string, to int) time.Duration {
		return time.Duration(rapid.IntRange(0, to).Draw(t, label)) * time.Millisecond
	}
	s := Sample{Operation: rapid.IntRange(0, 1).Draw(t, "op"), Due: ms("due", 8000)}
	s.Sent = s.Due + ms("lag", 50)
	s.Done = s.Sent + ms("service", 5000)
	s.Outcome = Outcome(rapid.IntRange(0, int(outcomes)-1).Draw(t, "outcome"))
	if s.Outcome == Failed {
		s.Err = fmt.Errorf("error %d", rapid.IntRange(0, 30).Draw(t, "error"))
	}
	return s
}

// play counts samples as a loop does: in order of their ends, a tick each second.
func play(t *Tally, samples []Sample, seconds int) error {
	slices.SortStableFunc(samples, func(a, b Sample) int { return int(a.Done - b.Done) })
	var errs error
	for tick, i := 1, 0; tick <= seconds; tick++ {
		for ; i < len(samples) && samples[i].Done < time.Duration(tick)*second; i++ {
			t.Count(samples[i])
		}
		errs = errors.Join(errs, t.Timeline.Tick(10, 1, 0))
	}
	return errors.Join(errs, t.Timeline.Close(10))
}

func TestMergeEqualsCountingTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.Custom(sample), 0, 12)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		one, two, both := newTally(), newTally(), newTally()
		together := append(slices.Clone(a), b...)
		if err := errors.Join(play(one, a, 14), play(two, b, 14), play(both, together, 14), one.Merge(two)); err != nil {
			t.Fatal(err)
		}
		if one.Outcomes() != both.Outcomes() || one.Answered != both.Answered {
			t.Fatalf("outcomes %v %d, together %v %d", one.Outcomes(), one.Answered, both.Outcomes(), both.Answered)
		}
		for i := range one.Operations {
			x, y := one.Operations[i], both.Operations[i]
			if x.Apdex != y.Apdex || x.Units != y.Units || x.Latency.Max() != y.Latency.Max() {
				t.Fatalf("operation %d: %+v, together %+v", i, x, y)
			}
			for p := 0.0; p <= 100; p += 12.5 {
				m, _ := x.Latency.Percentile(p)
				n, _ := y.Latency.Percentile(p)
				if m != n {
					t.Fatalf("p%v %v, together %v", p, m, n)
				}
			}
		}
		for i, x := range one.Timeline.Intervals {
			y := both.Timeline.Intervals[i]
			if x.Outcomes != y.Outcomes || x.Apdex != y.Apdex || x.P99 != y.P99 || x.LagMax != y.LagMax || x.Users != 2*y.Users {
				t.Fatalf("interval %d: %+v, together %+v", i, x, y)
			}
		}
	})
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name            string
		due, done       time.Duration
		judged, arrived int64
	}{
		{"BeforeIsTheRamp", 1 * second, 1900 * time.Millisecond, 0, 0},
		{"DueInTheRampAnsweredInTheWindow", 1900 * time.Millisecond, 2 * second, 0, 1},
		{"FromIsIn", 2 * second, 3 * second, 1, 1},
		{"DueInTheWindowAnsweredInTheDrain", 5 * second, 7 * second, 1, 0},
		{"ToIsOut", 6 * second, 7 * second, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newTally()
			got.Count(Sample{Due: c.due, Sent: c.due, Done: c.done})
			if got.Operations[0].N() != c.judged || got.Answered != c.arrived {
				t.Errorf("judged %d, arrived %d", got.Operations[0].N(), got.Answered)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	got := newTally()
	for _, outcome := range []Outcome{OK, Refused, Overload, Failed} {
		got.Count(Sample{Due: 3 * second, Sent: 3 * second, Done: 3*second + 1, Outcome: outcome, Err: errors.New("boom")})
	}
	op := got.Operations[0]
	if op.Apdex.Satisfied != 2 || op.Apdex.Frustrated != 2 {
		t.Errorf("a control's refusal satisfies, overload and errors frustrate: %+v", op.Apdex)
	}
	if op.Latency.N() != 2 || op.Units[0] != 2 || op.Errors["boom"] != 2 {
		t.Errorf("only answers have times: %d, %v; errors %v", op.Latency.N(), op.Units, op.Errors)
	}
}

func TestErrorTextsAreBounded(t *testing.T) {
	op := newOperation()
	for i := range 1000 {
		op.countError(fmt.Sprintf("no row %d", i), 1)
	}
	if len(op.Errors) != ErrorTextsMax+1 || op.Errors[OtherErrors] != 1000-ErrorTextsMax {
		t.Errorf("%d texts, %d others", len(op.Errors), op.Errors[OtherErrors])
	}
}

func TestTimes(t *testing.T) {
	t.Run("KeepWithinAThousandth", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			d := time.Duration(rapid.Int64Range(0, int64(TimesMax)).Draw(t, "ns"))
			times := NewTimes()
			times.Record(d)
			if got, _ := times.Percentile(100); float64(got-d) > float64(d)/1000+float64(TimesUnit) || float64(d-got) > float64(d)/1000+float64(TimesUnit) {
				t.Fatalf("%v kept as %v", d, got)
			}
		})
	})
	t.Run("SurviveEncoding", func(t *testing.T) {
		times := NewTimes()
		for i := range 1000 {
			times.Record(time.Duration(i*i) * time.Millisecond)
		}
		text, err := times.MarshalText()
		var back Times
		if err := errors.Join(err, back.UnmarshalText(text)); err != nil {
			t.Fatal(err)
		}
		if !back.counts.Equals(times.counts) {
			t.Error("not what was written")
		}
	})
}

func TestTimelineStaysSmallAndLosesNothing(t *testing.T) {
	line := newTimeline()
	line.most = 100
	const seconds = 301
	for s := range seconds {
		line.count(Sample{Done: time.Duration(s%7) * second}, second)
		if err := line.Tick(s, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := line.Close(1); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, i := range line.Intervals {
		sum += i.Answered()
	}
	if len(line.Intervals) > line.most || line.Width != 4*second || sum != seconds {
		t.Errorf("%d intervals of %v with %d operations", len(line.Intervals), line.Width, sum)
	}
	if last := line.Intervals[len(line.Intervals)-2]; last.P99 < 5*second || last.Users == 0 {
		t.Errorf("%+v", last)
	}
}
