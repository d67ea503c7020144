package run

import (
	"time"

	"plimsoll/ground/human"
	"plimsoll/lab/run/result"
)

// The pulse of a generator. Between two beats it only waits for a timer; any longer delay was taken from the whole
// process: it was stopped, collected garbage, or had no processor. Answers that came meanwhile look as late as if the
// server were slow.
const (
	pulseBeat = 20 * time.Millisecond
	// FrozenLeast is the shortest delay beyond a beat that is reported.
	FrozenLeast = 250 * time.Millisecond
)

// Frozen is a time in which a generator stood still, since the start of the ramp.
type Frozen struct {
	At  time.Duration `json:"at_ns"`
	For time.Duration `json:"for_ns"`
}

// freezeWatch detects that this process was frozen.
type freezeWatch struct {
	last   time.Duration
	frozen []Frozen
}

// beat at a time since the start of the ramp.
func (p *freezeWatch) beat(now time.Duration) {
	if still := now - p.last - pulseBeat; still >= FrozenLeast {
		p.frozen = append(p.frozen, Frozen{p.last, still})
	}
	p.last = now
}

// watchForFreezes beats until the returned function is called, which returns when the process stood still.
func watchForFreezes(began time.Time) (end func() []Frozen) {
	var p freezeWatch
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		beats := time.NewTicker(pulseBeat)
		defer beats.Stop()
		p.last = time.Since(began)
		for {
			select {
			case <-over:
				return
			case <-beats.C:
				p.beat(time.Since(began))
			}
		}
	}()
	return func() []Frozen {
		close(over)
		<-ended
		return p.frozen
	}
}

// Limits of the generator's own waits, as parts of the limit of its lag.
const (
	// frozenLimits is how many limits it may stand still at once: half a second by default is too much.
	frozenLimits = 4
	// poolParts is the part of the limit that is too much as the mean wait for a connection of the pool, if it is also
	// more than poolShareMax of the users' total wait.
	poolParts    = 10
	poolShareMax = 0.1
)

func (r *record) judgeOwnWaits(v *verdict, all *result.Result) {
	for _, f := range r.made.Frozen {
		v.addReasonIf(result.ByGenerator, f.For > frozenLimits*r.LagLimit && f.At < r.made.Tally.To &&
			f.At+f.For > r.made.Tally.From, "the generator stood still for %.1f s from %.1f s on, limit %.1f s",
			f.For.Seconds(), f.At.Seconds(), (frozenLimits * r.LagLimit).Seconds())
	}
	for _, op := range all.Operations {
		w := op.OwnWait
		if w == nil || op.Latency.Mean == nil {
			continue
		}
		share := w.PoolMeanMS / max(*op.Latency.Mean, w.PoolMeanMS, 0.001)
		v.addReasonIf(result.ByGenerator, w.PoolMeanMS > human.MS(r.LagLimit)/poolParts && share > poolShareMax,
			"%s waited %.0f ms on average for a connection of the generator's pool, %.0f %% of its latency: raise "+
				"connections in [sql]", op.ID, w.PoolMeanMS, 100*share)
	}
}
