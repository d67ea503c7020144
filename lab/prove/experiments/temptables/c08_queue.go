package temptables

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C08, and what is required: on a machine of the claim's size clearly faster, on any not slower.
const (
	c08Turn       = 5 * time.Second
	c08Rounds     = 5
	c08Processors = 100 // the claim's "beyond about"
	c08Decisive   = 1.2
	c08NoSlower   = 0.95
)

// Figures of C08. The processors are a figure so that a finding keeps them.
const (
	stormRate      = "storms"
	processorCount = "processors"
)

// allOff is our build with all settings off: its temp tables send messages as those of stock do.
var allOff = site.Variant{Name: "ours, all settings off", Engine: site.Ours.Engine}

// messageStorm is the experiment behind C08. The counter is the same for any message, so those that are easiest to send
// will do.
func messageStorm(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c08Rounds), Turn: b.Turn(c08Turn),
		Series: []trial.Series{{Name: stormRate, Unit: "1/s"}, {Name: processorCount, Hidden: true}}}
	for _, v := range []site.Variant{site.Stock, allOff} {
		part.Sides = append(part.Sides, trial.Side{Name: v.Name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				p, err := cycle(bench.Storm, manyClients, part.Turn)
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					done, err := pgbench(ctx, s.Servers, v, p)
					return trial.Figures{stormRate: done.tps, processorCount: float64(runtime.NumCPU())}, err
				}, err
			}})
	}
	rate := func(v site.Variant) trial.Ref { return trial.At(v.Name, stormRate) }
	faster := trial.Ratio{Of: rate(allOff), To: rate(site.Stock), As: "storms of ours against stock"}
	part.Measured = []trial.Phrase{trial.Say("storms of %d clients: %s (%s against %s/s)", manyClients, faster,
		trial.Spread{Of: rate(allOff), Format: "%.0f"}, trial.Spread{Of: rate(site.Stock), Format: "%.0f"})}
	return trial.Trial{
		Text: fmt.Sprintf("%d sessions that send each other nothing but invalidation messages, on both flavours",
			manyClients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{
			{Of: faster, Confirm: trial.AtLeast(c08Decisive), Refute: trial.Below(c08NoSlower), Anywhere: true}},
			// what few processors show says nothing about a hundred
			Requires: []trial.Criterion{{Of: trial.Every{Of: trial.At(site.Stock.Name, processorCount),
				As: processorCount}, Confirm: trial.AtLeast(c08Processors), Unless: "cannot be had here: what few " +
				"processors show says nothing about a hundred; engine/bench/invalidations simulates them; " +
				site.OnLarger("C08")}},
		},
		Conditions: []claims.Condition{
			{Name: "load", Text: "temp tables without rows are created and dropped; with all settings off, each " +
				"sends messages to all sessions"},
			{Name: "bars", Text: fmt.Sprintf("×%g is our reading of \"decisive\"; that no machine is slower is our "+
				"own requirement", c08Decisive)},
		},
	}
}
