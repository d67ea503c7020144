package layer

import (
	"context"
	"fmt"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// Defaults of C18: the kinds make more structures than the largest pool holds, and some are far more frequent, so that
// every size of the pool has something to gain.
const (
	c18Turn    = 5 * time.Second
	c18Rounds  = 12
	c18Small   = 200
	c18Optimum = 2000
	c18Beyond  = 10_000
	// c18Overhead to fill the pools: a table is made in a few milliseconds, and 16 connections have 12,200 each.
	c18Overhead = 25 * time.Minute
	// c18Memory holds the pools of an engine's sides, all full at once, and the rest of the machine.
	c18Memory = 12 << 30
)

var (
	// T makes the memory of a connection known.
	c18Load  = queryBatch{kinds: 900, tables: 12, empty: 0.4, rows: 10, skew: 1.2, times: 1}
	c18Pools = []int{c18Small, c18Optimum, c18Beyond}
	// A connection that ends drops all its tables in one transaction, with a lock on each, its index and its overflow
	// table; those of a part end together.
	c18Settings = []profile.Setting{{Name: "max_locks_per_transaction", Value: "8192"}}
)

// refuseLittleMemory rejects machines on which the pools would be swapped out: that is another question.
func refuseLittleMemory(site.Bench) error {
	facts, err := site.Machine()
	if err != nil {
		return nil // nobody knows: it may fit
	}
	return c18Fits(facts.MemoryBytes)
}

func c18Fits(memory int64) error {
	if memory >= c18Memory {
		return nil
	}
	return problem.New(problem.Usage, fmt.Errorf("C18 needs a machine with %s of memory, this one has %s: %d "+
		"connections hold %s temp tables each", human.Bytes(int64(c18Memory)), human.Bytes(memory), site.Clients,
		human.Thousands(c18Beyond)), site.OnLarger("C18"))
}

// poolsPart are the pools on an engine: those of both at once would take twice the memory.
func poolsPart(v site.Variant) string { return "pools on " + v.Name }

// poolOptimum is the experiment behind C18.
func poolOptimum(b site.Bench, s *site.Site) trial.Trial {
	at := flavours{}
	chart := &trial.Chart{Title: "Operations by the size of the pool", X: "temp tables of a pool", Y: "operations/s"}
	t := trial.Trial{
		Text: fmt.Sprintf("pools of %s temp tables per connection, full, for operations of which some are far more "+
			"frequent, on both flavours", site.Listed(c18Pools)),
		Overhead: c18Overhead, Chart: chart,
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("%d clients, each on its own connection; operations of %d kinds, the "+
				"k-th drawn with weight 1/k^%g, %d temp tables each: %s different tables, more than the largest pool "+
				"holds; every pool is full before it is measured", site.Clients, c18Load.kinds, c18Load.skew,
				c18Load.tables, human.Thousands(c18Load.kinds*c18Load.tables))},
			{Name: "optimum", Text: fmt.Sprintf("a pool of %s does more than one of %d and more than one of %s; "+
				"beyond it memory and search cost: the largest pool takes more memory and does less",
				human.Thousands(c18Optimum), c18Small, human.Thousands(c18Beyond))},
		},
	}
	for _, v := range bothEngines {
		part := trial.Part{Name: poolsPart(v), Rounds: b.Rounds(c18Rounds), Turn: b.Turn(c18Turn),
			Series: []trial.Series{{Name: site.OperationRate, Unit: "1/s"}, {Name: site.MedianTime, Unit: "ms"},
				{Name: site.P99Time, Unit: "ms"}, {Name: tablesCreated, Unit: "tables per operation"},
				{Name: poolMemory, Unit: "MB"}, trial.BusySeries},
			Open: func(context.Context, *trial.Record) error { return at.open(s) }}
		line := trial.Line{Name: v.Name}
		for _, size := range c18Pools {
			part.Sides = append(part.Sides, c18Load.side(poolName(v, size), at.address(v),
				database.Options{TempTables: temptable.Options{Max: size}}, part.Turn))
			part.Measured = append(part.Measured, trial.Say("%s: %s operations/s, %s tables created per operation, %s "+
				"MB a connection", poolName(v, size),
				trial.Spread{Of: c18At(v, size, site.OperationRate), Format: "%.0f"},
				trial.Median{Of: c18At(v, size, tablesCreated), Format: "%.2f"},
				trial.Median{Of: c18At(v, size, poolMemory), Format: "%.0f"}))
			line.At = append(line.At, trial.Place{X: float64(size), Of: c18At(v, size, site.OperationRate)})
		}
		chart.Lines = append(chart.Lines, line)
		t.Parts = append(t.Parts, part)
	}
	t.ByEngine(func(engine string) trial.Rules {
		v := site.Flavour(engine)
		against := func(size, other int, series string) trial.Ratio {
			return trial.Ratio{Of: c18At(v, size, series), To: c18At(v, other, series)}
		}
		return trial.Rules{Direction: []trial.Criterion{
			trial.Larger(against(c18Optimum, c18Small, site.OperationRate)),
			trial.Larger(against(c18Beyond, c18Optimum, poolMemory)),
			trial.Smaller(against(c18Beyond, c18Optimum, site.OperationRate)),
		}, Situation: append(site.WithRoom(c18At(v, c18Optimum, trial.Busy)),
			site.AtWork(site.Clients, "a working server's connections"))}
	}, site.Stock.Name, site.Ours.Name)
	return t
}

func c18At(v site.Variant, size int, series string) trial.Ref {
	return trial.At(poolName(v, size), series).In(poolsPart(v))
}
