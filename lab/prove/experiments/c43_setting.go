package experiments

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Defaults of C43.
const (
	c43Turn   = 3 * time.Second
	c43Rounds = 6
	// c43Margin is how far two sides without a difference may be apart.
	c43Margin = 1.05
)

// Sides of C43: the same load with a setting off, off once more, and on.
var (
	c43Off   = variant{name: "off", engine: ours.engine, on: without(memoryCatalog).on}
	c43Again = variant{name: "off again", engine: ours.engine, on: without(memoryCatalog).on}
	c43On    = variant{name: "on", engine: ours.engine, on: tempSettings}
)

// settingOffAndOn is the experiment behind C43: the method is good if it sees what a setting does and nothing where
// there is nothing.
func settingOffAndOn(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c43Rounds), Turn: b.turn(c43Turn),
		Series: []trial.Series{{Name: cycleRate, Unit: "1/s"}}}
	for _, v := range []variant{c43Off, c43Again, c43On} {
		part.Sides = append(part.Sides, trial.Side{Name: v.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				p, err := cycle(bench.Cycle, clients, part.Turn)
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					done, err := s.servers.play(ctx, v, p)
					return trial.Figures{cycleRate: done.tps}, err
				}, err
			}})
	}
	against := func(v variant) trial.Ratio {
		return trial.Ratio{Of: trial.At(v.name, cycleRate), To: trial.At(c43Off.name, cycleRate)}
	}
	part.Measured = []trial.Phrase{trial.Say("%s: cycles/s on against off %s, off again %s, of %s/s", memoryCatalog,
		against(c43On), against(c43Again), trial.Spread{Of: trial.At(c43Off.name, cycleRate), Format: "%.0f"})}
	return trial.Trial{
		Text: fmt.Sprintf("lives of a temp table with %s off, off again and "+
			"on", memoryCatalog), Overhead: 30 * time.Second,
		Parts: []trial.Part{part},
		Rules: trial.Rules{Criteria: []trial.Criterion{
			{Of: against(c43Again), Confirm: trial.Within(1/c43Margin, c43Margin),
				Refute: trial.Outside(1/c43Margin, c43Margin), Unless: "the same twice is not the same"},
			{Of: against(c43On), Confirm: trial.Outside(1/c43Margin, c43Margin),
				Refute: trial.Within(1/c43Margin, c43Margin), Unless: "what the setting does is not seen"},
		}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("cycles of a temp table of 10 columns by %d clients; the setting is one "+
				"whose effect C12 measures", clients)},
			{Name: "any other setting", Text: "'plimsoll compare' runs the ERP's load with it off and on, in turns " +
				"from the same base, with the A/A floor of the session"},
		},
	}
}
