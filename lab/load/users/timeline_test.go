package users

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/lab/load/tally"
	"plimsoll/test/golden"
)

// server is a fake of what takes time and breaks: it answers after a time that
// depends on when it is asked, and stands still during a stall.
type server struct {
	began               time.Time
	service             time.Duration
	stallFrom, stallFor time.Duration
	failFrom            time.Duration // 0: never
	deaf                bool          // never answers
}

func (s *server) LogIn(context.Context, int) error { return nil }

func (s *server) Play(ctx context.Context, _, _ int, rng *rand.Rand) (tally.Outcome, error) {
	_ = rng.Uint64()
	at := time.Since(s.began)
	wait := s.service
	if at >= s.stallFrom && at < s.stallFrom+s.stallFor {
		wait += s.stallFrom + s.stallFor - at
	}
	if s.deaf {
		wait = time.Hour
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return tally.Failed, ctx.Err()
	}
	if s.failFrom > 0 && at >= s.failFrom {
		return tally.Failed, errors.New("broken pipe")
	}
	return tally.OK, nil
}

// film runs a crowd on the fake clock and keeps what happened.
func film(t *testing.T, c Crowd, s *server, during func(cancel context.CancelFunc)) (samples []tally.Sample,
	got *tally.Tally) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		ended := c.Ended
		c.Ended = func(s tally.Sample) {
			samples = append(samples, s)
			if ended != nil {
				ended(s)
			}
		}
		s.began = time.Now()
		if during != nil {
			go during(cancel)
		}
		var err error
		if got, err = c.Run(ctx, s); err != nil {
			t.Error(err)
		}
	})
	inOrder(samples)
	return samples, got
}

func inOrder(samples []tally.Sample) {
	slices.SortFunc(samples, func(a, b tally.Sample) int {
		if a.Due != b.Due {
			return int(a.Due - b.Due)
		}
		return a.User - b.User
	})
}

func crowd(n int) Crowd {
	return Crowd{
		Users: n,
		Operations: []Operation{{ID: "post", Target: time.Second, Priority: 1, Weight: 3},
			{ID: "list", Target: 500 * time.Millisecond, Priority: 2, Weight: 1}},
		Think:   Think{Mean: 2 * time.Second},
		Seed:    1,
		Steady:  10 * time.Second,
		Drain:   5 * time.Second,
		Timeout: time.Minute,
	}
}

func script(samples []tally.Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%4s  %-4s %9s %9s %9s %9s  %s\n", "user", "op", "due", "sent", "done", "latency", "outcome")
	for _, s := range samples {
		fmt.Fprintf(&b, "%4d  %-4s %9.3f %9.3f %9.3f %9.3f  %s\n", s.User, []string{"post", "list"}[s.Operation],
			s.Due.Seconds(), s.Sent.Seconds(), s.Done.Seconds(), s.Latency().Seconds(), s.Outcome)
	}
	return b.String()
}

func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Crowd, *server)
	}{
		{"calm", func(*Crowd, *server) {}},
		{"stall_of_the_server", func(_ *Crowd, s *server) { s.stallFrom, s.stallFor = 3*time.Second, 5*time.Second }},
		{"ramp", func(c *Crowd, _ *server) { c.Ramp = 4 * time.Second }},
		{"two_slots", func(c *Crowd, s *server) { c.InFlightMax, s.service = 2, 3*time.Second }},
		{"server_never_answers", func(_ *Crowd, s *server) { s.deaf = true }},
		{"errors_from_six_seconds", func(_ *Crowd, s *server) { s.failFrom = 6 * time.Second }},
		{"exponential", func(c *Crowd, _ *server) { c.Think.Distribution = Exponential }},
		{"roles", func(c *Crowd, _ *server) {
			c.Roles = []Role{
				{Name: "poster", Users: 1, Weights: []float64{1, 0},
					Think: Think{Distribution: Constant, Mean: time.Second}},
				{Name: "looker", Users: 3, Weights: []float64{0, 1}, Think: Think{Mean: 4 * time.Second}},
			}
		}},
		{"poisson", func(c *Crowd, _ *server) { c.Arrivals = &Arrivals{Poisson, 2} }},
		{"even_through_a_stall", func(c *Crowd, s *server) {
			c.Arrivals, s.stallFrom, s.stallFor = &Arrivals{Even, 2}, 3*time.Second, 4*time.Second
		}},
		{"rate_beyond_the_server", func(c *Crowd, s *server) {
			c.Arrivals, s.service, c.Ramp, c.Drain = &Arrivals{Even, 2}, 3*time.Second, 2*time.Second, 2*time.Second
		}},
		{"day", func(c *Crowd, _ *server) {
			c.Think.Distribution, c.Pace = Constant, Pace{{0, 1}, {0.3, 0}, {0.6, 0}, {0.7, 2}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			people, s := crowd(4), &server{service: 150 * time.Millisecond}
			c.change(&people, s)
			samples, _ := film(t, people, s, nil)
			for i := range samples {
				if people.Arrivals != nil { // sessions that were freed at one moment are taken in any order
					samples[i].User = 0
				}
			}
			golden.Compare(t, "testdata/"+c.name+".golden", script(samples))
		})
	}
}

func TestClosedModel(t *testing.T) {
	stalled := &server{service: 10 * time.Millisecond, stallFrom: 20 * time.Second, stallFor: 5 * time.Second}
	people := crowd(300)
	people.Steady = time.Minute
	samples, got := film(t, people, stalled, nil)

	t.Run("LatencyCountsFromDueDuringAStall", func(t *testing.T) {
		hit := map[int]bool{}
		for _, s := range samples {
			if s.Due < stalled.stallFrom || s.Due >= stalled.stallFrom+stalled.stallFor {
				continue
			}
			hit[s.User] = true
			want := stalled.stallFrom + stalled.stallFor + stalled.service - s.Due
			if s.Latency() != want {
				t.Fatalf("user %d due at %v waited %v, want %v", s.User, s.Due, s.Latency(), want)
			}
		}
		if len(hit) < 250 {
			t.Errorf("a stall of 5 s with a think time of 2 s met only %d of 300 users", len(hit))
		}
	})
	t.Run("NobodyMakesUpForTheStall", func(t *testing.T) {
		last := map[int]tally.Sample{}
		for _, s := range samples {
			if before, any := last[s.User]; any && s.Due < before.Done {
				t.Fatalf("user %d was due at %v, before the answer at %v", s.User, s.Due, before.Done)
			}
			last[s.User] = s
		}
	})
	t.Run("SteadyFromTheFirstMoment", func(t *testing.T) {
		early, late := 0, 0
		for _, s := range samples {
			switch {
			case s.Due < 10*time.Second:
				early++
			case s.Due >= 40*time.Second && s.Due < 50*time.Second:
				late++
			}
		}
		// 300 users, 2.01 s a cycle: 1493 in ten seconds. Counts of independent users
		// vary by less than Poisson, so five sigma are 200.
		for _, n := range []int{early, late} {
			if n < 1293 || n > 1693 {
				t.Errorf("%d operations in ten seconds, want about 1493", n)
			}
		}
	})
	t.Run("CountsEverySampleOnce", func(t *testing.T) {
		ops := got.Operations[0].N() + got.Operations[1].N()
		if int(ops) != len(samples) {
			t.Errorf("%d counted, %d happened", ops, len(samples))
		}
	})
	t.Run("SeriesShowsTheStall", func(t *testing.T) {
		quiet, after := got.Timeline.Intervals[22], got.Timeline.Intervals[25]
		if quiet.Answered() != 0 || after.Answered() < 250 || after.P99 < 4*time.Second {
			t.Errorf("in the stall %d answers; after it %d, p99 %v", quiet.Answered(), after.Answered(), after.P99)
		}
	})
}

func TestSchedule(t *testing.T) {
	type act struct {
		user, operation int
		think           time.Duration
	}
	// acts are what each user chose and how long it thought before, in its order.
	acts := func(service time.Duration, seed uint64) map[int][]act {
		people := crowd(20)
		people.Seed = seed
		samples, _ := film(t, people, &server{service: service}, nil)
		done, all := map[int]time.Duration{}, map[int][]act{}
		for _, s := range samples {
			all[s.User] = append(all[s.User], act{s.User, s.Operation, s.Due - done[s.User]})
			done[s.User] = s.Done
		}
		return all
	}
	fast, slow, other := acts(time.Millisecond, 7), acts(2*time.Second, 7), acts(time.Millisecond, 8)
	t.Run("DependsOnTheSeedAndNotOnTheServer", func(t *testing.T) {
		for user, list := range slow {
			if !slices.Equal(list, fast[user][:len(list)]) {
				t.Fatalf("user %d did %v on a slow server and %v on a fast one", user, list, fast[user])
			}
		}
	})
	t.Run("DiffersByTheSeed", func(t *testing.T) {
		if slices.Equal(fast[0], other[0]) {
			t.Error("seeds 7 and 8 make the same user")
		}
	})
}

func TestRamp(t *testing.T) {
	people := crowd(1000)
	people.Ramp = 20 * time.Second
	samples, got := film(t, people, &server{service: time.Millisecond}, nil)
	t.Run("EntersEvenly", func(t *testing.T) {
		for _, second := range []int{5, 10, 15} {
			if users := got.Timeline.Intervals[second-1].Users; users < 50*second || users > 50*second+1 {
				t.Errorf("%d users after %d s of 20, want %d", users, second, 50*second)
			}
		}
	})
	t.Run("IsNotMeasured", func(t *testing.T) {
		var steady int64
		for _, s := range samples {
			if s.Due >= people.Ramp {
				steady++
			}
		}
		if n := got.Operations[0].N() + got.Operations[1].N(); n != steady || n == int64(len(samples)) {
			t.Errorf("%d measured of %d, %d were due after the ramp", n, len(samples), steady)
		}
	})
}

// The machine stands still for five seconds, and with it the loop, the server and who waits for it. What ended at the
// end of that time is no answer of the second in which it began.
func TestAStandstillOfTheGeneratorIsNotHidden(t *testing.T) {
	people := crowd(50)
	people.Steady = 20 * time.Second
	s := &server{service: 300 * time.Millisecond, stallFrom: 6500 * time.Millisecond, stallFor: 5 * time.Second}
	stood := false
	people.Ended = func(s tally.Sample) {
		if !stood && s.Done >= 6700*time.Millisecond {
			stood = true
			time.Sleep(5500 * time.Millisecond)
		}
	}
	samples, got := film(t, people, s, nil)
	var last, first time.Duration // answers before and after
	for _, s := range samples {
		if s.Done <= 7*time.Second {
			last = max(last, s.Done)
		} else if first == 0 || s.Done < first {
			first = s.Done
		}
	}
	all := got.Standstills()
	if len(all) != 1 || all[0].To != first || all[0].From < last {
		t.Errorf("standstills %v, and nobody got an answer from %v to %v", all, last, first)
	}
}

func TestCancel(t *testing.T) {
	people := crowd(100)
	people.Steady = time.Hour
	stop := func(cancel context.CancelFunc) { time.Sleep(5 * time.Second); cancel() }
	t.Run("KeepsTheResultsSoFar", func(t *testing.T) {
		samples, got := film(t, people, &server{service: 100 * time.Millisecond}, stop)
		if got.To != 5*time.Second || len(samples) < 200 {
			t.Errorf("window to %v, %d samples", got.To, len(samples))
		}
		if last := samples[len(samples)-1]; last.Due > 5*time.Second || last.Outcome != tally.OK {
			t.Errorf("last sample %+v", last)
		}
	})
	t.Run("CountsWhoGotNoAnswerAsFrustrated", func(t *testing.T) {
		samples, got := film(t, people, &server{deaf: true}, stop)
		sum := got.Outcomes()
		if len(samples) == 0 || int(sum[tally.Failed]) != len(samples) ||
			got.Operations[0].Errors[ErrUnfinished.Error()] == 0 {
			t.Errorf("%d samples, outcomes %v, errors %v", len(samples), sum, got.Operations[0].Errors)
		}
		if score, _, _ := got.Apdex(); score != 0 {
			t.Errorf("Apdex %v", score)
		}
	})
	t.Run("CountsWhoWasNeverSentAsFrustrated", func(t *testing.T) {
		two := people
		two.InFlightMax = 2
		samples, got := film(t, two, &server{deaf: true}, stop)
		users := map[int]bool{}
		for _, s := range samples {
			users[s.User] = true
		}
		if len(samples) < 50 || len(users) != len(samples) || got.Lag.Max() < time.Second {
			t.Errorf("%d samples of %d users, lag %v", len(samples), len(users), got.Lag.Max())
		}
	})
	t.Run("InTheRampMeasuresNothing", func(t *testing.T) {
		ramping := people
		ramping.Ramp = time.Minute
		_, got := film(t, ramping, &server{service: time.Millisecond}, stop)
		if _, _, scored := got.Apdex(); scored || got.Steady() != 0 {
			t.Errorf("steady state of %v", got.Steady())
		}
	})
}

func TestTimeoutIsAFailure(t *testing.T) {
	people := crowd(5)
	people.Timeout = 2 * time.Second
	samples, got := film(t, people, &server{deaf: true}, nil)
	for _, s := range samples {
		if s.Outcome != tally.Failed || s.Latency() != people.Timeout {
			t.Fatalf("want a failure after the timeout, got %+v", s)
		}
	}
	if got.Operations[0].Latency.N() != 0 || got.Operations[0].Apdex.Frustrated == 0 {
		t.Error("a timeout has no latency and frustrates")
	}
}

func TestOpenModel(t *testing.T) {
	people := crowd(1000)
	people.Arrivals, people.Steady = &Arrivals{Poisson, 100}, time.Minute
	stalled := &server{service: 10 * time.Millisecond, stallFrom: 20 * time.Second, stallFor: 5 * time.Second}
	samples, got := film(t, people, stalled, nil)
	calm, _ := film(t, people, &server{service: time.Millisecond}, nil)

	t.Run("ArrivesAtItsRateWhateverTheServerDoes", func(t *testing.T) {
		// 6000 in a minute; five sigma are 387.
		if n := len(samples); n < 5613 || n > 6387 || n != len(calm) {
			t.Errorf("%d arrivals with a stall, %d without", n, len(calm))
		}
		for i, s := range samples {
			if s.Due != calm[i].Due {
				t.Fatalf("arrival %d at %v with a stall, at %v without", i, s.Due, calm[i].Due)
			}
		}
	})
	t.Run("GapsAreExponential", func(t *testing.T) {
		// The share of gaps above their mean is 1/e.
		long := 0
		for i := range samples[1:] {
			if samples[i+1].Due-samples[i].Due > 10*time.Millisecond {
				long++
			}
		}
		if share := float64(long) / float64(len(samples)); share < 0.337 || share > 0.399 {
			t.Errorf("%.3f of the gaps are above the mean, want 0.368", share)
		}
	})
	t.Run("LatencyCountsFromTheArrival", func(t *testing.T) {
		hit := 0
		for _, s := range samples {
			if s.Due >= stalled.stallFrom && s.Due < stalled.stallFrom+stalled.stallFor {
				hit++
				if want := stalled.stallFrom + stalled.stallFor + stalled.service - s.Due; s.Latency() != want {
					t.Fatalf("due at %v waited %v, want %v", s.Due, s.Latency(), want)
				}
			}
		}
		if hit < 400 {
			t.Errorf("a stall of 5 s met only %d of 500 arrivals", hit)
		}
	})
	t.Run("SessionsBoundWhatIsUnderWayAndTheRestIsTheBacklog", func(t *testing.T) {
		few := people
		few.Users, few.Steady, few.Drain = 5, 10*time.Second, time.Minute
		samples, got := film(t, few, &server{service: 100 * time.Millisecond}, nil)
		if got.InFlight != 5 || got.Backlog < 300 || got.Lag.Max() != 0 {
			t.Errorf("%d in flight, backlog %d, lag %v", got.InFlight, got.Backlog, got.Lag.Max())
		}
		busy := map[int]time.Duration{}
		slices.SortFunc(samples, func(a, b tally.Sample) int { return int(a.Sent - b.Sent) })
		for _, s := range samples {
			if s.Sent < busy[s.User] {
				t.Fatalf("session %d begins at %v and was busy until %v", s.User, s.Sent, busy[s.User])
			}
			busy[s.User] = s.Done
		}
		if last := got.Timeline.Intervals[8]; last.Backlog < 250 {
			t.Errorf("the series shows a backlog of %d after nine seconds", last.Backlog)
		}
	})
	t.Run("MixIsThatOfTheClosedModel", func(t *testing.T) {
		share := float64(got.Operations[0].N()) / float64(len(samples))
		if share < 0.72 || share > 0.78 {
			t.Errorf("%.3f of the operations are posts, want 0.75", share)
		}
	})
}
