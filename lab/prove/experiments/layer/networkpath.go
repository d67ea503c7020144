package layer

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// networkPath is a way to the server: directly, or through a delaying proxy. Its address is known while it is open.
type networkPath struct {
	site.Address
	server  *site.Address
	delay   time.Duration
	precise time.Duration // by how much a round trip may miss the delay
	proxy   *delay.Proxy  // nil: directly
	took    time.Duration // the measured round trip
}

func newPath(server *site.Address, d time.Duration) *networkPath {
	return &networkPath{server: server, delay: d, precise: delay.Precise}
}

func (p *networkPath) name() string {
	if p.delay == 0 {
		return "loopback"
	}
	return p.delay.String() + " delay"
}

// checkDelay is the check that a path's measured round trip is true to its delay.
const checkDelay = "delay"

// open the path until the part of the experiment ends, tuned to its delay.
func (p *networkPath) open(ctx context.Context, r *trial.Record) (err error) {
	if p.DSN, p.proxy, err = site.Delayed(p.server.DSN, p.delay); err != nil {
		return err
	}
	if p.proxy == nil {
		p.took, err = site.RoundTrip(ctx, p.DSN)
		return err
	}
	r.AtEnd(p.proxy.Close)
	var missed time.Duration
	p.took, missed, err = p.proxy.Tune(func() (time.Duration, error) { return site.RoundTrip(ctx, p.server.DSN) },
		func() (time.Duration, error) { return site.RoundTrip(ctx, p.DSN) })
	if why := p.untrue(missed, "before the turns"); err == nil && why != "" {
		r.Fail(checkDelay, p.name()+": "+why)
	}
	return err
}

// exact measures the delay after each turn of the part. A turn after which it is not true is void, and corrects it for
// the next turn of that side: a machine that has just worked wakes up sooner than an idle one, on which the path was
// tuned, and its pace changes within minutes.
func (p *networkPath) exact(part trial.Part) trial.Part {
	part.Sides = slices.Clone(part.Sides)
	for i := range part.Sides {
		open := part.Sides[i].Open
		part.Sides[i].Open = func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
			turn, err := open(ctx, r)
			if err != nil || p.proxy == nil {
				return turn, err
			}
			held := p.proxy.Held()
			return func(ctx context.Context, n int) (trial.Figures, error) {
				p.proxy.Hold(held)
				figures, err := turn(ctx, n)
				if err != nil {
					return nil, err
				}
				missed, err := p.missed(ctx)
				if why := p.untrue(missed, "after it"); err == nil && why != "" {
					r.Void(why)
					held -= missed
				}
				return figures, err
			}, nil
		}
	}
	return part
}

// missed is by how much longer a round trip takes than the delay beyond the direct one.
func (p *networkPath) missed(ctx context.Context) (time.Duration, error) {
	without, err := site.RoundTrip(ctx, p.server.DSN)
	if err != nil {
		return 0, err
	}
	through, err := site.RoundTrip(ctx, p.DSN)
	return through - without - p.delay, err
}

// untrue says by how much a round trip misses the delay; empty: it is precise.
func (p *networkPath) untrue(missed time.Duration, when string) string {
	if missed.Abs() <= p.precise {
		return ""
	}
	return fmt.Sprintf("the round trip %s misses the delay by %.2f ms, more than %.2f", when, missed.Seconds()*1000,
		p.precise.Seconds()*1000)
}
