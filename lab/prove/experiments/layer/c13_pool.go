package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
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

func poolName(v site.Variant, size int) string { return fmt.Sprintf("%s, pool of %d", v.Name, size) }

// tempTablePool is the experiment behind C13.
func tempTablePool(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c13Rounds), Turn: b.Turn(c13Turn), Series: []trial.Series{
		{Name: site.P99Time, Unit: "ms"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.OperationRate, Unit: "1/s"},
		{Name: tablesCreated, Unit: "tables per operation"}, {Name: beyondTarget, Unit: "% of operations"},
		{Name: poolMemory, Unit: "MB"},
	}}
	kinds := c13Load.kinds
	if b.Full {
		kinds = c13FullKinds
	}
	at, loads := flavours{}, map[string]queryBatch{}
	for _, v := range bothEngines {
		load := c13Load
		load.kinds, load.target = kinds, new(time.Duration)
		loads[v.Name] = load
		for _, size := range c13Pools {
			part.Sides = append(part.Sides, load.side(poolName(v, size), at.address(v),
				database.Options{TempTables: temptable.Options{Max: size}}, part.Turn))
		}
		small, largest := poolName(v, c13Small), poolName(v, c13Claimed)
		against := func(series string) trial.Ratio {
			return trial.Ratio{Of: trial.At(largest, series), To: trial.At(small, series)}
		}
		part.Measured = append(part.Measured, trial.Say("%s: p99 of an operation %s with a pool of %d against %d, "+
			"median "+
			"%s, operations/s %s", v.Name, against(site.P99Time), c13Claimed, c13Small, against(site.MedianTime),
			against(site.OperationRate)))
		for _, size := range c13Pools {
			part.Measured = append(part.Measured, poolMeasured(poolName(v, size)))
		}
	}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		if err := at.open(s); err != nil {
			return err
		}
		for _, v := range bothEngines {
			typical, err := loads[v.Name].typical(ctx, at.address(v).DSN)
			if err != nil {
				return err
			}
			*loads[v.Name].target = c13Target * typical
			r.Condition("T on "+v.Name, fmt.Sprintf("%.1f ms: %d times an operation of a single client whose tables "+
				"are all in the pool", c13Target*typical.Seconds()*1000, c13Target))
		}
		return nil
	}
	t := trial.Trial{
		Text: fmt.Sprintf("pools of %s temp tables per connection, for batches of queries, on both flavours",
			site.Listed(c13Pools)),
		Parts:    []trial.Part{part},
		Overhead: time.Minute,
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; random operations of %d kinds, "+
				"%d temp tables per operation, %.0f %% of them empty and every third with an index, statistics "+
				"gathered; %d different tables are in use, more than the smaller pools hold",
				site.Clients, kinds, c13Load.tables, 100*c13Load.empty, kinds*c13Load.tables)},
			{Name: "compared", Text: fmt.Sprintf("the shares of operations beyond 4T with a pool of %d and with one "+
				"of %d; the other pools show where it is best", c13Small, c13Claimed)},
		}}
	t.ByEngine(func(engine string) trial.Rules {
		beyond := func(size int) trial.Ref { return trial.At(poolName(site.Flavour(engine), size), beyondTarget) }
		return trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Every{Of: beyond(c13Small), Unit: "%"}, Confirm: trial.Above(0),
				Unless: "no operation is beyond 4T with the smallest pool"}},
			Criteria: []trial.Criterion{{Of: trial.Gap{Of: beyond(c13Small), Times: 1, To: beyond(c13Claimed)},
				Confirm: trial.Above(0), Refute: trial.AtMost(0)}}}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

// poolMeasured says what a pool of temp tables gives and costs.
func poolMeasured(side string) trial.Phrase {
	return trial.Say("%s: %s %% beyond 4T, %s operations/s, %s MB a connection", side,
		trial.Spread{Of: trial.At(side, beyondTarget), Format: "%.2f"},
		trial.Median{Of: trial.At(side, site.OperationRate), Format: "%.0f"},
		trial.Median{Of: trial.At(side, poolMemory), Format: "%.0f"})
}
