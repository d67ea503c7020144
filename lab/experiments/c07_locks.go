package experiments

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
)

// Defaults of C07.
const (
	c07Turn   = 3 * time.Second
	c07Rounds = 5
)

// manyClients is what the reports call many on a machine of this size: sessions beyond cores, so that they meet.
const manyClients = 16

// SkippedLocks is the experiment behind C07.
type SkippedLocks struct{}

// Claim implements Experiment.
func (SkippedLocks) Claim() string { return "C07" }

var (
	c07Variants = []variant{without(skipLocks), ours}
	c07Clients  = []int{1, manyClients}
)

// Plan implements Experiment.
func (SkippedLocks) Plan(b Bench) Plan {
	turns := len(c07Variants) * len(c07Clients) * b.rounds(c07Rounds)
	return Plan{fmt.Sprintf("the locks that a life of a temp table takes on both flavours, and %d turns of %s with the locks and without, by 1 and %d clients", turns, length(b.turn(c07Turn)), manyClients),
		time.Duration(turns)*b.turn(c07Turn) + 30*time.Second}
}

// Run implements Experiment.
func (e SkippedLocks) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, nil, func(servers engines) (f claims.Finding, err error) {
		var held [3]locks // stock, ours without the setting, ours
		for i, v := range []variant{stock, without(skipLocks), ours} {
			if held[i], err = servers.locksOfACycle(ctx, v); err != nil {
				return f, err
			}
		}
		s := sides{names: crossed(c07Variants, c07Clients), turn: b.turn(c07Turn), rounds: b.rounds(c07Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			p, err := cycle(bench.Cycle, c07Clients[side/len(c07Variants)], s.turn)
			if err != nil {
				return nil, err
			}
			done, err := servers.play(ctx, c07Variants[side%len(c07Variants)], p)
			return figures{"cycles": done.tps}, err
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, held, servers), nil
	})
}

// crossed names every variant with every number of clients, the variants of one number together.
func crossed(variants []variant, clients []int) (names []string) {
	for _, n := range clients {
		for _, v := range variants {
			names = append(names, fmt.Sprintf("%s, %d clients", v.name, n))
		}
	}
	return names
}

// locks that a session holds: all, and those of them in the shared table, where every session looks.
type locks struct{ all, shared int }

// locksSQL counts what a session holds, its own transaction's IDs aside.
const locksSQL = `SELECT count(*), count(*) FILTER (WHERE NOT fastpath) FROM pg_locks
	WHERE pid = $1 AND locktype NOT IN ('virtualxid', 'transactionid')`

// locksOfACycle looks from another session at a transaction that has done a whole cycle and not ended yet.
func (e engines) locksOfACycle(ctx context.Context, v variant) (held locks, err error) {
	whole, err := bench.Statements(bench.CycleTransaction)
	if err != nil {
		return held, err
	}
	err = e.on(ctx, v, func(worker *pgx.Conn) error {
		for range 2 { // the first fills caches, and may make the temp schema
			if err := each(ctx, worker, whole); err != nil {
				return err
			}
		}
		if err := each(ctx, worker, whole[:len(whole)-1]); err != nil { // all but COMMIT
			return err
		}
		return e.on(ctx, v, func(watcher *pgx.Conn) error {
			return watcher.QueryRow(ctx, locksSQL, worker.PgConn().PID()).Scan(&held.all, &held.shared)
		})
	})
	return held, err
}

// each carries out statements one by one, none of them prepared.
func each(ctx context.Context, conn *pgx.Conn, statements []string) error {
	for _, sql := range statements {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

func (e SkippedLocks) finding(s sides, made []series, partial bool, held [3]locks, servers engines) claims.Finding {
	one, many := against(made[0], made[1], "cycles"), against(made[2], made[3], "cycles")
	verdict, why := e.judge(held[0], held[2], partial)
	f := claims.Finding{
		Verdict: verdict, Partial: partial, Figures: s.listed(made, map[string]string{"cycles": "1/s"}),
		Measured: because(fmt.Sprintf("locks that a cycle holds (in the shared table): stock %s, ours with the setting off %s, on %s; cycles/s on against off %s with 1 client, %s with %d",
			held[0], held[1], held[2], one, many, manyClients), why),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "counted", Text: "pg_locks, read by another session when a transaction has done the whole cycle and not ended; its own virtual and transaction ID aside"},
			claims.Condition{Name: "load", Text: "cycles of a temp table of 10 columns, one statement a transaction; all other settings for temp tables on"},
			claims.Condition{Name: "judged by", Text: "confirmed when stock holds locks in the shared table and ours none; refuted when ours holds some; the speed is reported, not judged: the claim gives no figure"}),
	}
	for i, name := range []string{"stock", "ours, setting off", "ours"} {
		f.Figures = append(f.Figures, claims.Figure{Name: name + ": locks in the shared table", Values: []float64{float64(held[i].shared)}})
	}
	return f
}

func (l locks) String() string { return fmt.Sprintf("%d (%d)", l.all, l.shared) }

func (SkippedLocks) judge(stock, ours locks, partial bool) (claims.Verdict, string) {
	switch {
	case ours.shared > 0:
		return claims.Refuted, "ours takes locks"
	case stock.shared == 0:
		return claims.Inconclusive, "stock takes none either: nothing was counted"
	case partial:
		return claims.Inconclusive, "too few turns"
	}
	return claims.Confirmed, ""
}
