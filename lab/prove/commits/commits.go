// Package commits compares the modes of commit, on rows that all sessions change and on rows that none shares, by the
// time of a flush. All modes work on one server in turns.
package commits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/crash"
	"plimsoll/lab/session"
	"plimsoll/lab/stats"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
)

// Rows that operations change.
type Rows string

const (
	Hot    Rows = "hot"    // one row that all change
	Spread Rows = "spread" // each operation another one of many
)

// Defaults: more sessions than connections, as users have, so that who waits for the log alone holds up nobody.
const (
	SessionsDefault    = 256
	ConnectionsDefault = 16
	DurationDefault    = 5 * time.Second
	RoundsDefault      = 4

	spreadRows = 20_000
	warmUp     = 500 * time.Millisecond
)

// Options of a measurement.
type Options struct {
	Clusters              *cluster.Store
	Spec                  cluster.Spec
	Latencies             []time.Duration // what a flush takes at least
	Sessions, Connections int
	Duration              time.Duration // of a turn
	// Rate is how many operations a second are due, of all sessions together; 0: each begins when the one before is
	// acknowledged.
	Rate   int
	Rounds int // turns of each side
	// Progress is called before each turn.
	Progress func(done, all int, what string)
}

// side is a mode; the second asynchronous one shows how far equal sides differ.
type side struct {
	name string
	mode durability.Mode
}

var sides = []side{{"sync", durability.Sync}, {"group", durability.Group}, {"durable-ack", durability.DurableAck},
	{"async", durability.Async}, {"async again", durability.Async}}

// Run measures on a cluster of its own, which goes at the end. A cancelled ctx ends it: what was measured until then is
// an incomplete report.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	c, load, err := crash.OwnCluster(ctx, o.Clusters, o.Spec)
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = load.Release() // its file goes with the cluster
		err = errors.Join(err, o.Clusters.Destroy(context.WithoutCancel(ctx), c.Name()))
	}()
	all := len(o.Latencies) * 2 * o.Rounds * len(sides)
	report = &Report{Turns: all, Rate: o.Rate, Schema: Schema, Engine: c.Server().String(), Sessions: o.Sessions,
		Connections: o.Connections,
		DurationS:   o.Duration.Seconds(), Rounds: o.Rounds, Sides: []Side{}}
	b := &bench{Options: o, cluster: c, report: report}
	for _, latency := range o.Latencies {
		err := b.latency(ctx, latency)
		if report.TurnsDone = b.done; err != nil && ctx.Err() != nil && b.done > 0 {
			report.Incomplete = true
			return report, nil
		}
		if err != nil {
			return nil, err
		}
	}
	report.judge()
	return report, nil
}

type bench struct {
	Options
	cluster *cluster.Cluster
	report  *Report
	done    int
}

// latency measures all modes on all rows with flushes of a latency.
func (b *bench) latency(ctx context.Context, latency time.Duration) (err error) {
	p, err := b.cluster.Start(ctx, cluster.StartOptions{FlushLatency: latency})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx), cluster.Fast)) }()
	if err := b.makeTables(ctx); err != nil {
		return err
	}
	var turns []int // by the place of the side in the report
	for _, rows := range []Rows{Hot, Spread} {
		first := len(b.report.Sides)
		for _, s := range sides {
			b.report.Sides = append(b.report.Sides, Side{Rows: rows, Mode: s.name, FlushMS: human.MS(latency),
				Turns: []Turn{}})
		}
		for _, n := range stats.Rotation(len(sides), b.Rounds, 1) {
			turns = append(turns, first+n)
		}
	}
	_, err = session.Over(turns, func(ctx context.Context, n int) error {
		s, mode := &b.report.Sides[n], sides[n%len(sides)].mode
		b.Progress(b.done, b.report.Turns, fmt.Sprintf("%s rows, flush %s, %s", s.Rows, latency, s.Mode))
		turn, err := b.turn(ctx, s.Rows, mode)
		if err != nil {
			return fmt.Errorf("%s rows, %s: %w", s.Rows, s.Mode, err)
		}
		s.Turns = append(s.Turns, turn)
		b.done++
		return nil
	}).All(ctx)
	return cmp.Or(err, ctx.Err())
}

const tables = `DROP TABLE IF EXISTS operation, total;
	CREATE TABLE operation (session int NOT NULL, n bigint NOT NULL, note text NOT NULL, PRIMARY KEY (session, n));
	CREATE TABLE total (id int PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50);
	INSERT INTO total SELECT n, 0 FROM generate_series(0, %d) n;
	ANALYZE total`

func (b *bench) makeTables(ctx context.Context) error {
	if err := postgres.Execute(ctx, b.dsn(), fmt.Sprintf(tables, spreadRows)); err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	return nil
}

func (b *bench) dsn() string { return b.cluster.SocketDSN("").Secret() }

// turn of a mode: sessions that begin their next operation when the last one is acknowledged.
func (b *bench) turn(ctx context.Context, rows Rows, mode durability.Mode) (turn Turn, err error) {
	if err := b.clear(ctx); err != nil {
		return turn, err
	}
	db, err := database.Open(ctx, b.dsn(), database.Options{Connections: b.Connections, Durability: string(mode)})
	if err != nil {
		return turn, err
	}
	defer db.Close()
	working, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	times := make([][]time.Duration, b.Sessions)
	errs := make([]error, b.Sessions)
	started := time.Now()
	begin := started.Add(warmUp)
	end := begin.Add(b.Duration)
	for n := range b.Sessions {
		all.Add(1)
		go func() {
			defer all.Done()
			due := b.pace(n, started)
			if times[n], errs[n] = work(working, db, rows, n, due, begin, end); errs[n] != nil {
				stop()
			}
		}()
	}
	all.Wait()
	if ctx.Err() != nil {
		return turn, ctx.Err()
	}
	if err := errors.Join(errs...); err != nil {
		return turn, err
	}
	return summed(slices.Concat(times...), b.Duration), nil
}

// clear what the last turn wrote, and leave nothing to a checkpoint in this one.
func (b *bench) clear(ctx context.Context) error {
	if err := postgres.Execute(ctx, b.dsn(), "TRUNCATE operation", "VACUUM total", "CHECKPOINT"); err != nil {
		return fmt.Errorf("prepare a turn: %w", err)
	}
	return nil
}

// pace says when a session's operations are due. Sessions take turns, so that together they keep the rate. Nil: at
// once.
func (b *bench) pace(session int, started time.Time) func(i int) time.Time {
	if b.Rate == 0 {
		return nil
	}
	return func(i int) time.Time {
		return started.Add(time.Duration(i*b.Sessions+session) * time.Second / time.Duration(b.Rate))
	}
}

// work of a session from one acknowledgement to the next, and gives how long those took that came between begin and
// end.
// A time begins when the operation is due, so one that had to wait for the one before is not counted as quick.
func work(ctx context.Context, db *database.Database, rows Rows, n int, due func(int) time.Time, begin,
	end time.Time) (took []time.Duration, err error) {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	for i := 0; ctx.Err() == nil; i++ {
		row := 0
		if rows == Spread {
			row = 1 + random.IntN(spreadRows)
		}
		from := time.Now()
		if due != nil {
			from = due(i)
		}
		if !from.Before(end) || !time.Now().Before(end) {
			return took, nil
		}
		if wait := time.Until(from); wait > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
		if err := db.Run(ctx, func(w *database.Work) error {
			w.Queue("operation", "INSERT INTO operation VALUES ($1, $2, repeat('n', 200))", n, i)
			w.Queue("total", "UPDATE total SET n = n + 1 WHERE id = $1", row)
			return nil
		}); err != nil {
			return took, err
		}
		if now := time.Now(); now.After(begin) && now.Before(end) {
			took = append(took, now.Sub(from))
		}
	}
	return took, nil
}
