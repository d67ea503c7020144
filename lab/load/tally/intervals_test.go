package tally

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/lab/load/apdex"
	"plimsoll/lab/stats"
)

// steady is a tally of so many seconds with 20 operations each, whose latency a function of the second gives.
func steady(t testing.TB, seconds int, latency func(second int) time.Duration) *Tally {
	t.Helper()
	counts := New([]time.Duration{second}, []int{1}, 0, time.Duration(seconds)*second)
	for s := range seconds + 5 {
		for i := range 20 {
			if s < seconds {
				due := time.Duration(s)*second + time.Duration(i)*50*time.Millisecond
				counts.Count(Sample{Due: due, Sent: due, Done: due + latency(s)})
			}
		}
		if _, err := counts.Tick(20, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

func TestIntervalsKnowThatNeighboursShareTheirLuck(t *testing.T) {
	spell := func(s int) time.Duration { // ten seconds of 60 are bad, together
		if s >= 20 && s < 30 {
			return 5 * second
		}
		return 100 * time.Millisecond
	}
	counts := steady(t, 60, spell)
	got, basis := counts.ApdexInterval()
	_, independent, _ := counts.Apdex()
	if basis == nil || basis.Seconds != 60 || basis.Block < 2 || got.Low > independent.Low-0.02 ||
		got.High < independent.High+0.02 || got.High > 1 {
		t.Errorf("%+v on %+v, independent operations %+v", got, basis, independent)
	}
	if one := counts.ApdexIntervalOf(0); one.Low > independent.Low-0.02 {
		t.Errorf("of the operation %+v", one)
	}
	if low, high, ok := counts.PercentileInterval(0, 50); !ok || low > 101*time.Millisecond ||
		high > 101*time.Millisecond || low < 99*time.Millisecond {
		t.Errorf("p50 in %v-%v, %v", low, high, ok)
	}
	if low, high, ok := counts.PercentileInterval(0, 85); !ok || low > 200*time.Millisecond || high < 4*second {
		t.Errorf("p85 in %v-%v, %v", low, high, ok)
	}
	if low, high, ok := counts.RateInterval(); !ok || low > 20 || high < 20 || low < 10 {
		t.Errorf("%v-%v per second, %v", low, high, ok)
	}
}

func TestIntervalsKeepAWidthWhereAllIsWell(t *testing.T) {
	counts := steady(t, 30, func(int) time.Duration { return 100 * time.Millisecond })
	if got, _ := counts.ApdexInterval(); got.High != 1 || got.Low >= 1 || got.Low < 0.99 {
		t.Errorf("want an interval from 0.99 to 1, got %+v", got)
	}
}

func TestIntervalsOfAShortRunTakeOperationsAsIndependent(t *testing.T) {
	counts := steady(t, stats.MomentsMin-1, func(int) time.Duration { return 2 * second })
	got, basis := counts.ApdexInterval()
	if _, want, _ := counts.Apdex(); basis != nil || got != want {
		t.Errorf("%+v on %+v, want %+v", got, basis, want)
	}
	if _, _, ok := counts.PercentileInterval(0, 50); ok {
		t.Error("an interval of a percentile from too few seconds")
	}
	if _, _, ok := counts.RateInterval(); ok {
		t.Error("an interval of the rate from too few seconds")
	}
}

func TestPercentileOfFewHasNoUpperBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	counts := steady(t, 10, func(int) time.Duration { return time.Duration(random.IntN(900)) * time.Millisecond })
	if low, high, ok := counts.PercentileInterval(0, 99); !ok || high != 0 || low == 0 {
		t.Errorf("p99 of 200 operations in %v-%v, %v", low, high, ok)
	}
}

func TestIntervalsOfPercentilesHoldThePercentiles(t *testing.T) {
	// One of ten operations fails; the latency rises with the second.
	counts := New([]time.Duration{second}, []int{1}, 0, 60*second)
	for s := range 60 {
		for i := range 20 {
			due := time.Duration(s) * second
			sample := Sample{Due: due, Done: due + time.Duration(10+s)*time.Millisecond}
			if i%10 == s%10 {
				sample.Outcome = Failed
			}
			counts.Count(sample)
		}
		if _, err := counts.Tick(20, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []float64{10, 50, 85} {
		alone, _ := counts.Operations[0].Latency.Percentile(p)
		ofAll, _ := counts.Operations[0].Latency.PercentileWith(120, p)
		if low, high, ok := counts.PercentileInterval(0, p); !ok || low > alone || high < alone && high != 0 {
			t.Errorf("p%v %v in %v-%v, %v", p, alone, low, high, ok)
		}
		low, high, ok := counts.PercentileIntervalOfAll(0, p)
		if !ok || low > ofAll || high < ofAll && high != 0 || ofAll <= alone && p > 10 {
			t.Errorf("p%v of all %v in %v-%v, %v; of the answered %v", p, ofAll, low, high, ok, alone)
		}
	}
	if low, high, ok := counts.PercentileIntervalOfAll(0, 99); ok || high != 0 {
		t.Errorf("a p99 among the failures in %v-%v", low, high)
	}
}

// TestPercentilesOfEqualRunsMeet: timers move a little between runs, and that is no difference of the systems.
func TestPercentilesOfEqualRunsMeet(t *testing.T) {
	high := func(d time.Duration) time.Duration {
		_, high, ok := steady(t, 30, func(int) time.Duration { return d }).PercentileInterval(0, 50)
		if !ok {
			t.Fatal("no interval")
		}
		return high
	}
	slower := steady(t, 30, func(int) time.Duration { return 253100 * time.Microsecond })
	later, _, ok := slower.PercentileInterval(0, 50)
	if equal := high(252200 * time.Microsecond); !ok || equal < later {
		t.Errorf("p50 of 252.2 ms ends at %v, that of 253.1 ms begins at %v", equal, later)
	}
	if faster := high(248 * time.Millisecond); faster >= later {
		t.Errorf("p50 of 248 ms ends at %v, that of 253.1 ms begins at %v: a difference of 2 %% is not seen", faster,
			later)
	}
}

func TestMomentsHoldWhatTheTallyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(sample), 0, 60).Draw(t, "samples")
		counts := newTally()
		if _, err := play(counts, all, 14, 10); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "times joined") {
			counts.moments.widen()
		}
		for i, op := range counts.Operations {
			var sum apdex.Counts
			var latencies uint32
			for _, m := range counts.moments.all {
				sum.Add(m.cells[i].Counts)
				for _, b := range m.cells[i].latency {
					latencies += b.n
				}
			}
			if sum != op.Apdex || int64(latencies) != op.Latency.N() {
				t.Fatalf("%+v and %d latencies in the moments, %+v and %d in the tally", sum, latencies, op.Apdex,
					op.Latency.N())
			}
		}
	})
}

func TestBinsAreNarrowAndInOrder(t *testing.T) {
	last := uint16(0)
	for v := int64(0); v < int64(TimesMax/TimesUnit); v += 1 + v/500 {
		at := binOf(v)
		if at < last {
			t.Fatalf("%d lies in bin %d, less than %d", v, at, last)
		}
		if wide := v + v/32 + 2; binOf(wide) == at {
			t.Fatalf("%d and %d lie in one bin", v, wide)
		}
		last = at
	}
}

func TestMomentsOfALongRunAreBounded(t *testing.T) {
	counts := New([]time.Duration{second}, []int{1}, 0, 3*momentsMost*second)
	for range 20 {
		counts.Count(Sample{Done: 100 * time.Millisecond})
	}
	page := counts.open
	for page.Second < 3*momentsMost { // Tick does more than this, for as long
		counts.moments.add(page, counts.From)
		page.Second++
	}
	if n := len(counts.moments.all); n > momentsMost || counts.moments.width < 4 {
		t.Errorf("%d moments of %d s", n, counts.moments.width)
	}
	if got, basis := counts.ApdexInterval(); basis.Seconds < 3*momentsMost-8 || got.High != 1 {
		t.Errorf("%+v on %+v", got, basis)
	}
}

func TestPercentileIsExceededByNoMoreThanTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := NewTimes()
		n := rapid.IntRange(1, 300).Draw(t, "values")
		for i := range n {
			times.Record(time.Duration(i+1) * time.Millisecond)
		}
		for _, p := range []float64{1, 50, 90, 95, 99, 99.9, 100} {
			got, _ := times.Percentile(p)
			rank := int(got.Round(time.Millisecond) / time.Millisecond)
			if 100*rank < int(p*float64(n)) || p < 100 && float64(rank-1) >= p/100*float64(n) {
				t.Fatalf("p%v of %d values is the %dth", p, n, rank)
			}
		}
	})
}
