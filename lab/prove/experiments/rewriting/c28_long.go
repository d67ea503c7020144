package rewriting

import (
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/durability"
)

const (
	c28Jobs = 50
	// c28Objects of a transaction that is twenty times longer.
	c28Objects = 20
)

// Sides of C28. The jobs share all record sets, in random order: on sets of their own nobody waits for another.
var (
	c28Short = commitSide{jobs: c28Jobs, mode: durability.Sync, objects: 1}
	c28Long  = commitSide{jobs: c28Jobs, mode: durability.Sync, objects: c28Objects}
)

// longTransactions is the experiment behind C28.
func longTransactions(b site.Bench, s *site.Site) trial.Trial {
	turn := b.Turn(recordSetTurn)
	part := recordSetPart(b, s, recordSetPlace{latency: judgedLatency}, turn, []commitSide{c28Short, c28Long})
	at := func(c commitSide, series string) trial.Ref { return c.at(judgedLatency, series) }
	waits := func(c commitSide) trial.Every { return trial.Every{Of: at(c, waitsShare), Unit: "%"} }
	part.Measured = []trial.Phrase{trial.Say("waits for the log %s %% with an object in a transaction, %s %% with %d; "+
		"deadlocks %s and %s a second; %s and %s objects/s", trial.Spread{Of: at(c28Short, waitsShare), Format: "%.1f"},
		trial.Spread{Of: at(c28Long, waitsShare), Format: "%.1f"}, c28Objects,
		trial.Spread{Of: at(c28Short, deadlocks), Format: "%.1f"}, trial.Spread{Of: at(c28Long, deadlocks),
			Format: "%.1f"},
		trial.Spread{Of: at(c28Short, pace), Format: "%.0f"}, trial.Spread{Of: at(c28Long, pace), Format: "%.0f"})}
	return trial.Trial{
		Text: fmt.Sprintf("%d jobs rewrite record sets of which all have a share, one or %d in a transaction: waits "+
			"for "+
			"the log, and deadlocks", c28Jobs, c28Objects),
		Overhead: 30 * time.Second, Parts: []trial.Part{part},
		Rules: trial.Rules{
			Requires: lightlyLoaded(turn, recordSetTurn, c28Short, c28Long),
			Direction: []trial.Criterion{
				{Of: waits(c28Short), Confirm: trial.Above(c20WaitsGone),
					Unless: "there were no waits for the log that could disappear"},
				{Of: waits(c28Long), Confirm: trial.AtMost(c20WaitsGone), Refute: trial.Above(c20WaitsGone),
					Unless: "waits for the log have not disappeared"},
				{Of: trial.Gap{Of: at(c28Long, deadlocks), Times: 1, To: at(c28Short, deadlocks)},
					Confirm: trial.Above(0), Refute: trial.AtMost(0), Unless: "longer transactions deadlock no more"},
			},
			Situation: recordSetSituation(c28Short)},
		Conditions: append(recordSetConditions(), claims.Condition{Name: "transactions", Text: fmt.Sprintf("an "+
			"object, "+
			"or %d with the application's work between them: so many times longer. A transaction that the server ends "+
			"for a deadlock is made again, and its objects count once", c28Objects)}),
	}
}
