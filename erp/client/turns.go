package client

import (
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"

	"plimsoll/platform/id"
)

// turns go through a list that warehouses share, each in its own order: from its own start, by a step that has no
// divisor in common with the length, so that everything comes once before anything repeats.
type turns struct {
	length, from, step uint64
	taken              atomic.Uint64
}

// begin for a warehouse, if this client is one of several parts of the load: each starts elsewhere.
func (t *turns) begin(warehouse id.ID, length, part, parts int) {
	own := rand.New(rand.NewPCG(binary.BigEndian.Uint64(warehouse[:8]), binary.BigEndian.Uint64(warehouse[8:])))
	n := uint64(length)
	t.length, t.from, t.step = n, own.Uint64N(n), 1+own.Uint64N(n)
	for divisor(t.step, n) != 1 {
		t.step++
	}
	t.taken.Store(n * uint64(part) / uint64(max(1, parts)))
}

func (t *turns) next() int {
	k := (t.taken.Add(1) - 1) % t.length
	return int((t.from + k*t.step) % t.length)
}

// giveBack returns the last turn.
func (t *turns) giveBack() { t.taken.Add(^uint64(0)) }

func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
