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
	c13Rounds = 12
	// c13Between: a side's connections and their pools are made for each turn, since those of all sides together would
	// not fit into a small machine's memory.
	c13Between = 8 * time.Second
	// c13FullKinds have more structures than the largest pool holds.
	c13FullKinds = 900
)

var (
	c13Load  = queryBatch{kinds: 100, tables: 12, empty: 0.4, rows: 10}
	c13Pools = []int{50, 500, 2000}
)

const (
	c13Small   = 50
	c13Claimed = 2000
	c13Target  = 2 // T is this many times an operation of a single client whose tables are all in the pool
	c13Tail    = 1 // percent beyond 4T: with less there is no tail to move out of
)

func poolName(v site.Variant, size int) string { return fmt.Sprintf("%s, pool of %d", v.Name, size) }

// tempTablePool is the experiment behind C13.
func tempTablePool(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c13Rounds), Turn: b.Turn(c13Turn), Between: c13Between, Series: []trial.Series{
		{Name: site.P99Time, Unit: "ms"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.OperationRate, Unit: "1/s"},
		{Name: tablesCreated, Unit: "tables per operation"}, {Name: beyondTarget, Unit: "% of operations"},
		{Name: withinTarget, Unit: "% of operations"}, {Name: targetTime, Unit: "ms"}, {Name: poolMemory, Unit: "MB"},
		trial.BusySeries,
	}}
	kinds := c13Load.kinds
	if b.Full {
		kinds = c13FullKinds
	}
	at := flavours{}
	for _, v := range bothEngines {
		load := c13Load
		load.kinds, load.times, load.eachTurn = kinds, c13Target, true
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
	part.Open = func(context.Context, *trial.Record) error { return at.open(s) }
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
			{Name: "T", Text: fmt.Sprintf("%d times an operation of a single client whose tables are all in the "+
				"pool, on the same server right before each turn: a machine's pace changes within minutes", c13Target)},
			{Name: "compared", Text: fmt.Sprintf("the shares of operations within 4T with a pool of %d and with one "+
				"of %d", c13Small, c13Claimed)},
		}}
	t.ByEngine(func(engine string) trial.Rules {
		of := func(size int, series string) trial.Ref {
			return trial.At(poolName(site.Flavour(engine), size), series)
		}
		return trial.Rules{
			Requires: []trial.Criterion{{Of: trial.Every{Of: of(c13Small, beyondTarget), Unit: "%"},
				Confirm: trial.MiddleAtLeast(c13Tail), Unless: "no operation is beyond 4T with the smallest pool"}},
			Direction: []trial.Criterion{trial.Larger(trial.Ratio{Of: of(c13Claimed, withinTarget),
				To: of(c13Small, withinTarget)})},
			Situation: append(site.WithRoom(of(c13Small, trial.Busy), of(c13Claimed, trial.Busy)),
				site.AtWork(site.Clients, "a working server's connections"))}
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
