package layer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/temptable"
)

// queryBatch is the operation of the data layer's experiments, in the manner of such platforms: temp tables, each
// filled from the one before, some indexed and analyzed, a share left empty, a result read at the end.
type queryBatch struct {
	kinds  int     // of operations; each has its own structures
	tables int     // per operation
	empty  float64 // share of the tables that stay empty
	rows   int     // in the others
	steps  int     // further dependent statements per operation
	// skew makes some kinds more frequent than others: the k-th is drawn with weight 1/k^skew; 0: all alike.
	skew float64

	// times an operation of a single client is the target time T, which is measured right before each turn, with the
	// shares within and beyond 4T and the memory of a connection; 0: none of that.
	times int
	// eachTurn opens the connections and fills their pools for each turn, and not for all.
	eachTurn bool

	made [][]temptable.Structure // by kind
}

func (q queryBatch) make() queryBatch {
	for kind := range q.kinds {
		q.made = append(q.made, q.structures(kind))
	}
	return q
}

// Every third table has an index.
const indexEvery = 3

func (q queryBatch) structures(kind int) (all []temptable.Structure) {
	for i := range q.tables {
		columns := []temptable.Column{{Name: "n", Type: "int8"}, {Name: "amount", Type: "numeric(15,2)"},
			{Name: fmt.Sprintf("note_%d_%d", kind, i), Type: "text"}}
		if i%indexEvery == 0 {
			all = append(all, temptable.MustDefine(columns, "n"))
		} else {
			all = append(all, temptable.MustDefine(columns))
		}
	}
	return all
}

// stays says which tables stay empty: evenly spread, never the first.
func (q queryBatch) stays(i int) bool { return int(float64(i+1)*q.empty) > int(float64(i)*q.empty) }

// do carries out one operation.
func (q queryBatch) do(ctx context.Context, db *database.Database, kind int) error {
	return db.Run(ctx, func(w *database.Work) error {
		lent, err := w.Temp(ctx, q.made[kind]...)
		if err != nil {
			return err
		}
		w.Fill(lent[0], "lines", "INSERT INTO "+lent[0].Name()+
			" SELECT n, n * 1.5, 'line' FROM generate_series(1, $1::int4) n", q.rows)
		w.Analyze(lent[0])
		last := lent[0]
		for i, t := range lent[1:] {
			limit := q.rows
			if q.stays(i + 1) {
				limit = 0
			}
			w.Fill(t, "next", "INSERT INTO "+t.Name()+" SELECT n, amount + 1, 'next' FROM "+last.Name()+" LIMIT $1",
				limit)
			w.Analyze(t)
			if limit > 0 {
				last = t
			}
		}
		for range q.steps {
			w.Queue("step", "SELECT sum(amount) FROM "+last.Name()+" WHERE n > $1", 1)
		}
		w.Queue("result", "SELECT count(*) FROM "+last.Name()).Affected(func(n int64) error {
			if n != 1 {
				return errors.New("no result")
			}
			return nil
		})
		return nil
	})
}

// warm fills a pool of that size on every connection: it carries out as many kinds as have their tables in it, the most
// frequent last; 0: all kinds.
func (q queryBatch) warm(ctx context.Context, db *database.Database, pool int) error {
	kinds := q.kinds
	if pool > 0 {
		kinds = min(kinds, (pool+q.tables-1)/q.tables)
	}
	return site.AllAtOnce(db.Connections(), func(int) error {
		for kind := kinds - 1; kind >= 0; kind-- {
			if err := q.do(ctx, db, kind); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
		return nil
	})
}

// play has one client per connection do operations without pause for some time. It returns the latencies, sorted.
func (q queryBatch) play(ctx context.Context, db *database.Database, d time.Duration, seed uint64) ([]time.Duration,
	error) {
	var mu sync.Mutex
	var all []time.Duration
	end := time.Now().Add(d)
	err := site.AllAtOnce(db.Connections(), func(client int) error {
		draw := q.kindsDrawn(rand.New(rand.NewPCG(seed, uint64(client))))
		var mine []time.Duration
		for began := time.Now(); began.Before(end); began = time.Now() {
			if err := q.do(ctx, db, draw()); err != nil {
				return err
			}
			mine = append(mine, time.Since(began))
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, mine...)
		return nil
	})
	slices.Sort(all)
	return all, err
}

// flavours are the servers of both engines, by the names of their variants; their addresses are known once they run.
type flavours map[string]*site.Address

func (f flavours) address(v site.Variant) *site.Address {
	if f[v.Name] == nil {
		f[v.Name] = &site.Address{}
	}
	return f[v.Name]
}

func (f flavours) open(s *site.Site) (err error) {
	for _, v := range bothEngines {
		if f.address(v).DSN, err = site.WithCache(s.Servers.DSN(v), ""); err != nil {
			return err
		}
	}
	return nil
}

var bothEngines = []site.Variant{site.Stock, site.Ours}

// kindsDrawn gives the kind of each operation.
func (q queryBatch) kindsDrawn(rng *rand.Rand) func() int {
	if q.skew == 0 {
		return func() int { return rng.IntN(q.kinds) }
	}
	zipf := rand.NewZipf(rng, q.skew, 1, uint64(q.kinds-1))
	return func() int { return int(zipf.Uint64()) }
}

// Figures of a turn of query batches.
const (
	tablesCreated = "created"
	emptyShare    = "empty share" // of the temp tables so far
	beyondTarget  = "beyond 4T"
	withinTarget  = "within 4T"
	targetTime    = "T"
	poolMemory    = "memory of a connection"
)

// side has clients run the batch, each on its own connection, through a data layer with these options.
func (q queryBatch) side(name string, server *site.Address, o database.Options, turn time.Duration) trial.Side {
	o.Connections = site.Clients
	var load queryBatch
	open := func(ctx context.Context) (*database.Database, error) {
		if load.made == nil {
			load = q.make() // here, for a plan is asked for by every command line, and never needs the tables
		}
		db, err := database.Open(ctx, server.DSN, o)
		if err != nil {
			return nil, err
		}
		if err := load.warm(ctx, db, o.TempTables.Max); err != nil {
			db.Close()
			return nil, err
		}
		return db, nil
	}
	return trial.Side{Name: name, Open: func(ctx context.Context, r *trial.Record) (trial.Turn, error) {
		if q.eachTurn {
			return func(ctx context.Context, n int) (trial.Figures, error) {
				db, err := open(ctx)
				if err != nil {
					return nil, err
				}
				defer db.Close()
				return load.turn(ctx, db, server.DSN, turn, uint64(n))
			}, nil
		}
		db, err := open(ctx)
		if err != nil {
			return nil, err
		}
		r.Close(db.Close)
		if err := load.count(ctx, db, name, r); err != nil {
			return nil, err
		}
		return func(ctx context.Context, n int) (trial.Figures, error) {
			return load.turn(ctx, db, server.DSN, turn, uint64(n))
		}, nil
	}}
}

// turn of the batch on the connections of a data layer.
func (q queryBatch) turn(ctx context.Context, db *database.Database, dsn string, length time.Duration,
	seed uint64) (trial.Figures, error) {
	var target time.Duration
	if q.times > 0 {
		typical, err := q.typical(ctx, dsn)
		if err != nil {
			return nil, err
		}
		target = time.Duration(q.times) * typical
	}
	before := db.TempTables()
	times, err := q.play(ctx, db, length, seed)
	if err != nil || len(times) == 0 {
		return nil, err
	}
	after := db.TempTables()
	f := trial.Figures{
		site.OperationRate: float64(len(times)) / length.Seconds(),
		site.MedianTime:    site.Percentile(times, 0.5), site.P99Time: site.Percentile(times, 0.99),
		tablesCreated: float64(after.Created-before.Created) / float64(len(times)),
		emptyShare:    after.EmptyShare(),
	}
	if q.times > 0 {
		f[targetTime] = target.Seconds() * 1000
		f[beyondTarget] = 100 * shareBeyond(times, 4*target)
		f[withinTarget] = 100 - f[beyondTarget]
		f[poolMemory], err = memoryOf(ctx, db)
	}
	return f, err
}

// shareBeyond a time, of sorted latencies.
func shareBeyond(sorted []time.Duration, limit time.Duration) float64 {
	within, _ := slices.BinarySearch(sorted, limit+1)
	return float64(len(sorted)-within) / float64(len(sorted))
}

// memoryOf a connection's session, in MB.
func memoryOf(ctx context.Context, db *database.Database) (mb float64, err error) {
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT sum(total_bytes)::float8 / 1e6 FROM pg_backend_memory_contexts").Scan(&mb)
	})
	return mb, err
}

// typical is the median time of an operation by one client whose tables are all in the pool.
func (q queryBatch) typical(ctx context.Context, dsn string) (time.Duration, error) {
	const times = 51
	q.kinds, q.made = 1, nil
	db, err := database.Open(ctx, dsn, database.Options{Connections: 1, Chain: 1})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	q = q.make()
	if err := q.warm(ctx, db, 0); err != nil {
		return 0, err
	}
	var all []time.Duration
	for range times {
		began := time.Now()
		if err := q.do(ctx, db, 0); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all[times/2], nil
}

// The requests of one operation to the server, counted before the first turn.
const (
	statementCount = "statements"
	roundTripCount = "round trips"
)

func (q queryBatch) count(ctx context.Context, db *database.Database, side string, r *trial.Record) error {
	counted, counters := database.WithCounters(ctx)
	if err := q.do(counted, db, 0); err != nil {
		return err
	}
	r.Figure(side, statementCount, float64(counters.Statements))
	r.Figure(side, roundTripCount, float64(counters.RoundTrips))
	return nil
}
