package experiments

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
	"plimsoll/platform/temptable"
)

// Defaults of C13: 100 kinds of operations with 12 structures each are 1,200 tables per connection, more than
// the smaller pools hold and fewer than the largest.
const (
	c13Turn   = 3 * time.Second
	c13Rounds = 4
)

var (
	c13Load  = queryBatch{kinds: 100, tables: 12, empty: 0.4, rows: 10}
	c13Pools = []int{50, 500, 2000}
)

// TempTablePool is the experiment behind C13.
type TempTablePool struct{}

// Claim implements Experiment.
func (TempTablePool) Claim() string { return "C13" }

// Plan implements Experiment.
func (TempTablePool) Plan(b Bench) Plan {
	turns := (len(c13Pools) + 2) * b.rounds(c13Rounds)
	return Plan{fmt.Sprintf("%d turns of %s with pools of %v temp tables per connection, for bare batches and posted documents", turns, length(b.turn(c13Turn)), c13Pools),
		time.Duration(turns)*b.turn(c13Turn) + 30*time.Second}
}

// Run implements Experiment.
func (e TempTablePool) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	b, next := b.then(0.6)
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		load := c13Load.make()
		var options []database.Options
		s := sides{turn: b.turn(c13Turn), rounds: b.rounds(c13Rounds)}
		for _, size := range c13Pools {
			s.names = append(s.names, fmt.Sprintf("pool of %d", size))
			options = append(options, database.Options{Connections: clients, TempTables: temptable.Options{Max: size}})
		}
		dbs, end, err := openEach(ctx, l.dsn, options...)
		if err != nil {
			return claims.Finding{}, err
		}
		defer end()
		for i, db := range dbs {
			b.step(0, time.Duration(s.rounds*len(dbs))*s.turn, "filling the "+s.names[i])
			if err := load.warm(ctx, db); err != nil {
				return claims.Finding{}, err
			}
		}
		s.run = func(ctx context.Context, side, turn int) (figures, error) {
			before := dbs[side].TempTables()
			times, err := load.play(ctx, dbs[side], s.turn, uint64(turn))
			if err != nil || len(times) == 0 {
				return nil, err
			}
			after := dbs[side].TempTables()
			return figures{"p99": quantile(times, 0.99), "median": quantile(times, 0.5), "operations": float64(len(times)) / s.turn.Seconds(),
				"created": float64(after.Created-before.Created) / float64(len(times))}, nil
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return claims.Finding{}, err
		}
		end()
		return next.andDocuments(ctx, e.finding(s, made, partial, l), l.dsn, "", s.turn, s.rounds, shape.Tweaks{TempPool: c13Pools[len(c13Pools)-1]})
	})
}

func (TempTablePool) finding(s sides, made []series, partial bool, l layer) claims.Finding {
	last := len(made) - 1
	tail := against(made[0], made[last], "p99")
	verdict, why := below(tail, partial)
	measured := fmt.Sprintf("p99 of an operation %s, p99 %s ms with %s against %s ms with %s; median %s, operations/s %s",
		tail, spread(made[last]["p99"], "%.1f"), s.names[last], spread(made[0]["p99"], "%.1f"), s.names[0],
		against(made[0], made[last], "median"), against(made[0], made[last], "operations"))
	for i := 1; i < last; i++ {
		measured += fmt.Sprintf("; p99 with %s %s", s.names[i], against(made[0], made[i], "p99"))
	}
	measured = because(measured, why)
	return claims.Finding{
		Verdict: verdict, Measured: measured, Partial: partial,
		Figures: s.listed(made, map[string]string{"p99": "ms", "median": "ms", "operations": "1/s", "created": "tables per operation"}),
		Conditions: append(l.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d clients on a connection each, operations of %d kinds drawn alike, %d temp tables per operation, %.0f %% of them empty, each third with an index, statistics gathered; %d structures in use (with fewer than the smaller pool holds, the pools would not differ)",
				clients, c13Load.kinds, c13Load.tables, 100*c13Load.empty, c13Load.kinds*c13Load.tables)},
			claims.Condition{Name: "judged by", Text: "p99 of the largest against the smallest pool, whole interval below 1 (report: operations leave the tail beyond 4T; there is no T for a bare batch)"}),
	}
}
