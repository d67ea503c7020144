package temptables

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C43.
const (
	c43Turn   = 5 * time.Second
	c43Rounds = 6
	c43Asking = 3 * time.Second // how long the capacity is measured
	// c43Margin is how far two sides without a difference may be apart.
	c43Margin = 1.05
)

// Sides of C43: the same load with a setting off, off once more, and on.
var (
	c43Off   = site.Variant{Name: "off", Engine: site.Ours.Engine, On: site.Without(site.MemoryCatalog).On}
	c43Again = site.Variant{Name: "off again", Engine: site.Ours.Engine, On: site.Without(site.MemoryCatalog).On}
	c43On    = site.Variant{Name: "on", Engine: site.Ours.Engine, On: site.TempSettings}
)

// settingOffAndOn is the experiment behind C43: the method is good if it sees what a setting does and nothing where
// there is nothing.
func settingOffAndOn(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c43Rounds), Turn: b.Turn(c43Turn), Series: []trial.Series{
		{Name: loopTime, Unit: "ms"}, {Name: waitEach, Unit: "ms"}, {Name: loopRate, Unit: "1/s"}, trial.BusySeries}}
	rate := 0
	part.Open = func(ctx context.Context, r *trial.Record) error {
		p, err := cycle(bench.Cycle, site.Clients, c43Asking)
		if err != nil {
			return err
		}
		done, err := pgbench(ctx, s.Servers, c43Off, p)
		rate = max(1, int(c40Share*done.tps))
		r.Condition("rate", fmt.Sprintf("%d loops a second, %.0f %% of what they reach without a pause and with the "+
			"setting off", rate, 100*c40Share))
		return err
	}
	for _, v := range []site.Variant{c43Off, c43Again, c43On} {
		part.Sides = append(part.Sides, trial.Side{Name: v.Name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				p, err := cycle(bench.Cycle, site.Clients, part.Turn)
				p.rate = rate
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return waits(ctx, s.Servers, v, p)
				}, err
			}})
	}
	against := func(v site.Variant) trial.Ratio {
		return trial.Ratio{Of: trial.At(v.Name, loopTime), To: trial.At(c43Off.Name, loopTime)}
	}
	waited := func(v site.Variant) trial.Spread {
		return trial.Spread{Of: trial.At(v.Name, waitEach), Format: "%.3f"}
	}
	part.Measured = []trial.Phrase{trial.Say("%s: a loop on against off %s, off again %s, of %s ms; it waits inside "+
		"the server %s ms off, %s off again and %s on", site.MemoryCatalog, against(c43On), against(c43Again),
		trial.Spread{Of: trial.At(c43Off.Name, loopTime), Format: "%.2f"}, waited(c43Off), waited(c43Again),
		waited(c43On))}
	return trial.Trial{
		Text: fmt.Sprintf("a temp table is created, used and dropped at a fixed rate with %s off, off once more, and "+
			"on", site.MemoryCatalog), Overhead: 30 * time.Second,
		Parts: []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{
			{Of: against(c43Again), Confirm: trial.Within(1/c43Margin, c43Margin),
				Refute: trial.Outside(1/c43Margin, c43Margin), Unless: "the same setting differs from itself"},
			{Of: against(c43On), Confirm: trial.Outside(1/c43Margin, c43Margin),
				Refute: trial.Within(1/c43Margin, c43Margin), Unless: "the setting shows no effect"},
		}, Situation: append(site.WithRoom(trial.At(c43Off.Name, trial.Busy)),
			site.AtWork(site.Clients, "the threads of C40"))},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("cycles of a temp table of 10 columns by %d clients at one rate, below "+
				"what the server can do; the setting is one whose effect C12 measures", site.Clients)},
			{Name: "any other setting", Text: "'plimsoll compare' measures it with the ERP's load, off and on in " +
				"turns from the same base, and reports the A/A floor of the session"},
		},
	}
}
