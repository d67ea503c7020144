package diagnose

import (
	"testing"
	"time"
)

func TestBlame(t *testing.T) {
	const late = 400 * time.Millisecond
	none, most := 10*time.Millisecond, 390*time.Millisecond
	for _, c := range []struct {
		name   string
		lost   time.Duration
		waited *time.Duration
		seen   states
		want   Culprit
	}{
		{"TheServerDidNothing", none, &none, states{}, StillServer},
		{"ItsProcessGotNoProcessor", none, &most, states{}, StillSession},
		{"ThisProgramGotNone", most, &none, states{}, StillSampler},
		{"NeitherGotOne", most, &most, states{}, StillSampler},
		{"AnotherMachine", none, nil, states{}, StillElsewhere},
		{"StoppedOnABusyMachine", most, &none, states{ready: 2, still: 12}, StillServer},
		{"ReadyOnABusyMachine", none, &none, states{ready: 20, still: 3}, StillSession},
		{"SeenTooLittle", most, &none, states{still: 2}, StillSampler},
	} {
		if got := stallCause(late, c.lost, c.waited, c.seen); got != c.want {
			t.Errorf("%s: blames %q, want %q", c.name, got, c.want)
		}
	}
}

func TestHeart_FeelsThatThisProgramStoodStill(t *testing.T) {
	at := time.Unix(100, 0)
	h := &heart{last: at}
	for range 10 {
		at = at.Add(beatEvery)
		h.beat(at)
	}
	if h.lost != 0 || h.wakes() != 0 {
		t.Errorf("it lost %s while it beat in time", h.lost)
	}
	h.beat(at.Add(beatEvery + 300*time.Millisecond))
	if h.lost != 300*time.Millisecond || h.wakes() != 0.15 {
		t.Errorf("it lost %s and wakes %.3f s late, want 300 ms and half of it", h.lost, h.wakes())
	}
}
