package experiments

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
	"plimsoll/platform/temptable"
)

// Defaults of C15, and the smallest claimed gain.
const (
	c15Turn    = 3 * time.Second
	c15Rounds  = 6
	c15Claimed = 1.05
)

var c15Load = queryBatch{kinds: 4, tables: 15, empty: 0.4, rows: 10}

// skippedTruncates is the experiment behind C15: all else is as in the classic shape, one statement per round trip.
func skippedTruncates(b Bench, s *site) trial.Trial {
	always, ask, known := string(temptable.Always), string(temptable.Ask), string(temptable.Known)
	part := trial.Part{Rounds: b.rounds(c15Rounds), Turn: b.turn(c15Turn),
		Series: []trial.Series{{Name: operationRate, Unit: "1/s"}, {Name: emptyShare, Hidden: true}}}
	for _, clearing := range []temptable.Clearing{temptable.Always, temptable.Ask, temptable.Known} {
		part.Sides = append(part.Sides, c15Load.side(string(clearing), &s.address,
			database.Options{Chain: 1, TempTables: temptable.Options{Clearing: clearing}}, part.Turn))
	}
	against := func(side string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side, operationRate), To: trial.At(always, operationRate)}
	}
	part.Measured = []trial.Phrase{
		trial.Say("operations/s %s when asked first, %s by the pool's own knowledge", against(ask), against(known)),
		trial.Say("%s %% of the tables were empty",
			trial.Last{Of: trial.At(ask, emptyShare), Format: "%.0f", Map: percent}),
		trial.Say("%s/s with truncate always", trial.Spread{Of: trial.At(always, operationRate), Format: "%.1f"}),
	}
	return trial.Trial{
		Text:     "truncate always, after asking, by knowledge, for bare batches and posted documents",
		Overhead: 15 * time.Second,
		Parts: []trial.Part{part, postedDocuments(&s.address, part, shape.Tweaks{Clearing: temptable.Ask},
			shape.Tweaks{Clearing: temptable.Known})},
		Rules: trial.Rules{Criteria: []trial.Criterion{{Of: against(ask),
			Confirm: trial.Above(1).And(trial.MiddleAtLeast(c15Claimed)), Refute: trial.Below(c15Claimed)}}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients on a connection each, %d temp tables per operation of which "+
				"%.0f %% stay empty, the others get %d rows, all pooled; one statement per round trip, over loopback",
				clients, c15Load.tables, 100*c15Load.empty, c15Load.rows)},
			{Name: "sides", Text: "TRUNCATE always, SELECT 1 … LIMIT 1 first (ask), and what the pool knows of its " +
				"tables (known)"},
			postedDocumentsCondition,
		},
	}
}

func percent(share float64) float64 { return 100 * share }
