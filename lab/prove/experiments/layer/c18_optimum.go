package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// Defaults of C18: the kinds make more structures than the largest pool holds, and some are far more frequent, so that
// every size of the pool has something to gain.
const (
	c18Turn     = 5 * time.Second
	c18Rounds   = 4
	c18Small    = 200
	c18Optimum  = 2000
	c18Beyond   = 10_000
	c18Overhead = 6 * time.Minute // to fill the pools
)

var (
	c18Load  = queryBatch{kinds: 900, tables: 12, empty: 0.4, rows: 10, skew: 1.2}
	c18Pools = []int{c18Small, 1000, c18Optimum, 5000, c18Beyond}
	// A connection that ends drops all its tables in one transaction, with a lock on each.
	c18Settings = []profile.Setting{{Name: "max_locks_per_transaction", Value: "4096"}}
)

// poolOptimum is the experiment behind C18.
func poolOptimum(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c18Rounds), Turn: b.Turn(c18Turn), Series: []trial.Series{
		{Name: site.OperationRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"}, {Name: site.P99Time, Unit: "ms"},
		{Name: tablesCreated, Unit: "tables per operation"}, {Name: poolMemory, Unit: "MB"}}}
	at := flavours{}
	part.Open = func(context.Context, *trial.Record) error { return at.open(s) }
	chart := &trial.Chart{Title: "Operations by the size of the pool", X: "temp tables of a pool", Y: "operations/s"}
	for _, v := range bothEngines {
		line := trial.Line{Name: v.Name}
		for _, size := range c18Pools {
			name := poolName(v, size)
			load := c18Load
			load.target = new(time.Duration) // for the memory of a connection
			part.Sides = append(part.Sides, load.side(name, at.address(v),
				database.Options{TempTables: temptable.Options{Max: size}}, part.Turn))
			part.Measured = append(part.Measured, trial.Say("%s: %s operations/s, %s tables created per operation, %s "+
				"MB a connection", name, trial.Spread{Of: trial.At(name, site.OperationRate), Format: "%.0f"},
				trial.Median{Of: trial.At(name, tablesCreated), Format: "%.2f"},
				trial.Median{Of: trial.At(name, poolMemory), Format: "%.0f"}))
			line.At = append(line.At, trial.Place{X: float64(size), Of: trial.At(name, site.OperationRate)})
		}
		chart.Lines = append(chart.Lines, line)
	}
	t := trial.Trial{
		Text: fmt.Sprintf("pools of %s temp tables per connection, full, for operations of which some are far more "+
			"frequent, on both flavours", site.Listed(c18Pools)),
		Overhead: c18Overhead, Parts: []trial.Part{part}, Chart: chart,
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; operations of %d kinds, the "+
				"k-th "+
				"drawn with weight 1/k^%g, %d temp tables each: %s different tables, more than the largest pool "+
				"holds; "+
				"every pool is full before it is measured", site.Clients, c18Load.kinds, c18Load.skew, c18Load.tables,
				human.Thousands(c18Load.kinds*c18Load.tables))},
			{Name: "optimum", Text: fmt.Sprintf("a pool of %s does more than one of %d and more than one of %s; "+
				"beyond "+
				"it memory and search cost: the largest pool takes more memory and does less",
				human.Thousands(c18Optimum),
				c18Small, human.Thousands(c18Beyond))},
		},
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		against := func(size, other int, series string) trial.Ratio {
			return trial.Ratio{Of: trial.At(poolName(v, size), series), To: trial.At(poolName(v, other), series)}
		}
		return trial.Rules{Criteria: []trial.Criterion{
			{Of: against(c18Optimum, c18Small, site.OperationRate), Confirm: trial.Above(1), Refute: trial.AtMost(1)},
			{Of: against(c18Beyond, c18Optimum, poolMemory), Confirm: trial.Above(1), Refute: trial.AtMost(1)},
			trial.Smaller(against(c18Beyond, c18Optimum, site.OperationRate)),
		}}
	}, site.Stock.Name, site.Ours.Name)
	return t
}
