package live

import (
	"context"
	"time"

	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/server"
)

// askWithin bounds one question; a busy worker is asked again a second later.
const askWithin = 2 * time.Second

// WatchWorkers updates the picture's workers until ctx is done, from each worker's own figures. A worker that does not
// answer has no figure for that second.
func (p *Picture) WatchWorkers(ctx context.Context, asker server.Asker, urls []string) {
	defer p.SetWorkers(nil)
	if len(urls) == 0 {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var before database.Counters
	var at time.Time
	for {
		now, ok := askAll(ctx, asker, urls)
		switch {
		case !ok:
			at = time.Time{}
			p.SetWorkers(nil)
		case !at.IsZero():
			p.SetWorkers(workersSince(now, before, time.Since(at).Seconds()))
			fallthrough
		default:
			before, at = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func askAll(ctx context.Context, asker server.Asker, urls []string) (sum database.Counters, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	for _, url := range urls {
		answer, err := asker.Ask(ctx, url)
		if err != nil {
			return sum, false
		}
		for _, o := range answer.Operations {
			sum.Add(o.Database)
		}
	}
	return sum, true
}

func workersSince(now, before database.Counters, seconds float64) *Workers {
	now.Add(before.Times(-1))
	per := func(n int64) float64 { return max(0, float64(n)) / seconds }
	return &Workers{TempTables: per(now.TempTables.Used()), Statements: per(now.Statements),
		RoundTrips: per(now.RoundTrips)}
}
