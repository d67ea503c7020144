package users

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/lab/load/tally"
)

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestThinkingUserTakesLessThanHundredBytes(t *testing.T) {
	const users, most = 100_000, 100
	people := Crowd{Users: users, Operations: []Operation{{ID: "post", Weight: 1}}, Think: Think{Mean: time.Minute},
		Steady: time.Minute, Timeout: time.Second}
	empty := live()
	l, err := newLoop(people, &doorman{})
	if err != nil {
		t.Fatal(err)
	}
	tallies := uint64(1 << 20)
	if each := (live() - empty - tallies) / users; each > most {
		t.Errorf("%d bytes each", each)
	}
	runtime.KeepAlive(l)
}

// counter answers at once and stops the run after a number of operations.
type counter struct {
	doorman
	left atomic.Int64
	stop context.CancelFunc
}

func (c *counter) Play(context.Context, int, int, *rand.Rand) (tally.Outcome, error) {
	if c.left.Add(-1) == 0 {
		c.stop()
	}
	return tally.OK, nil
}

// BenchmarkOperation is what one operation costs the generator without its request.
func BenchmarkOperation(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	player := &counter{stop: stop}
	player.left.Store(int64(b.N))
	people := Crowd{Users: 30_000, InFlightMax: 100,
		Operations: []Operation{{ID: "post", Target: time.Second, Weight: 1}}, Steady: time.Hour, Timeout: time.Second}
	b.ResetTimer()
	if _, err := people.Run(ctx, player); err != nil {
		b.Fatal(err)
	}
}
