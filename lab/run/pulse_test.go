package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/ground/postgres/cluster/clustertest"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/run/result"
)

func TestPulseFeelsAFreeze(t *testing.T) {
	var p freezeWatch
	for _, ms := range []int{20, 40, 60, 300, 320, 840, 860} { // 220 ms and 500 ms too late
		p.beat(time.Duration(ms) * time.Millisecond)
	}
	if want := []Frozen{{320 * time.Millisecond, 500 * time.Millisecond}}; !slices.Equal(p.frozen, want) {
		t.Errorf("%v, want %v", p.frozen, want)
	}
}

func TestAFrozenGeneratorIsNotValid(t *testing.T) {
	for _, c := range []struct {
		at, still time.Duration
		wrong     bool
	}{{5 * time.Second, 500 * time.Millisecond, true}, {5 * time.Second, 300 * time.Millisecond, false},
		{0, 500 * time.Millisecond, false}, {21 * time.Second, 500 * time.Millisecond, false}} {
		r := &record{Options: Options{LagLimit: LagLimitDefault},
			made: LoadResult{Tally: &tally.Tally{From: time.Second, To: 20 * time.Second},
				Frozen: []Frozen{{c.at, c.still}}}}
		var v verdict
		if r.judgeOwnWaits(&v, &result.Result{}); (len(v.reasons) > 0) != c.wrong {
			t.Errorf("%v from %v on: %q", c.still, c.at, v.reasons)
		}
	}
}

// TestWaitingForThePoolIsTheGeneratorsOwn lets twenty users share two connections.
func TestWaitingForThePoolIsTheGeneratorsOwn(t *testing.T) {
	o := ownRun(t, "application = \"none\"\nusers = 20\n[think]\nmean = \"0s\"\n[sql]\nconnections = 2\n"+
		"[operations.a]\ntarget = \"1s\"\nsql = \"SELECT pg_sleep(0.05)\"\n")
	o.DSN, o.LagLimit = clustertest.Database(t).Secret(), time.Second
	r := mustRun(t, t.Context(), o)
	w := r.Operations[0].OwnWait
	if w == nil || w.PoolMeanMS < 100 || w.MeanMS < w.PoolMeanMS || w.MaxMS < w.MeanMS {
		t.Fatalf("want 100 ms or more for the pool, got %+v", w)
	}
	if reasons := strings.Join(r.InvalidReasons, "\n"); r.Valid ||
		!strings.Contains(reasons, "for a connection of the generator's pool") {
		t.Errorf("valid %v, %q", r.Valid, r.InvalidReasons)
	}
}
