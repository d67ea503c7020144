package site

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"plimsoll/lab/stats"
)

// Clients of the closed loops: no claim about a load is judged with fewer.
const Clients = SessionsLeast

// Streams that fill and audit bases: as many as the smallest machine has cores.
const Streams = 2

// Figures of closed loops.
const (
	OperationRate = "operations"
	MedianTime    = "median"
	P99Time       = "p99"
)

func AllAtOnce(n int, do func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() { defer all.Done(); errs[i] = do(i) }()
	}
	all.Wait()
	return errors.Join(errs...)
}

// BackToBack has n clients repeat an operation until d has passed, and returns the latencies, sorted. A client may be
// idle. If ctx ends it early that is an error, since the figures would be those of a shorter turn.
func BackToBack(ctx context.Context, n int, d time.Duration, client func(who int) func() error) (all []time.Duration,
	err error) {
	var mutex sync.Mutex
	end := time.Now().Add(d)
	err = AllAtOnce(n, func(who int) error {
		once := client(who)
		if once == nil {
			return nil
		}
		var mine []time.Duration
		// Each acts once, also where it got no processor until the end: no figures are no turn.
		for began := time.Now(); (len(mine) == 0 || began.Before(end)) && ctx.Err() == nil; began = time.Now() {
			if err := once(); err != nil {
				return err
			}
			mine = append(mine, time.Since(began))
		}
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, mine...)
		return ctx.Err()
	})
	slices.Sort(all)
	return all, err
}

// Percentile of latencies in milliseconds, of a share from 0 to 1.
func Percentile(all []time.Duration, p float64) float64 {
	return stats.Percentile(all, p).Seconds() * 1000
}
