package experiments

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
)

// Defaults of C12, and what a whole cycle must gain beside the claim's single operations.
const (
	c12Turn      = 3 * time.Second
	c12Rounds    = 5
	c12One       = 4.0  // with one client
	c12Many      = 8.0  // with many
	c12Operation = 10.0 // "tens of times": the best of the operations
)

// MemoryCatalog is the experiment behind C12.
type MemoryCatalog struct{}

// Claim implements Experiment.
func (MemoryCatalog) Claim() string { return "C12" }

var (
	c12Variants = []variant{stock, without(memoryCatalog), ours}
	c12Clients  = []int{1, manyClients}
	// the operations of a cycle, by what their statements begin with
	c12Operations = []string{"CREATE TEMP TABLE", "INSERT", "CREATE INDEX", "ANALYZE", "SELECT", "DROP TABLE"}
)

// Plan implements Experiment.
func (MemoryCatalog) Plan(b Bench) Plan {
	turns := len(c12Variants) * len(c12Clients) * b.rounds(c12Rounds)
	return Plan{fmt.Sprintf("%d turns of %s of lives of a temp table of 10 columns, on both flavours, by 1 and %d clients", turns, length(b.turn(c12Turn)), manyClients),
		time.Duration(turns)*b.turn(c12Turn) + 30*time.Second}
}

// Run implements Experiment.
func (e MemoryCatalog) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, nil, func(servers engines) (f claims.Finding, err error) {
		s := sides{names: crossed(c12Variants, c12Clients), turn: b.turn(c12Turn), rounds: b.rounds(c12Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			p, err := cycle(bench.Cycle, c12Clients[side/len(c12Variants)], s.turn)
			if err != nil {
				return nil, err
			}
			done, err := servers.play(ctx, c12Variants[side%len(c12Variants)], p)
			f := figures{"cycles": done.tps}
			for _, operation := range c12Operations {
				f[operation] = done.of(operation)
			}
			return f, err
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, servers), nil
	})
}

func (e MemoryCatalog) finding(s sides, made []series, partial bool, servers engines) claims.Finding {
	one, many := against(made[0], made[2], "cycles"), against(made[3], made[5], "cycles")
	var parts []string
	var best ratio.Ratio
	for _, operation := range c12Operations {
		faster := against(made[5], made[3], operation) // latencies: stock over ours
		parts = append(parts, fmt.Sprintf("%s %s", operation, faster))
		if faster.Low > best.Low {
			best = faster
		}
	}
	verdict, why := e.judge(one, many, best, partial)
	units := map[string]string{"cycles": "1/s"}
	for _, operation := range c12Operations {
		units[operation] = "ms"
	}
	return claims.Finding{
		Verdict: verdict, Partial: partial, Figures: s.listed(made, units),
		Measured: because(fmt.Sprintf("cycles/s against stock: %s with 1 client (%s against %s), %s with %d (%s against %s); the memory catalog's part of it %s and %s; single operations with %d clients: %s",
			one, spread(made[2]["cycles"], "%.0f"), spread(made[0]["cycles"], "%.0f"), many, manyClients, spread(made[5]["cycles"], "%.0f"), spread(made[3]["cycles"], "%.0f"),
			against(made[1], made[2], "cycles"), against(made[4], made[5], "cycles"), manyClients, strings.Join(parts, ", ")), why),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "load", Text: "CREATE TEMP TABLE of 10 columns, 50 rows, an index, ANALYZE, a query, DROP; one statement a transaction over a socket; all settings for temp tables on, the memory catalog off in the side without it"},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("confirmed when the cycle is surely ×%g or more with 1 client and ×%g with %d, and one operation surely ×%g or more (\"tens of times\"); refuted when surely less than any of these", c12One, c12Many, manyClients, c12Operation)}),
	}
}

func (MemoryCatalog) judge(one, many, best ratio.Ratio, partial bool) (claims.Verdict, string) {
	answer := claims.Confirmed
	var reasons []string
	for _, part := range []struct {
		what string
		r    ratio.Ratio
		bar  float64
	}{{"the cycle with 1 client", one, c12One}, {"the cycle with many clients", many, c12Many}, {"the best operation", best, c12Operation}} {
		verdict, why := atLeast(part.r, part.bar, partial)
		if verdict == claims.Refuted || answer == claims.Confirmed {
			answer = verdict
		}
		if why != "" {
			reasons = append(reasons, part.what+": "+why)
		}
	}
	return answer, strings.Join(reasons, "; ")
}
