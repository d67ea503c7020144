package diagnose

import (
	"testing"
	"time"
)

// A process of one thread has work for one thread second after second; the sum of several threads comes near one core
// only at times.
func TestFullCore(t *testing.T) {
	for _, c := range []struct {
		name    string
		used    time.Duration // of ten seconds
		demands []float64
		want    bool
	}{
		{"one thread, nobody in its way", 9800 * time.Millisecond,
			[]float64{.98, .99, .98, .99, .97, .98, .98, .99, .98, .98}, true},
		{"one thread that waits for a core a fifth of the time", 7900 * time.Millisecond,
			[]float64{.98, 1.02, .98, 1.01, .97, .98, .91, .99, .98, .98}, true},
		{"one thread that has work half of the time", 5 * time.Second, nil, false},
		{"one thread that gets half of its core", 5 * time.Second, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, false},
		{"one thread with work three quarters of the time", 7500 * time.Millisecond,
			[]float64{.75, .74, .76, .75, .77, .75, .74, .75, .75, .75}, false},
		{"two threads, one core together", 10 * time.Second,
			[]float64{.8, 1.2, .95, 1.3, .75, 1.05, .85, 1.4, .7, 1}, false},
		{"two full threads", 20 * time.Second, []float64{1.98, 1.99, 2, 1.97, 1.98, 1.99, 2, 2, 1.98, 1.99}, false},
		{"never looked at while it was busy", 9 * time.Second, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &pidUse{used: c.used, demands: c.demands}
			if got := p.full(10); got != c.want {
				t.Errorf("keeps one core full: %v, want %v", got, c.want)
			}
		})
	}
}
