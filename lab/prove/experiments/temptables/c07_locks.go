package temptables

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C07.
const (
	c07Turn   = 3 * time.Second
	c07Rounds = 5
)

// manyClients is what the reports call many, for a machine of this size: more sessions than cores, so that they
// compete.
const manyClients = 16

var (
	c07Variants = []site.Variant{site.Without(site.SkipLocks), site.Ours}
	c07Clients  = []int{1, manyClients}
)

// Figures of C07.
const (
	cycleRate   = "cycles"
	sharedLocks = "locks in the shared table"
	allLocks    = "locks"
)

// c07Held are the sides whose locks are examined.
var c07Held = []struct {
	name    string
	variant site.Variant
}{{"stock", site.Stock}, {"ours, setting off", site.Without(site.SkipLocks)}, {"ours", site.Ours}}

// skippedLocks is the experiment behind C07: first the locks that a cycle holds, then the speed.
func skippedLocks(b site.Bench, s *site.Site) trial.Trial {
	held := trial.Part{Name: "held", InOrder: true, Rounds: 1, Counted: true, Between: time.Second,
		Series: []trial.Series{{Name: sharedLocks}, {Name: allLocks, Hidden: true}}}
	values := []any{}
	for _, side := range c07Held {
		held.Sides = append(held.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					locks, err := locksOfACycle(ctx, s.Servers, side.variant)
					return trial.Figures{sharedLocks: float64(locks.shared), allLocks: float64(locks.all)}, err
				}, nil
			}})
		for _, series := range []string{allLocks, sharedLocks} {
			values = append(values, trial.Spread{Of: trial.At(side.name, series).In(held.Name), Format: "%.0f"})
		}
	}
	held.Measured = []trial.Phrase{trial.Say(
		"locks that a cycle holds (of them in the shared table): stock %s (%s), ours with the setting off %s (%s), "+
			"on %s (%s)", values...)}
	speed := trial.Part{Rounds: b.Rounds(c07Rounds), Turn: b.Turn(c07Turn), Unjudged: true,
		Series: []trial.Series{{Name: cycleRate, Unit: "1/s"}}}
	for _, n := range c07Clients {
		for _, v := range c07Variants {
			speed.Sides = append(speed.Sides, cycleSide(s, v, n, speed.Turn))
		}
	}
	on := func(clients int) trial.Ratio {
		return trial.Ratio{Of: trial.At(withClients(site.Ours, clients), cycleRate),
			To: trial.At(withClients(site.Without(site.SkipLocks), clients), cycleRate)}
	}
	speed.Measured = []trial.Phrase{trial.Say("cycles/s on against off %s with 1 client, %s with %d", on(1),
		on(manyClients), manyClients)}
	shared := func(side string) trial.Every {
		return trial.Every{Of: trial.At(side, sharedLocks).In(held.Name), As: sharedLocks + " of " + side}
	}
	return trial.Trial{
		Text: fmt.Sprintf("the locks held after a transaction has created, used and dropped a temp table, on both "+
			"flavours, and the rate of such cycles with these locks and without, by 1 and %d clients", manyClients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{held, speed},
		Rules: trial.Rules{StoppedRefutes: true, Direction: []trial.Criterion{
			{Of: shared("ours"), Confirm: trial.AtMost(0), Refute: trial.Above(0), Anywhere: true},
			{Of: shared("stock"), Confirm: trial.Above(0), Unless: "nothing was counted"},
		}},
		Conditions: []claims.Condition{
			{Name: "counted", Text: "pg_locks, read by another session when the transaction has done the whole cycle " +
				"and not ended yet, without the locks on its own virtual and transaction ID"},
			{Name: "load", Text: "cycles of a temp table of 10 columns, one transaction per statement; all other " +
				"settings for temp tables on; the speed is reported, not judged: the claim gives no figure"},
		},
	}
}

// withClients names a variant with its number of clients.
func withClients(v site.Variant, clients int) string {
	return fmt.Sprintf("%s, %d clients", v.Name, clients)
}

// cycleSide runs life cycles of a temp table in pgbench clients: cycles per second, and the latency of each operation.
func cycleSide(s *site.Site, v site.Variant, clients int, turn time.Duration) trial.Side {
	return trial.Side{Name: withClients(v, clients), Open: func(context.Context, *trial.Record) (trial.Turn, error) {
		p, err := cycle(bench.Cycle, clients, turn)
		return func(ctx context.Context, _ int) (trial.Figures, error) {
			done, err := pgbench(ctx, s.Servers, v, p)
			f := trial.Figures{cycleRate: done.tps}
			for _, operation := range cycleOperations {
				f[operation] = done.latencyOf(operation)
			}
			return f, err
		}, err
	}}
}

// cycleOperations are the operations of a life cycle of a temp table, by the first words of their statements.
var cycleOperations = []string{"CREATE TEMP TABLE", "INSERT", "CREATE INDEX", "ANALYZE", "SELECT", "DROP TABLE"}

// locks that a session holds: all, and those in the shared lock table, which all sessions search.
type locks struct{ all, shared int }

// locksSQL counts the locks of a session, except those on its transaction's ids.
const locksSQL = `SELECT count(*), count(*) FILTER (WHERE NOT fastpath) FROM pg_locks
	WHERE pid = $1 AND locktype NOT IN ('virtualxid', 'transactionid')`

// locksOfACycle examines from another session a transaction that has done a whole cycle and not yet ended.
func locksOfACycle(ctx context.Context, e *site.Engines, v site.Variant) (held locks, err error) {
	whole, err := bench.Statements(bench.CycleTransaction)
	if err != nil {
		return held, err
	}
	err = e.On(ctx, v, func(worker *pgx.Conn) error {
		for range 2 { // the first fills caches, and may create the temp schema
			if err := executeEach(ctx, worker, whole); err != nil {
				return err
			}
		}
		if err := executeEach(ctx, worker, whole[:len(whole)-1]); err != nil { // all but COMMIT
			return err
		}
		return e.On(ctx, v, func(watcher *pgx.Conn) error {
			return watcher.QueryRow(ctx, locksSQL, worker.PgConn().PID()).Scan(&held.all, &held.shared)
		})
	})
	return held, err
}

// executeEach executes statements one by one, unprepared.
func executeEach(ctx context.Context, conn *pgx.Conn, statements []string) error {
	for _, sql := range statements {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return err
		}
	}
	return nil
}

func (l locks) String() string { return fmt.Sprintf("%d (%d)", l.all, l.shared) }
