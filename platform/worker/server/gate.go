package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errOverloaded is answered with 503 and Retry-After.
var errOverloaded = errors.New("the worker is overloaded")

// errFlushesLag is answered before anything is done.
var errFlushesLag = errors.New("too many answers wait for the database to flush its log; nothing was done")

// gate bounds how many requests are processed and how many wait. It refuses the rest at once: with an unbounded queue,
// overload becomes collapse.
type gate struct {
	slots   chan struct{}
	queue   int64
	timeout time.Duration
	waiting atomic.Int64
}

func newGate(concurrency, queue int, timeout time.Duration) *gate {
	return &gate{slots: make(chan struct{}, concurrency), queue: int64(max(0, queue)), timeout: timeout}
}

// enter waits for a slot; leave frees it.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.queue {
		return errOverloaded
	}
	timer := time.NewTimer(g.timeout)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return errOverloaded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.slots }

// load is how many requests wait.
func (g *gate) load() int64 { return g.waiting.Load() }
