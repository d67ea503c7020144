// Package probe measures what this machine's hardware costs a database: memory, cache lines between cores, the clock,
// sleeps, and flushes of a folder's device. Each probe ends at its deadline and with its context, and leaves nothing.
//
// The least of many short batches is the hardware's own figure, even on a busy machine: what a batch loses to others is
// in the median. Go starts no thread from a pinned one, and a pinned thread ends with its goroutine.
package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Times of one thing: nanoseconds.
type Times struct {
	N      int     `json:"n"`
	Least  float64 `json:"least_ns"`
	Median float64 `json:"median_ns"`
	P99    float64 `json:"p99_ns"`
	Most   float64 `json:"most_ns"`
}

// TimesOf sorts what was measured.
func TimesOf(all []float64) (t Times, err error) {
	if len(all) == 0 {
		return t, fmt.Errorf("timed out before anything was measured")
	}
	slices.Sort(all)
	n := len(all)
	return Times{n, all[0], all[n/2], all[min(n-1, n*99/100)], all[n-1]}, nil
}

// on runs a function on a thread that is pinned to a processor.
func on(processor int, do func()) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends with the goroutine, and its pin with it
		var set unix.CPUSet
		set.Set(processor)
		err := unix.SchedSetaffinity(0, &set)
		if err == nil {
			do()
		} else {
			err = fmt.Errorf("pin a thread to processor %d: %w", processor, err)
		}
		done <- err
	}()
	return <-done
}

// Allowed are the processors that this program may use.
func Allowed() (all []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	for id := 0; len(all) < set.Count(); id++ {
		if set.IsSet(id) {
			all = append(all, id)
		}
	}
	return all, nil
}

// Sizes of the chase: an area that no cache of one core holds, read line by line in random order.
const (
	lineBytes = 64
	lineWords = lineBytes / 4
	chased    = 20_000 // lines in one batch
)

// Area of memory near a processor, a chain through all its lines.
type Area struct {
	words []uint32
	raw   []byte
}

// NewArea touches the memory first on a processor, so that the kernel takes it from that processor's node.
func NewArea(processor int, bytes int) (*Area, error) {
	raw, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d MB: %w", bytes>>20, err)
	}
	_ = unix.Madvise(raw, unix.MADV_HUGEPAGE) // without it some of the time is the page table's
	a := &Area{wordsOf(raw), raw}
	if err := on(processor, a.chain); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// chain all lines in one circle of random order (Sattolo).
func (a *Area) chain() {
	n := len(a.words) / lineWords
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := n - 1; i > 0; i-- {
		k := rng.IntN(i)
		order[i], order[k] = order[k], order[i]
	}
	for i, next := range order {
		a.words[i*lineWords] = next * lineWords
	}
}

// Close releases the memory.
func (a *Area) Close() { _ = unix.Munmap(a.raw) }

// chaseSink keeps the compiler from leaving the chase out.
var chaseSink atomic.Uint32

// Chase reads line after line from a processor: the time of one access.
func (a *Area) Chase(ctx context.Context, processor int, until time.Time) (t Times, err error) {
	var all []float64
	err = on(processor, func() {
		at := uint32(0)
		for ctx.Err() == nil && time.Now().Before(until) {
			began := time.Now()
			for range chased {
				at = a.words[at]
			}
			all = append(all, float64(time.Since(began))/chased)
		}
		chaseSink.Store(at)
	})
	if err != nil {
		return t, err
	}
	return TimesOf(all)
}

const (
	pinged    = 100     // round trips in one batch
	spinsLook = 1 << 16 // at the clock, far beyond a round trip of two processors
)

// PingPong is the round trip of one cache line between two processors.
func PingPong(ctx context.Context, a, b int, until time.Time) (t Times, err error) {
	var line struct {
		_     [lineBytes]byte
		value atomic.Uint64
		_     [lineBytes]byte
		over  atomic.Bool
		_     [lineBytes]byte
	}
	answered := make(chan error, 1)
	go func() {
		err := on(b, func() {
			for next := uint64(1); ; next += 2 {
				for line.value.Load() != next {
					if line.over.Load() {
						return
					}
				}
				line.value.Store(next + 1)
			}
		})
		line.over.Store(true) // also if it could not be pinned
		answered <- err
	}()
	var all []float64
	err = on(a, func() {
		defer line.over.Store(true)
		next := uint64(1)
		for ctx.Err() == nil && time.Now().Before(until) {
			began := time.Now()
			for range pinged {
				line.value.Store(next)
				for spins := 1; line.value.Load() != next+1; spins++ {
					// Where both threads must share one processor, a batch takes seconds.
					if line.over.Load() || spins%spinsLook == 0 && (ctx.Err() != nil || time.Now().After(until)) {
						return
					}
				}
				next += 2
			}
			// A batch that ends too late has no figure: one processor may have served both threads.
			if ended := time.Now(); ended.Before(until) {
				all = append(all, float64(ended.Sub(began))/pinged)
			}
		}
	})
	line.over.Store(true)
	if other := <-answered; err == nil {
		err = other
	}
	if err != nil {
		return t, err
	}
	return TimesOf(all)
}
