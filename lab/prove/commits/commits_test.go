package commits

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/test/leak"
)

func TestMain(m *testing.M) { leak.Main(clustertest.Runner(m)) }

// planted turns of all sides at 2 ms.
func planted(hot, spread, p95 float64) *Report {
	r := &Report{Sessions: 1, Connections: 1}
	for _, rows := range []Rows{Hot, Spread} {
		for _, s := range sides {
			t := Turn{PerSecond: 100, P95MS: 5}
			if s.name == "durable-ack" {
				t.P95MS += p95
			}
			if s.name == "durable-ack" && rows == Hot {
				t.PerSecond *= hot
			} else if s.name == "durable-ack" {
				t.PerSecond *= spread
			}
			r.Sides = append(r.Sides, Side{Rows: rows, Mode: s.name, FlushMS: 2, Turns: []Turn{t, t}})
		}
	}
	r.judge()
	return r
}

func TestEachCriterionCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		r   *Report
		met bool
	}{
		"AllMet": {planted(6, 0.95, 1), true}, "HotRowsTooSlow": {planted(4, 0.95, 1), false},
		"SpreadRowsTooSlow": {planted(6, 0.8, 1), false}, "AnswersTooLate": {planted(6, 0.95, 3), false},
	} {
		if c.r.Met() != c.met {
			t.Errorf("%s: %+v", name, c.r.Verdicts)
		}
	}
}

// Paced, answers and the rate are judged, and no ratio: all modes do what is due.
func TestPaced_EachCriterionCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		p95, rate float64
		met       bool
	}{"AllMet": {1, 100, true}, "AnswersTooLate": {3, 100, false}, "FallenBehind": {1, 90, false}} {
		r := planted(1, 0.1, c.p95)
		r.Rate, r.Sessions, r.Verdicts = 100, 256, nil
		for i := range r.Sides {
			if r.Sides[i].Mode == "durable-ack" {
				r.Sides[i].Turns[1].PerSecond, r.Sides[i].Turns[0].PerSecond = c.rate, 100
			}
		}
		if r.judge(); r.Met() != c.met || len(r.Verdicts) != 7 {
			t.Errorf("%s: %+v", name, r.Verdicts)
		}
	}
}

// Sessions take turns, and what was due while one waited is late, not left out.
func TestPace(t *testing.T) {
	b := &bench{Options: Options{Sessions: 4, Rate: 100}}
	start := time.Unix(0, 0)
	seen := map[time.Duration]bool{}
	for session := range b.Sessions {
		for i := range 25 {
			seen[b.pace(session, start)(i).Sub(start)] = true
		}
	}
	for i := range 100 {
		if !seen[time.Duration(i)*10*time.Millisecond] {
			t.Errorf("nothing is due after %d ms", 10*i)
		}
	}
	if b.Rate = 0; b.pace(0, start) != nil {
		t.Error("without a rate something is due")
	}
}

func TestATurnWithoutAnAnswerMeetsNothing(t *testing.T) {
	r := planted(6, 0.95, 1)
	for _, s := range r.Sides {
		if s.Mode == "sync" {
			s.Turns[1] = Turn{}
		}
	}
	r.Verdicts = nil
	if r.judge(); r.Met() {
		t.Errorf("met: %+v", r.Verdicts)
	}
}

func TestAllSidesAreMeasured(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Unsafe = false
	clusters := cluster.Open(clustertest.State(t))
	verdicts := map[int]int{0: 8, 200: 7}
	for rate, least := range verdicts {
		r, err := Run(t.Context(), Options{Clusters: clusters, Spec: spec, Sessions: 4, Connections: 4, Rounds: 1,
			Latencies: []time.Duration{2 * time.Millisecond}, Duration: 100 * time.Millisecond, Rate: rate,
			Progress: func(int, int, string) {}})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := r.Write(&text); err != nil {
			t.Fatal(err)
		}
		t.Log(text.String())
		if len(r.Sides) != 2*len(sides) || len(r.Verdicts) < least {
			t.Errorf("%d sides, %d verdicts", len(r.Sides), len(r.Verdicts))
		}
	}
	if left, _ := clusters.List(); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// Stopped in the middle, it gives what was measured, says that it is not all, and leaves nothing.
func TestStoppedKeepsWhatWasMeasured(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skipf("NOT TESTED: no C compiler: %v", err)
	}
	spec := clustertest.Copied(clustertest.Spec())
	spec.Unsafe = false
	clusters := cluster.Open(clustertest.State(t))
	const before = 7 // in the second round of hot rows
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, err := Run(ctx, Options{Clusters: clusters, Spec: spec, Latencies: []time.Duration{2 * time.Millisecond},
		Sessions: 2, Connections: 2, Duration: 50 * time.Millisecond, Rounds: 2, Progress: func(done, _ int, _ string) {
			if done == before {
				stop()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	for _, s := range r.Sides {
		turns += len(s.Turns)
	}
	if !r.Incomplete || r.TurnsDone != before || turns != before || r.Turns != 2*2*len(sides) || len(r.Verdicts) > 0 {
		t.Errorf("%d turns in %+v", turns, r)
	}
	var text strings.Builder
	if err := r.Write(&text); err != nil ||
		!strings.HasPrefix(text.String(), "INCOMPLETE: stopped after 7 of 20 turns") {
		t.Errorf("%v: %s", err, text.String())
	}
	if left, _ := clusters.List(); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}
