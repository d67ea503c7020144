package experiments

import (
	"context"
	"fmt"
	"time"

	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
	"plimsoll/platform/temptable"
)

// Defaults of C15, and the least gain that was claimed.
const (
	c15Turn    = 3 * time.Second
	c15Rounds  = 6
	c15Claimed = 1.05
)

var c15Load = queryBatch{kinds: 4, tables: 15, empty: 0.4, rows: 10}

// SkippedTruncates is the experiment behind C15: everything else is as in the classic shape, one statement per round trip.
type SkippedTruncates struct{}

// Claim implements Experiment.
func (SkippedTruncates) Claim() string { return "C15" }

// Plan implements Experiment.
func (SkippedTruncates) Plan(b Bench) Plan {
	turns := 6 * b.rounds(c15Rounds)
	return Plan{fmt.Sprintf("%d turns of %s: truncate always, after asking, by knowledge, for bare batches and posted documents", turns, length(b.turn(c15Turn))),
		time.Duration(turns)*b.turn(c15Turn) + 15*time.Second}
}

// Run implements Experiment.
func (e SkippedTruncates) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	b, next := b.then(0.5)
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		load := c15Load.make()
		s := sides{turn: b.turn(c15Turn), rounds: b.rounds(c15Rounds)}
		var options []database.Options
		for _, how := range []temptable.Clearing{temptable.Always, temptable.Ask, temptable.Known} {
			s.names = append(s.names, string(how))
			options = append(options, database.Options{Connections: clients, Chain: 1, TempTables: temptable.Options{Clearing: how}})
		}
		dbs, end, err := openEach(ctx, l.dsn, options...)
		if err != nil {
			return claims.Finding{}, err
		}
		defer end()
		for _, db := range dbs {
			if err := load.warm(ctx, db); err != nil {
				return claims.Finding{}, err
			}
		}
		s.run = func(ctx context.Context, side, turn int) (figures, error) {
			times, err := load.play(ctx, dbs[side], s.turn, uint64(turn))
			return figures{"operations": float64(len(times)) / s.turn.Seconds()}, err
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return claims.Finding{}, err
		}
		f := e.finding(s, made, partial, dbs[1].TempTables().EmptyShare(), l)
		end()
		return next.andDocuments(ctx, f, l.dsn, "", s.turn, s.rounds, shape.Tweaks{Clearing: temptable.Ask}, shape.Tweaks{Clearing: temptable.Known})
	})
}

func (e SkippedTruncates) finding(s sides, made []series, partial bool, empty float64, l layer) claims.Finding {
	asked, known := against(made[0], made[1], "operations"), against(made[0], made[2], "operations")
	verdict, why := e.judge(asked, partial)
	measured := fmt.Sprintf("operations/s %s when asked first, %s by the pool's own knowledge; %.0f %% of the tables were empty; %s/s with truncate always",
		asked, known, 100*empty, spread(made[0]["operations"], "%.1f"))
	measured = because(measured, why)
	return claims.Finding{
		Verdict: verdict, Measured: measured, Partial: partial,
		Figures: s.listed(made, map[string]string{"operations": "1/s"}),
		Conditions: append(l.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d clients on a connection each, %d temp tables per operation of which %.0f %% stay empty, the others get %d rows, all pooled; one statement per round trip, over loopback",
				clients, c15Load.tables, 100*c15Load.empty, c15Load.rows)},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("operations/s with SELECT 1 … LIMIT 1 first against TRUNCATE always: confirmed when surely more, refuted when surely less than the ×%.2f claimed", c15Claimed)}),
	}
}

func (SkippedTruncates) judge(asked ratio.Ratio, partial bool) (claims.Verdict, string) {
	switch {
	case partial || !asked.Sure():
		return claims.Inconclusive, "too few turns"
	case asked.High < c15Claimed:
		return claims.Refuted, "surely less than claimed"
	case asked.Low > 1 && asked.Ratio >= c15Claimed:
		return claims.Confirmed, ""
	}
	return claims.Inconclusive, "within the noise"
}
