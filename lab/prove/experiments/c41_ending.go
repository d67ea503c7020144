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
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
)

// Defaults of C41.
const (
	c41Tables  = 10_000
	c41Rounds  = 4
	c41Takes   = 20 * time.Second // of a turn, most of it to make the tables
	c41Pause   = time.Millisecond
	c41Claimed = 3.0
	c41Beside  = 2 * time.Second // of cycles, for comparison
	c41Cyclers = 4
	c41Within  = 5 * time.Minute
	c41After   = 200 * time.Millisecond // others process the messages of the end
)

// Figures of C41: the worst and the p99 of the others, by what runs beside them.
const (
	makingTime = "making"
	endTime    = "end"

	quiet        = "quiet"
	besideCycles = "beside cycles"
	atTheEnd     = "at the end"
)

func worstOf(look string) string { return "worst " + look }
func p99Of(look string) string   { return "p99 " + look }

// endingSession is the experiment behind C41. The claim is about stock; our build is reported beside it.
func endingSession(b Bench, s *site) trial.Trial {
	part := trial.Part{Rounds: b.rounds(c41Rounds), Turn: c41Takes,
		Series: []trial.Series{{Name: makingTime, Unit: "s"}, {Name: endTime, Unit: "ms"}}}
	part.Open = func(ctx context.Context, _ *trial.Record) error { return s.servers.onBoth(ctx, neighboursSQL) }
	for _, look := range []string{quiet, besideCycles, atTheEnd} {
		part.Series = append(part.Series, trial.Series{Name: worstOf(look), Unit: "ms"},
			trial.Series{Name: p99Of(look), Unit: "ms"})
	}
	for _, v := range []variant{stock, ours} {
		part.Sides = append(part.Sides, trial.Side{Name: v.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return s.servers.endBesideOthers(ctx, v, c41Tables)
				}, nil
			}})
	}
	ms := func(v variant, series string) trial.Spread {
		return trial.Spread{Of: trial.At(v.name, series), Format: "%.1f"}
	}
	against := func(series string) trial.Ratio {
		return trial.Ratio{Of: trial.At(ours.name, series), To: trial.At(stock.name, series)}
	}
	// ratio of the worst at the end to the worst beside cycles
	stall := func(v variant) trial.Ratio {
		return trial.Ratio{Of: trial.At(v.name, worstOf(atTheEnd)), To: trial.At(v.name, worstOf(besideCycles))}
	}
	part.Measured = []trial.Phrase{
		trial.Say("the end takes %s ms on stock, %s ms on ours (%s)", ms(stock, endTime), ms(ours, endTime),
			against(endTime)),
		trial.Say("the worst that others see: stock %s ms quiet, %s beside cycles, %s at the end (%s of that beside "+
			"cycles)", ms(stock, worstOf(quiet)), ms(stock, worstOf(besideCycles)), ms(stock, worstOf(atTheEnd)),
			stall(stock)),
		trial.Say("ours %s, %s, %s (%s)", ms(ours, worstOf(quiet)), ms(ours, worstOf(besideCycles)),
			ms(ours, worstOf(atTheEnd)), stall(ours)),
		trial.Say("p99 at the end %s ms on stock, %s on ours", ms(stock, p99Of(atTheEnd)), ms(ours, p99Of(atTheEnd))),
		trial.Say("the worst at the end, ours against stock %s", against(worstOf(atTheEnd))),
	}
	return trial.Trial{
		Text: fmt.Sprintf("a session with %s temp tables ends beside %d clients with small queries, on both "+
			"flavours: how "+
			"long it takes, and the worst that they see", thousands(c41Tables), clients),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules:    trial.Rules{Criteria: []trial.Criterion{trial.Claimed(stall(stock), c41Claimed)}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("a session with %s temp tables of two columns with a primary key and "+
				"a row "+
				"each; %d clients update a row by key of a permanent table, a pause of %s, the next; cycles are "+
				"those of "+
				"an indexed temp table (C40's worst variant) by %d clients", thousands(c41Tables), clients, c41Pause,
				c41Cyclers)},
		},
	}
}

// neighboursSQL makes what the other sessions work on: an account that is read and written by key.
const neighboursSQL = `CREATE TABLE IF NOT EXISTS neighbours AS SELECT id, 0 AS amount
	FROM generate_series(1, 100000) id;
	ALTER TABLE neighbours DROP CONSTRAINT IF EXISTS neighbours_key;
	ALTER TABLE neighbours ADD CONSTRAINT neighbours_key PRIMARY KEY (id);
	ANALYZE neighbours; CHECKPOINT`

// endBesideOthers times the others in three situations: alone, beside cycles of temp tables (C40's worst), and at the
// end of the session.
func (e *engines) endBesideOthers(ctx context.Context, v variant, tables int) (trial.Figures, error) {
	holder, err := e.connect(ctx, v)
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
	f := trial.Figures{makingTime: time.Since(began).Seconds()}
	undisturbed, err := e.neighbours(ctx, v, func() error { time.Sleep(c41Beside); return nil })
	if err != nil {
		return nil, err
	}
	cycles, err := cycle(bench.Cycle, c41Cyclers, c41Beside)
	if err != nil {
		return nil, err
	}
	beside, err := e.neighbours(ctx, v, func() error { _, err := e.play(ctx, v, cycles); return err })
	if err != nil {
		return nil, err
	}
	var took time.Duration
	ending, err := e.neighbours(ctx, v, func() (err error) {
		took, err = e.end(ctx, v, holder)
		time.Sleep(c41After)
		return err
	})
	if err != nil {
		return nil, err
	}
	f[endTime] = took.Seconds() * 1000
	for look, times := range map[string][]time.Duration{quiet: undisturbed, besideCycles: beside, atTheEnd: ending} {
		f[worstOf(look)], f[p99Of(look)] = quantile(times, 1), quantile(times, 0.99)
	}
	return f, nil
}

// neighbours has clients read and write small rows until do has returned. It returns their latencies, sorted.
func (e *engines) neighbours(ctx context.Context, v variant, do func() error) ([]time.Duration, error) {
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
		for id := range 20 { // fill caches and plans before measuring
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

// end closes the session and waits until its backend is gone, with its tables.
func (e *engines) end(ctx context.Context, v variant, holder *pgx.Conn) (took time.Duration, err error) {
	pid := holder.PgConn().PID()
	err = e.on(ctx, v, func(watcher *pgx.Conn) error {
		began := time.Now()
		if err := holder.Close(ctx); err != nil {
			return err
		}
		for there := true; there; {
			time.Sleep(time.Millisecond)
			if err := watcher.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_get_activity($1))",
				pid).Scan(&there); err != nil {
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
