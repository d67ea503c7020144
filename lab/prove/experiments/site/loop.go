package site

import (
	"context"
	"errors"
	"math/rand/v2"
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
func BackToBack(ctx context.Context, n int, d time.Duration, client func(who int) func() error) ([]time.Duration,
	error) {
	return Thinking(ctx, n, d, 0, client)
}

// Thinking is BackToBack with clients who pause so long on average before each operation. No latency has the pause.
func Thinking(ctx context.Context, n int, d, think time.Duration, client func(who int) func() error) (
	all []time.Duration, err error) {
	var mutex sync.Mutex
	end := time.Now().Add(d)
	err = AllAtOnce(n, func(who int) error {
		once := client(who)
		if once == nil {
			return nil
		}
		rng := rand.New(rand.NewPCG(uint64(n), uint64(who)))
		var mine []time.Duration
		// Each acts once, also where it got no processor until the end: no figures are no turn.
		for pause(ctx, rng, think); (len(mine) == 0 || time.Now().Before(end)) && ctx.Err() == nil; pause(ctx, rng,
			think) {
			began := time.Now()
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

// pause of an exponentially distributed length; none on average 0.
func pause(ctx context.Context, rng *rand.Rand, mean time.Duration) {
	if mean <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(rng.ExpFloat64() * float64(mean))):
	}
}

// Mean of latencies in milliseconds; NaN of none.
func Mean(all []time.Duration) float64 {
	var sum time.Duration
	for _, one := range all {
		sum += one
	}
	return sum.Seconds() * 1000 / float64(len(all))
}

// Percentile of latencies in milliseconds, of a share from 0 to 1.
func Percentile(all []time.Duration, p float64) float64 {
	return stats.Percentile(all, p).Seconds() * 1000
}
