package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
)

// Defaults of C40.
const (
	c40Turn    = 3 * time.Second
	c40Rounds  = 4
	c40Sample  = 2 * time.Millisecond
	c40Alone   = 20   // loops a second of one client that waits between statements for its user, as an idle handler does
	c40NoLoad  = 0.05 // of the waits of the worst: what cannot load the server
	c40Against = 30.0 // seconds, in which the report counts
)

// SystemPages is the experiment behind C40.
type SystemPages struct{}

// Claim implements Experiment.
func (SystemPages) Claim() string { return "C40" }

// c40Variants are the report's four loops.
var c40Variants = []struct {
	name, workload string
	clients, rate  int
}{
	{"no temp table", bench.NoTable, manyClients, 0},
	{"temp table", bench.NoIndex, manyClients, 0},
	{"temp table with index", bench.NoAnalyze, manyClients, 0},
	{"with index, one by one", bench.NoAnalyze, 1, c40Alone},
}

var c40Servers = []variant{stock, ours}

// Plan implements Experiment.
func (SystemPages) Plan(b Bench) Plan {
	turns := len(c40Variants) * len(c40Servers) * b.rounds(c40Rounds)
	return Plan{fmt.Sprintf("%d turns of %s of a query loop by %d clients without temp table, with one, with an index on it, and one by one, on both flavours: waits inside the server", turns, length(b.turn(c40Turn)), manyClients),
		time.Duration(turns)*b.turn(c40Turn) + 30*time.Second}
}

// Run implements Experiment.
func (e SystemPages) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, nil, func(servers engines) (claims.Finding, error) {
		s := sides{turn: b.turn(c40Turn), rounds: b.rounds(c40Rounds)}
		for _, v := range c40Servers {
			for _, loop := range c40Variants {
				s.names = append(s.names, v.name+", "+loop.name)
			}
		}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			loop := c40Variants[side%len(c40Variants)]
			p, err := cycle(loop.workload, loop.clients, s.turn)
			if err != nil {
				return nil, err
			}
			p.rate = loop.rate
			return servers.waits(ctx, c40Servers[side/len(c40Variants)], p)
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return claims.Finding{}, err
		}
		return e.finding(s, made, partial, servers), nil
	})
}

// waitsSQL counts the sessions of the load that wait for a latch inside the server: of a page, a partition of a shared table, the log's insertion.
// Waiting for a page to be added to a catalog is a lock by name, a latch by nature.
const waitsSQL = `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'
	AND (wait_event_type = 'LWLock' AND wait_event <> 'WALWrite' OR wait_event_type = 'Lock' AND wait_event = 'extend')`

// waits plays the load and samples it; the answer is seconds of waiting, all sessions together, in the report's 30 seconds.
func (e engines) waits(ctx context.Context, v variant, p play) (figures, error) {
	var done played
	var sum, samples int
	err := e.on(ctx, v, func(watcher *pgx.Conn) error {
		ended := make(chan error, 1)
		go func() {
			var err error
			done, err = e.play(ctx, v, p)
			ended <- err
		}()
		for {
			select {
			case err := <-ended:
				return err
			case <-time.After(c40Sample):
			}
			var n int
			if err := watcher.QueryRow(ctx, waitsSQL).Scan(&n); err != nil {
				return errors.Join(err, <-ended)
			}
			sum, samples = sum+n, samples+1
		}
	})
	if err != nil || samples == 0 {
		return nil, err
	}
	return figures{"waits": float64(sum) / float64(samples) * c40Against, "loops": done.tps}, nil
}

func (e SystemPages) finding(s sides, made []series, partial bool, servers engines) claims.Finding {
	verdict, why := e.judge(made[:len(c40Variants)], partial)
	measured := ""
	for i, name := range s.names {
		measured += fmt.Sprintf("%s: %s s; ", name, spread(made[i]["waits"], "%.2f"))
	}
	return claims.Finding{
		Verdict: verdict, Partial: partial, Figures: s.listed(made, map[string]string{"waits": "s in 30 s", "loops": "1/s"}),
		Measured: because("waits in 30 s: "+measured[:len(measured)-2], why),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("a loop with 50 rows by %d clients; one by one: a single client, %d loops a second", manyClients, c40Alone)},
			claims.Condition{Name: "counted", Text: fmt.Sprintf("pg_stat_activity every %s: sessions that wait for a latch (LWLock but the log's flush, and the extension of a relation); the watcher takes part in the load", c40Sample)},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("on stock: confirmed when a temp table has more waits in every turn than none has in any, the index surely more than the table alone, and one by one less than %.0f %% of that; refuted when surely not more with temp tables, or with the index surely fewer", 100*c40NoLoad)}),
	}
}

func (SystemPages) judge(stock []series, partial bool) (claims.Verdict, string) {
	for _, side := range stock {
		if partial || len(side["waits"]) < c40Rounds {
			return claims.Inconclusive, "too few turns"
		}
	}
	none, table, alone := stock[0]["waits"], stock[1]["waits"], stock[3]["waits"]
	index := against(stock[1], stock[2], "waits")
	switch {
	case slices.Max(table) <= slices.Min(none):
		return claims.Refuted, "no more waits with temp tables"
	case index.Sure() && index.High < 1:
		return claims.Refuted, "fewer waits with an index"
	case slices.Min(table) <= slices.Max(none):
		return claims.Inconclusive, "waits with and without temp tables overlap"
	case !index.Sure() || index.Low <= 1:
		return claims.Inconclusive, "with and without index within the noise"
	case slices.Max(alone) > c40NoLoad*slices.Min(stock[2]["waits"]):
		return claims.Inconclusive, "one by one waits too"
	}
	return claims.Confirmed, ""
}
