package run

import (
	"context"
	"sync"
	"time"

	"plimsoll/lab/run/result"
	"plimsoll/platform/presence"
)

// companyWithin bounds each look at other sessions, so that a server that hangs delays nobody.
const companyWithin = 5 * time.Second

// company is who else used the database during the run.
type company struct {
	looks  int
	loads  map[string]bool
	atWork map[string]int // sessions, over all looks

	stop context.CancelFunc
	done sync.WaitGroup
}

// accompany marks the database as under load and looks at its sessions once a second. If that is not possible, nothing
// is known.
func accompany(ctx context.Context, dsn, id string) *company {
	ctx, stop := context.WithCancel(ctx)
	c := &company{stop: stop, loads: map[string]bool{}, atWork: map[string]int{}}
	if dsn == "" {
		return c
	}
	connecting, connected := context.WithTimeout(ctx, companyWithin)
	mark, err := presence.Mark(connecting, dsn, "plimsoll run "+id)
	connected()
	if err != nil {
		return c
	}
	c.done.Add(1)
	go func() {
		defer c.done.Done()
		defer func() {
			closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), companyWithin)
			defer cancel()
			mark.Close(closing)
		}()
		second := time.NewTicker(time.Second)
		defer second.Stop()
		for {
			looking, looked := context.WithTimeout(ctx, companyWithin)
			seen, err := mark.Look(looking)
			looked()
			if err != nil {
				return
			}
			c.add(seen)
			select {
			case <-ctx.Done():
				return
			case <-second.C:
			}
		}
	}()
	return c
}

func (c *company) add(seen presence.OtherUsers) {
	c.looks++
	for _, load := range seen.Loads {
		c.loads[load] = true
	}
	for name, n := range seen.AtWork {
		c.atWork[name] += n
	}
}

// end removes the mark.
func (c *company) end() {
	c.stop()
	c.done.Wait()
}

// sessions of others at work, on average; less than a tenth of a session does not count.
func (c *company) sessions() (all []result.NeighbourSessions) {
	const least = 0.1
	for name, n := range c.atWork {
		if mean := float64(n) / float64(max(1, c.looks)); mean >= least {
			all = append(all, result.NeighbourSessions{Application: name, AtWork: mean})
		}
	}
	return all
}
