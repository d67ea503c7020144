package experiments

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Defaults of C12, and the gain required of a whole cycle beside the claim's single operations.
const (
	c12Turn      = 3 * time.Second
	c12Rounds    = 5
	c12One       = 4.0  // with one client
	c12Many      = 8.0  // with many
	c12Operation = 10.0 // "tens of times": the fastest operation
)

// memoryCatalogRows is the experiment behind C12.
func memoryCatalogRows(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c12Rounds), Turn: b.turn(c12Turn),
		Series: []trial.Series{{Name: cycleRate, Unit: "1/s"}}}
	for _, n := range []int{1, manyClients} {
		for _, v := range []variant{stock, without(memoryCatalog), ours} {
			part.Sides = append(part.Sides, s.cycleSide(v, n, part.Turn))
		}
	}
	rate := func(v variant, clients int) trial.Ref { return trial.At(withClients(v, clients), cycleRate) }
	gain := func(base variant, clients int) trial.Ratio {
		return trial.Ratio{Of: rate(ours, clients), To: rate(base, clients)}
	}
	per := func(v variant, clients int) trial.Spread { return trial.Spread{Of: rate(v, clients), Format: "%.0f"} }
	best := trial.Largest{As: fmt.Sprintf(
		"time on stock against ours of the operation that gains most, with %d clients",
		manyClients)}
	var operations []string
	var gains []any
	for _, operation := range cycleOperations {
		part.Series = append(part.Series, trial.Series{Name: operation, Unit: "ms"})
		faster := trial.Ratio{Of: trial.At(withClients(stock, manyClients), operation),
			To: trial.At(withClients(ours, manyClients), operation)}
		best.Of = append(best.Of, faster)
		operations, gains = append(operations, operation+" %s"), append(gains, faster)
	}
	part.Measured = []trial.Phrase{
		trial.Say("cycles/s against stock: %s with 1 client (%s against %s), %s with %d (%s against %s)",
			gain(stock, 1), per(ours, 1), per(stock, 1), gain(stock, manyClients), manyClients, per(ours, manyClients),
			per(stock, manyClients)),
		trial.Say("the memory catalog's part of it %s and %s", gain(without(memoryCatalog), 1),
			gain(without(memoryCatalog), manyClients)),
		trial.Say(fmt.Sprintf("single operations with %d clients: ", manyClients)+strings.Join(operations, ", "),
			gains...),
	}
	return trial.Trial{
		Text: fmt.Sprintf("lives of a temp table of 10 columns, on both flavours, by 1 and %d clients",
			manyClients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{Criteria: []trial.Criterion{trial.Claimed(gain(stock, 1), c12One),
			trial.Claimed(gain(stock, manyClients), c12Many), trial.Claimed(best, c12Operation)}},
		Conditions: []claims.Condition{
			{Name: "load", Text: "CREATE TEMP TABLE of 10 columns, 50 rows, an index, ANALYZE, a query, DROP; one " +
				"statement a transaction over a socket; all settings for temp tables on, the memory catalog off in " +
				"the side without it"},
			{Name: "bars", Text: fmt.Sprintf("×%g with 1 client and ×%g with %d are ours for the whole cycle; ×%g "+
				"is the "+
				"claim's \"tens of times\" for some operations", c12One, c12Many, manyClients, c12Operation)},
		},
	}
}
