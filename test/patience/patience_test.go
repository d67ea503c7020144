package patience

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestHolds(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		want  bool
	}{
		{"AtOnce", 0, true},
		{"InTheEnd", Max - time.Second, true},
		{"Never", 2 * Max, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun, looks := time.Now(), 0
				held := Holds(func() bool {
					looks++
					return time.Since(begun) >= test.after
				})
				if held != test.want {
					t.Errorf("held: %v, after %v", held, time.Since(begun))
				}
				if most := int(test.after/pauseMax) + 10; looks > most {
					t.Errorf("%d looks, want at most %d", looks, most)
				}
			})
		})
	}
}
