package crash

import (
	"slices"
	"testing"
)

// Cuts fall where readers were shown what its author did not know yet, and elsewhere.
func TestCutsFallOnEarlyReads(t *testing.T) {
	one := func(key, document string, number uint64) ack {
		return ack{key: key, document: document, number: number}
	}
	l := &loaded{begin: 100, acks: []ack{one("k1", "d1", 500), one(shownMark+"d1", "", 400), one("k2", "d2", 600),
		one(shownMark+"d2", "", 700), one(shownMark+"old", "", 300), one("k3", "d3", 990), one(shownMark+"d3", "", 950),
		one("change", "d1", 800)}}
	if got := l.earlyReads(900); !slices.Equal(got, []uint64{400}) {
		t.Errorf("early reads at %v", got)
	}
	if got := l.earlyReads(1000); !slices.Equal(got, []uint64{400, 950}) {
		t.Errorf("early reads at %v", got)
	}
	onRead, others := 0, map[uint64]bool{}
	for seed := range uint64(200) {
		if at := l.moment(seed, 900); at == 400 {
			onRead++
		} else if others[at] = true; at < 300 || at > 900 {
			t.Errorf("seed %d cuts at %d", seed, at)
		}
	}
	if onRead < 100 || len(others) < 50 {
		t.Errorf("%d of 200 cuts on the read, and %d others", onRead, len(others))
	}
}
