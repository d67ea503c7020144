package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
	"plimsoll/lab/ratio"
)

// Defaults of C41.
const (
	c41Tables  = 10_000
	c41Rounds  = 4
	c41Takes   = 20 * time.Second // of a turn, most of it making the tables
	c41Pause   = time.Millisecond
	c41Claimed = 3.0
	c41Beside  = 2 * time.Second // of cycles, for comparison
	c41Cyclers = 4
	c41Within  = 5 * time.Minute
	c41After   = 200 * time.Millisecond // others read what the end has sent them
)

// EndingSession is the experiment behind C41.
type EndingSession struct{}

// Claim implements Experiment.
func (EndingSession) Claim() string { return "C41" }

var c41Sides = []variant{stock, ours}

// Plan implements Experiment.
func (EndingSession) Plan(b Bench) Plan {
	turns := len(c41Sides) * b.rounds(c41Rounds)
	return Plan{fmt.Sprintf("%d times a session with %s temp tables ends beside %d clients with small queries, on both flavours: how long it takes, and the worst that they see", turns, thousands(c41Tables), clients),
		time.Duration(turns)*c41Takes + 30*time.Second}
}

// Run implements Experiment.
func (e EndingSession) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, nil, func(servers engines) (f claims.Finding, err error) {
		if err := e.prepare(ctx, servers); err != nil {
			return f, err
		}
		s := sides{names: variantNames(c41Sides), turn: c41Takes, rounds: b.rounds(c41Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			return e.turn(ctx, servers, c41Sides[side], c41Tables)
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, servers), nil
	})
}

// neighboursSQL makes what the others work on: an account that is read and written by key.
const neighboursSQL = `CREATE TABLE IF NOT EXISTS neighbours AS SELECT id, 0 AS amount FROM generate_series(1, 100000) id;
	ALTER TABLE neighbours DROP CONSTRAINT IF EXISTS neighbours_key; ALTER TABLE neighbours ADD CONSTRAINT neighbours_key PRIMARY KEY (id);
	ANALYZE neighbours; CHECKPOINT`

// prepare makes the others' table.
func (EndingSession) prepare(ctx context.Context, servers engines) error {
	return servers.onBoth(ctx, neighboursSQL)
}

// turn compares three looks at the others: nothing else going on, cycles of temp tables (C40's worst), and the end of the session.
func (EndingSession) turn(ctx context.Context, servers engines, v variant, tables int) (figures, error) {
	holder, err := servers.connect(ctx, v)
	if err != nil {
		return nil, err
	}
	defer holder.Close(context.WithoutCancel(ctx))
	sql, err := bench.LiveTables(tables)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if _, err := holder.Exec(ctx, sql); err != nil {
		return nil, fmt.Errorf("make %d temp tables: %w", tables, err)
	}
	f := figures{"making": time.Since(began).Seconds()}
	quiet, err := servers.neighbours(ctx, v, func() error { time.Sleep(c41Beside); return nil })
	if err != nil {
		return nil, err
	}
	cycles, err := cycle(bench.Cycle, c41Cyclers, c41Beside)
	if err != nil {
		return nil, err
	}
	beside, err := servers.neighbours(ctx, v, func() error { _, err := servers.play(ctx, v, cycles); return err })
	if err != nil {
		return nil, err
	}
	var took time.Duration
	ending, err := servers.neighbours(ctx, v, func() (err error) {
		took, err = servers.end(ctx, v, holder)
		time.Sleep(c41After)
		return err
	})
	if err != nil {
		return nil, err
	}
	f["end"] = took.Seconds() * 1000
	for name, times := range map[string][]time.Duration{"quiet": quiet, "beside cycles": beside, "at the end": ending} {
		f["worst "+name], f["p99 "+name] = quantile(times, 1), quantile(times, 0.99)
	}
	return f, nil
}

// neighbours has clients read and write small things until do has returned; the answer is what each took, sorted.
func (e engines) neighbours(ctx context.Context, v variant, do func() error) ([]time.Duration, error) {
	var conns []*pgx.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	for range clients {
		conn, err := e.connect(ctx, v)
		if err != nil {
			return nil, err
		}
		conns = append(conns, conn)
		for id := range 20 { // caches and plans are theirs before the look begins
			if err := touch(ctx, conn, id+1); err != nil {
				return nil, err
			}
		}
	}
	var stop atomic.Bool
	var mu sync.Mutex
	var all []time.Duration
	var doErr error
	err := allAtOnce(len(conns)+1, func(i int) error {
		if i == len(conns) {
			defer stop.Store(true)
			doErr = do()
			return doErr
		}
		var mine []time.Duration
		for id := i; !stop.Load(); id += clients {
			began := time.Now()
			if err := touch(ctx, conns[i], id%100_000+1); err != nil {
				return err
			}
			mine = append(mine, time.Since(began))
			time.Sleep(c41Pause)
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, mine...)
		return nil
	})
	slices.Sort(all)
	return all, err
}

// touch is the operation of the others.
func touch(ctx context.Context, conn *pgx.Conn, id int) error {
	_, err := conn.Exec(ctx, "UPDATE neighbours SET amount = amount + 1 WHERE id = $1", id)
	return err
}

// end closes the session and waits until its server process is gone, with its tables.
func (e engines) end(ctx context.Context, v variant, holder *pgx.Conn) (took time.Duration, err error) {
	pid := holder.PgConn().PID()
	err = e.on(ctx, v, func(watcher *pgx.Conn) error {
		began := time.Now()
		if err := holder.Close(ctx); err != nil {
			return err
		}
		for there := true; there; {
			time.Sleep(time.Millisecond)
			if err := watcher.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_get_activity($1))", pid).Scan(&there); err != nil {
				return err
			}
			took = time.Since(began)
			if took > c41Within {
				return errors.New("the session does not end")
			}
		}
		return nil
	})
	return took, err
}

func (e EndingSession) finding(s sides, made []series, partial bool, servers engines) claims.Finding {
	worse, mine := stall(made[0]), stall(made[1])
	verdict, why := atLeast(worse, c41Claimed, partial)
	ms := func(side int, name string) string { return spread(made[side][name], "%.1f") }
	measured := fmt.Sprintf("the end takes %s ms on stock, %s ms on ours (%s); the worst that others see: stock %s ms quiet, %s beside cycles, %s at the end (%s of that beside cycles); ours %s, %s, %s (%s); p99 at the end %s ms on stock, %s on ours; the worst at the end, ours against stock %s",
		ms(0, "end"), ms(1, "end"), against(made[0], made[1], "end"),
		ms(0, "worst quiet"), ms(0, "worst beside cycles"), ms(0, "worst at the end"), worse,
		ms(1, "worst quiet"), ms(1, "worst beside cycles"), ms(1, "worst at the end"), mine,
		ms(0, "p99 at the end"), ms(1, "p99 at the end"), against(made[0], made[1], "worst at the end"))
	units := map[string]string{"making": "s", "end": "ms"}
	for _, name := range []string{"quiet", "beside cycles", "at the end"} {
		units["worst "+name], units["p99 "+name] = "ms", "ms"
	}
	return claims.Finding{
		Verdict: verdict, Partial: partial, Figures: s.listed(made, units), Measured: because(measured, why),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("a session with %s temp tables of two columns with a primary key and a row each; %d clients update a row by key of a permanent table, a pause of %s, the next", thousands(c41Tables), clients, c41Pause)},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("on stock: the worst update while the session ends against the worst beside %d clients with cycles of an indexed temp table (C40's worst variant); confirmed when surely ×%g or more; ours is reported beside it", c41Cyclers, c41Claimed)}),
	}
}

// stall is by how much the worst at the end exceeds the worst beside cycles.
func stall(s series) ratio.Ratio {
	r, err := ratio.Of(s["worst beside cycles"], s["worst at the end"])
	if err != nil {
		return ratio.Ratio{}
	}
	return r
}
