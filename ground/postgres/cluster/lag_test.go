package cluster

import (
	"testing"
	"time"
)

// A standby is within an age if it has applied what was written so long ago, however much was written since.
func TestLagWatch(t *testing.T) {
	look := func(ms int, written, applied int64) (time.Duration, Standby) {
		behind := written - applied
		return time.Duration(ms) * time.Millisecond, Standby{LagBytes: &behind, written: written, applied: applied}
	}
	type step struct {
		ms               int
		written, applied int64
		near             bool
	}
	for name, steps := range map[string][]step{
		"NothingIsMissing":          {{0, 100, 100, true}},
		"ItIsAsOldAsAllowed":        {{0, 100, 0, false}, {500, 200, 50, false}, {1000, 300, 100, true}},
		"ItIsOlder":                 {{0, 100, 0, false}, {600, 200, 50, false}, {1001, 300, 150, false}},
		"ItIsPausedAndThePrimaryIs": {{0, 100, 99, false}, {1000, 100, 99, false}, {9000, 100, 99, false}},
		"ItIsPausedAndThenGoesOn":   {{0, 100, 99, false}, {9000, 100, 99, false}, {9500, 900, 100, true}},
	} {
		w := lagWatch{limit: LagLimit{Age: time.Second}}
		for i, s := range steps {
			at, standby := look(s.ms, s.written, s.applied)
			if near := w.near(standby, time.Unix(0, 0).Add(at)); near != s.near {
				t.Errorf("%s: look %d: %v", name, i, near)
			}
		}
	}
	if w := (lagWatch{limit: LagLimit{Age: time.Second}}); w.near(Standby{written: 1, applied: 1}, time.Now()) {
		t.Error("a standby that does not follow is near")
	}
}
