package tally

import (
	"encoding/json"
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

// play counts samples as a loop does: in order of their ends, a tick each second. It gives
// the pages as well.
func play(t *Tally, samples []Sample, seconds, users int) (pages []Page, errs error) {
	slices.SortStableFunc(samples, func(a, b Sample) int { return int(a.Done - b.Done) })
	for tick, i := 1, 0; tick <= seconds; tick++ {
		for ; i < len(samples) && samples[i].Done < time.Duration(tick)*second; i++ {
			t.Count(samples[i])
		}
		page, err := t.Tick(users, 1, 0)
		pages, errs = append(pages, page), errors.Join(errs, err)
	}
	page, err := t.Close(users, 1, 0)
	return append(pages, page), errors.Join(errs, err)
}

// TestPagesOfSeveralAddUpToCountingTogether lets one generator count a recorded timeline, then
// several, each the operations of its users, and sums up their pages as they cross a wire.
func TestPagesOfSeveralAddUpToCountingTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(sample), 0, 40).Draw(t, "samples")
		generators := rapid.IntRange(1, 5).Draw(t, "generators")
		both := newTally()
		together, err := play(both, slices.Clone(all), 14, 10*generators)
		if err != nil {
			t.Fatal(err)
		}
		parts := make([][]Sample, generators)
		for i, s := range all {
			parts[i%generators] = append(parts[i%generators], s)
		}
		sums := make([]Page, len(together))
		for k := range sums {
			sums[k] = NewSum(k, 2)
		}
		for _, part := range parts {
			pages, err := play(newTally(), part, 14, 10)
			if err != nil {
				t.Fatal(err)
			}
			for k, page := range pages {
				sums[k].Add(sent(t, page))
			}
		}
		summed := newTally()
		for _, page := range sums {
			if err := summed.Add(page); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, summed, both)
	})
}

// sent is a page that went over the wire.
func sent(t *rapid.T, p Page) (back Page) {
	text, err := json.Marshal(p)
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil {
		t.Fatal(err)
	}
	if !back.Fits(2) || back.Fits(3) {
		t.Fatalf("want a page of two operations, got %+v", back)
	}
	return back
}

func compare(t *rapid.T, one, both *Tally) {
	if one.Outcomes() != both.Outcomes() || one.Answered != both.Answered || !one.Lag.counts.Equals(both.Lag.counts) {
		t.Fatalf("outcomes %v %d, together %v %d", one.Outcomes(), one.Answered, both.Outcomes(), both.Answered)
	}
	for i := range one.Operations {
		x, y := one.Operations[i], both.Operations[i]
		if x.Apdex != y.Apdex || x.Units != y.Units || !x.Latency.counts.Equals(y.Latency.counts) ||
			errorsOf(x) != errorsOf(y) {
			t.Fatalf("operation %d: %+v, together %+v", i, x, y)
		}
	}
	if len(one.Timeline.Intervals) != len(both.Timeline.Intervals) {
		t.Fatalf("%d intervals, together %d", len(one.Timeline.Intervals), len(both.Timeline.Intervals))
	}
	for i, x := range one.Timeline.Intervals {
		y := both.Timeline.Intervals[i]
		if x.Outcomes != y.Outcomes || x.Apdex != y.Apdex || x.P50 != y.P50 || x.P99 != y.P99 || x.LagMax != y.LagMax ||
			x.Users != y.Users {
			t.Fatalf("interval %d: %+v, together %+v", i, x, y)
		}
	}
}

// errorsOf an operation in all; which texts are kept when there are many is a matter of who came first.
func errorsOf(o *Operation) (n int64) {
	for _, k := range o.Errors {
		n += k
	}
	return n
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
			tick(t, got)
			if got.Operations[0].N() != c.judged || got.Answered != c.arrived {
				t.Errorf("judged %d, arrived %d", got.Operations[0].N(), got.Answered)
			}
		})
	}
}

func tick(t *testing.T, counted *Tally) {
	t.Helper()
	if _, err := counted.Tick(1, 1, 0); err != nil {
		t.Fatal(err)
	}
}

func TestOutcomes(t *testing.T) {
	got := newTally()
	for _, outcome := range []Outcome{OK, Refused, Overload, Failed} {
		got.Count(Sample{Due: 3 * second, Sent: 3 * second, Done: 3*second + 1, Outcome: outcome,
			Err: errors.New("boom")})
	}
	tick(t, got)
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
		countError(op.Errors, fmt.Sprintf("no row %d", i), 1)
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
			if got, _ := times.Percentile(100); float64(got-d) > float64(d)/1000+float64(TimesUnit) ||
				float64(d-got) > float64(d)/1000+float64(TimesUnit) {
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
	all := New([]time.Duration{second}, []int{1}, 0, time.Hour)
	line := all.Timeline
	line.most = 100
	const seconds = 301
	for s := range seconds {
		all.Count(Sample{Done: time.Duration(s%7) * second})
		if _, err := all.Tick(s, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.Close(1, 0, 0); err != nil {
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
		t.Errorf("want a p99 of 5 s or more, got %+v", last)
	}
}
