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

// Defaults of C13: 100 kinds of operations with 12 structures each make 1,200 tables per connection, more than the
// smaller pools hold and fewer than the largest.
const (
	c13Turn   = 3 * time.Second
	c13Rounds = 4
)

var (
	c13Load  = queryBatch{kinds: 100, tables: 12, empty: 0.4, rows: 10}
	c13Pools = []int{50, 500, 2000}
)

func poolName(size int) string { return fmt.Sprintf("pool of %d", size) }

// tempTablePool is the experiment behind C13.
func tempTablePool(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c13Rounds), Turn: b.turn(c13Turn), Series: []trial.Series{
		{Name: p99Time, Unit: "ms"}, {Name: medianTime, Unit: "ms"}, {Name: operationRate, Unit: "1/s"},
		{Name: tablesCreated, Unit: "tables per operation"},
	}}
	for _, size := range c13Pools {
		part.Sides = append(part.Sides, c13Load.side(poolName(size), &s.address,
			database.Options{TempTables: temptable.Options{Max: size}}, part.Turn))
	}
	small, medium, largest := poolName(c13Pools[0]), poolName(c13Pools[1]), poolName(c13Pools[2])
	against := func(side, series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side, series), To: trial.At(small, series)}
	}
	part.Measured = []trial.Phrase{
		trial.Say("p99 of an operation %s, p99 %s ms with %s against %s ms with %s", against(largest, p99Time),
			trial.Spread{Of: trial.At(largest, p99Time), Format: "%.1f"}, largest,
			trial.Spread{Of: trial.At(small, p99Time), Format: "%.1f"}, small),
		trial.Say("median %s, operations/s %s", against(largest, medianTime), against(largest, operationRate)),
		trial.Say("p99 with %s %s", medium, against(medium, p99Time)),
	}
	return trial.Trial{
		Text: fmt.Sprintf("pools of %v temp tables per connection, for bare batches and posted documents", c13Pools),
		Parts: []trial.Part{part,
			postedDocuments(&s.address, part, shape.Tweaks{TempPool: c13Pools[len(c13Pools)-1]})},
		Overhead: 30 * time.Second,
		Rules:    trial.Rules{Criteria: []trial.Criterion{trial.Smaller(against(largest, p99Time))}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients on a connection each, operations of %d kinds drawn alike, %d "+
				"temp tables per operation, %.0f %% of them empty, each third with an index, statistics gathered; %d "+
				"structures in use (with fewer than the smaller pool holds, the pools would not differ)",
				clients, c13Load.kinds, c13Load.tables, 100*c13Load.empty, c13Load.kinds*c13Load.tables)},
			{Name: "compared", Text: "the largest pool with the smallest (report: operations leave the tail beyond " +
				"4T; there is no T for a bare batch)"},
			postedDocumentsCondition,
		},
	}
}
