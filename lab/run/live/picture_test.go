package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/lab/load/tally"
)

// clock is a fake clock.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

// stage is a picture of a run of two operations on a fake clock.
type stage struct {
	*Picture
	clock  *clock
	second int
}

const stageRamp = 2 // seconds

var stageTargets = []time.Duration{time.Second, 500 * time.Millisecond}

func newStage() *stage {
	c := &clock{time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	s := &stage{Picture: New(c.now), clock: c}
	s.SetPlan(Plan{ID: "r1", Users: 10, RampS: stageRamp, SteadyS: 36000,
		Operations: []Operation{{ID: "post", Priority: 1}, {ID: "list", Priority: 2}}, LagLimitMS: 100})
	s.RampBegins()
	s.Begin("ramp", time.Hour)
	return s
}

// play lets seconds pass in which each operation ends once, after its latency.
func (s *stage) play(t testing.TB, seconds int, latency time.Duration, err error) {
	t.Helper()
	for range seconds {
		s.second++
		s.clock.t = s.clock.t.Add(time.Second)
		page := tally.NewPage(s.second-1, len(stageTargets))
		page.Users, page.InFlight = 10, 1
		cells := page.Judged
		if s.second <= stageRamp {
			cells = page.Others
		}
		for op, target := range stageTargets {
			sample := tally.Sample{Operation: op, Done: latency, Err: err}
			if err != nil {
				sample.Outcome = tally.Failed
			}
			cells[op].Count(sample, target)
		}
		s.Add(page)
		if s.second == stageRamp {
			s.Begin("steady", time.Hour)
		}
	}
}

func TestPicture(t *testing.T) {
	t.Run("MinutesAreMadeOfCounts", func(t *testing.T) {
		s := newStage()
		s.play(t, 57, 10*time.Millisecond, nil)
		s.play(t, 3, 900*time.Millisecond, nil)
		d, _ := s.Since(0)
		if len(d.Minutes) != 1 || len(d.Seconds) != 60 {
			t.Fatalf("%d minutes, %d seconds", len(d.Minutes), len(d.Seconds))
		}
		m := d.Minutes[0]
		// 6 of 120 took 900 ms: the median is 10, and the 99th percentile is of them; of the
		// three that were lists, with a target of 500 ms, three are tolerated.
		if m.Width != 60 || m.OK != 120 || *m.P50 < 9.9 || *m.P50 > 10.1 || *m.P99 < 899 || *m.P99 > 901 ||
			m.Operations[1] != (Zones{57, 3, 0}) || m.Operations[0] != (Zones{60, 0, 0}) {
			t.Errorf("%+v, median %v, 99th %v", m, *m.P50, *m.P99)
		}
	})
	t.Run("ScoresTheSteadyStateOnly", func(t *testing.T) {
		s := newStage()
		s.play(t, 2, 10*time.Second, nil) // the ramp
		s.play(t, 5, 10*time.Millisecond, nil)
		d, _ := s.Since(0)
		if d.State.Ops != 10 || *d.State.Apdex != 1 || d.State.Operations[0] != (Zones{5, 0, 0}) {
			t.Errorf("want ten satisfied operations, got %+v", d.State)
		}
	})
	t.Run("ItsIntervalIsThatOfTheResult", func(t *testing.T) {
		s := newStage()
		counts := tally.New(stageTargets, []int{1, 2}, stageRamp*time.Second, (stageRamp+60)*time.Second)
		s.plan.SteadyS = 60
		for second := range stageRamp + 65 {
			latency := 10 * time.Millisecond
			if second >= 20 && second < 30 {
				latency = 5 * time.Second
			}
			due := time.Duration(second) * time.Second
			for op := range stageTargets {
				counts.Count(tally.Sample{Operation: op, Due: due, Sent: due, Done: due + latency})
			}
			page, err := counts.Tick(10, 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.Add(page)
		}
		want, _ := counts.ApdexInterval()
		d, _ := s.Since(0)
		if got := d.State.Interval; got == nil || *got != want || *s.Snapshot().State.Interval != want {
			t.Errorf("%+v, the result's is %+v", got, want)
		}
		if _, independent, _ := counts.Apdex(); want.Low > independent.Low-0.02 {
			t.Errorf("%+v tells no method from another: %+v", want, independent)
		}
	})
	t.Run("TellsWhatIsNewSinceANumber", func(t *testing.T) {
		s := newStage()
		s.play(t, 5, time.Millisecond, nil)
		first, _ := s.Since(0)
		none, more := s.Since(first.N)
		select {
		case <-more:
			t.Error("there is more though nothing was added")
		default:
		}
		s.play(t, 2, time.Millisecond, nil)
		<-more
		next, _ := s.Since(first.N)
		if !first.Reset || first.Plan == nil || none.Reset || len(none.Seconds)+len(none.Log) != 0 || next.Reset ||
			next.Plan != nil || len(next.Seconds) != 2 {
			t.Errorf("first %v, none %v, next %v", first, none, next)
		}
	})
	t.Run("TellsEverythingToWhoWasAwayTooLong", func(t *testing.T) {
		s := newStage()
		s.play(t, 5, time.Millisecond, nil)
		old, _ := s.Since(0)
		s.play(t, SecondsKept+10, time.Millisecond, nil)
		d, _ := s.Since(old.N)
		strange, _ := s.Since(1 << 40)
		if !d.Reset || d.Plan == nil || len(d.Seconds) != SecondsKept || !strange.Reset {
			t.Errorf("reset %v with %d seconds; a number that was never given: %v", d.Reset, len(d.Seconds),
				strange.Reset)
		}
	})
	t.Run("TellsTroubleWhenItBegins", func(t *testing.T) {
		s := newStage()
		s.play(t, 50, time.Millisecond, errors.New("broken: postgres://u:secret@h/d"))
		s.play(t, 40, time.Millisecond, nil)
		s.play(t, 2, time.Millisecond, errors.New("again"))
		d, _ := s.Since(0)
		var alarms []string
		for _, e := range d.Log {
			if e.Tone == Alarm {
				alarms = append(alarms, e.Text)
			}
		}
		if len(alarms) != 2 || !strings.Contains(alarms[0], "2 in a second: broken") ||
			strings.Contains(alarms[0], "secret") {
			t.Errorf("want two alarms without the secret, got %q", alarms)
		}
	})
	t.Run("AveragesWhatWasMeasuredOnly", func(t *testing.T) {
		s := newStage()
		half, wal := 0.5, 100.0
		s.play(t, 30, time.Millisecond, nil)
		s.SetCPU(Shares{Database: &half})
		s.SetDatabase(&Database{Classes: [6]float64{1, 2}, Waits: []Wait{{"Lock", "tuple", 2}}, WALBytes: &wal})
		s.play(t, 30, time.Millisecond, nil)
		d, _ := s.Since(0)
		m := d.Minutes[0]
		if *m.CPU.Database != 0.5 || m.CPU.Workers != nil || m.Database.Classes[1] != 2 ||
			*m.Database.WALBytes != 100 || m.Workers != nil || m.Database.Waits[0].Sessions != 2 {
			t.Errorf("%+v %+v", m.CPU, m.Database)
		}
	})
}

func TestPagesOfSeveralGenerators(t *testing.T) {
	page := func(latency time.Duration) tally.Page {
		p := tally.NewPage(0, 1)
		p.Judged[0].Count(tally.Sample{Done: latency}, time.Second)
		p.Users = 3
		return p
	}
	text, err := json.Marshal(page(5 * time.Second)) // it has travelled
	if err != nil {
		t.Fatal(err)
	}
	var b tally.Page
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	sum := page(10 * time.Millisecond)
	sum.Add(b)
	if p := newPoint(sum, tally.NewTimes()); p.T != 0 || p.Users != 6 || p.OK != 2 ||
		p.Operations[0] != (Zones{1, 0, 1}) || *p.P99 < 4990 {
		t.Errorf("want the sum of both pages, got %+v", p)
	}
}

func TestRestOfASecondIsShownWhereSomethingEndedInIt(t *testing.T) {
	s := newStage()
	s.play(t, 3, time.Millisecond, nil)
	rest := tally.NewSum(3, len(stageTargets))
	for range 2 {
		s.Add(rest)
		rest.Judged[1].Count(tally.Sample{}, time.Second)
	}
	if d, _ := s.Since(0); len(d.Seconds) != 4 || d.Seconds[3].OK != 1 || d.State.Ops != 3 {
		t.Errorf("%d seconds, %+v", len(d.Seconds), d.State)
	}
}

// Ten hours of one point per second must not need more than twenty minutes do.
func TestTenHoursAreBounded(t *testing.T) {
	s := newStage()
	measure := func() (live, all int) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		d, _ := s.Since(0)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return int(m.HeapAlloc), len(text)
	}
	play := func(to int) {
		for s.second < to {
			s.play(t, 1, time.Duration(s.second%700)*time.Millisecond, nil)
			if s.second%7 == 0 {
				s.Say(Note, fmt.Sprint("event ", s.second))
			}
		}
	}
	play(1200)
	early, _ := measure()
	play(36_000)
	late, all := measure()
	// Only the minutes may still grow: 580 more points of some 500 bytes.
	if late > early+2<<20 {
		t.Errorf("%d bytes are in use after ten hours, %d after twenty minutes", late, early)
	}
	d, _ := s.Since(0)
	if len(d.Seconds) != SecondsKept || len(d.Minutes) != 600 || len(d.Log) != EntriesKept || all > 1<<20 {
		t.Errorf("%d seconds, %d minutes, %d entries, %d bytes for a new page", len(d.Seconds), len(d.Minutes),
			len(d.Log), all)
	}
	if !slices.IsSortedFunc(d.Seconds, func(a, b *Point) int {
		return int(a.N - b.N)
	}) || d.Seconds[599].T != 35_999 || d.Minutes[599].T != 35_940 {
		t.Errorf("the last second is %v, the last minute %v", d.Seconds[599].T, d.Minutes[599].T)
	}
}
