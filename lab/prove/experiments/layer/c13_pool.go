package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
	"plimsoll/platform/temptable"
)

// Defaults of C13: 100 kinds of operations with 12 tables each make 1,200 tables per connection: more than the smaller
// pools hold, or the pools would not differ, and fewer than the largest.
const (
	c13Turn   = 3 * time.Second
	c13Rounds = 4
	// c13FullKinds have more structures than the largest pool holds.
	c13FullKinds = 900
)

var (
	c13Load  = queryBatch{kinds: 100, tables: 12, empty: 0.4, rows: 10}
	c13Pools = []int{50, 200, 500, 2000, 10_000}
)

const (
	c13Small   = 50
	c13Claimed = 2000
	c13Target  = 2 // T is this many times an operation of a single client whose tables are all in the pool
)

func poolName(size int) string { return fmt.Sprintf("pool of %d", size) }

// tempTablePool is the experiment behind C13.
func tempTablePool(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c13Rounds), Turn: b.Turn(c13Turn), Series: []trial.Series{
		{Name: site.P99Time, Unit: "ms"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.OperationRate, Unit: "1/s"},
		{Name: tablesCreated, Unit: "tables per operation"}, {Name: beyondTarget, Unit: "% of operations"},
		{Name: poolMemory, Unit: "MB"},
	}}
	load := c13Load
	if b.Full {
		load.kinds = c13FullKinds
	}
	load.target = new(time.Duration)
	part.Open = func(ctx context.Context, r *trial.Record) error {
		typical, err := load.typical(ctx, s.DSN)
		*load.target = c13Target * typical
		r.Condition("T", fmt.Sprintf("%.1f ms: %d times an operation of a single client whose tables are all in the "+
			"pool", load.target.Seconds()*1000, c13Target))
		return err
	}
	for _, size := range c13Pools {
		part.Sides = append(part.Sides, load.side(poolName(size), &s.Address,
			database.Options{TempTables: temptable.Options{Max: size}}, part.Turn))
	}
	small, largest := poolName(c13Small), poolName(c13Claimed)
	against := func(side, series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(side, series), To: trial.At(small, series)}
	}
	part.Measured = []trial.Phrase{
		trial.Say("p99 of an operation %s: %s ms with %s against %s ms with %s", against(largest, site.P99Time),
			trial.Spread{Of: trial.At(largest, site.P99Time), Format: "%.1f"}, largest,
			trial.Spread{Of: trial.At(small, site.P99Time), Format: "%.1f"}, small),
		trial.Say("median %s, operations/s %s", against(largest, site.MedianTime), against(largest,
			site.OperationRate)),
	}
	for _, size := range c13Pools {
		name := poolName(size)
		part.Measured = append(part.Measured, trial.Say("%s: %s %% beyond 4T, %s operations/s, %s MB a connection",
			name, trial.Spread{Of: trial.At(name, beyondTarget), Format: "%.2f"},
			trial.Median{Of: trial.At(name, site.OperationRate), Format: "%.0f"},
			trial.Median{Of: trial.At(name, poolMemory), Format: "%.0f"}))
	}
	return trial.Trial{
		Text: fmt.Sprintf("pools of %s temp tables per connection, for batches of queries and for posted documents",
			site.Listed(c13Pools)),
		Parts: []trial.Part{part,
			postedDocuments(&s.Address, part, shape.Tweaks{TempPool: c13Claimed})},
		Overhead: 30 * time.Second,
		Rules: trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Every{Of: trial.At(small, beyondTarget), Unit: "%"},
				Confirm: trial.Above(0),
				Unless:  "no operation is beyond 4T with the smallest pool"}},
			Criteria: []trial.Criterion{{Of: trial.Gap{Of: trial.At(small, beyondTarget), Times: 1,
				To: trial.At(largest, beyondTarget)}, Confirm: trial.Above(0), Refute: trial.AtMost(0)}}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; random operations of %d kinds, "+
				"%d temp tables per operation, %.0f %% of them empty and every third with an index, statistics "+
				"gathered; %d different tables are in use, more than the smaller pools hold",
				site.Clients, load.kinds, load.tables, 100*load.empty, load.kinds*load.tables)},
			{Name: "compared", Text: fmt.Sprintf("the shares of operations beyond 4T with a pool of %d and with one "+
				"of %d; the other pools show where the optimum is", c13Small, c13Claimed)},
			postedDocumentsCondition,
		}}
}
