package experiments

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"time"

	"plimsoll/platform/database"
	"plimsoll/platform/temptable"
)

// queryBatch is the operation of the data layer's experiments, in the manner of such platforms: temp tables, each filled
// from the one before, some indexed, statistics gathered, a share left empty, a result read at the end.
type queryBatch struct {
	kinds  int     // of operations; each has structures of its own
	tables int     // per operation
	empty  float64 // share of the tables that stay empty
	rows   int     // in the others
	steps  int     // further dependent statements per operation

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
		columns := []temptable.Column{{Name: "n", Type: "int8"}, {Name: "amount", Type: "numeric(15,2)"}, {Name: fmt.Sprintf("note_%d_%d", kind, i), Type: "text"}}
		if i%indexEvery == 0 {
			all = append(all, temptable.MustDefine(columns, "n"))
		} else {
			all = append(all, temptable.MustDefine(columns))
		}
	}
	return all
}

// stays says which tables stay empty: spread evenly, never the first.
func (q queryBatch) stays(i int) bool { return int(float64(i+1)*q.empty) > int(float64(i)*q.empty) }

// do carries out one operation.
func (q queryBatch) do(ctx context.Context, db *database.Database, kind int) error {
	return db.Run(ctx, func(w *database.Work) error {
		lent, err := w.Temp(ctx, q.made[kind]...)
		if err != nil {
			return err
		}
		w.Fill(lent[0], "lines", "INSERT INTO "+lent[0].Name()+" SELECT n, n * 1.5, 'line' FROM generate_series(1, $1::int4) n", q.rows)
		w.Analyze(lent[0])
		last := lent[0]
		for i, t := range lent[1:] {
			limit := q.rows
			if q.stays(i + 1) {
				limit = 0
			}
			w.Fill(t, "next", "INSERT INTO "+t.Name()+" SELECT n, amount + 1, 'next' FROM "+last.Name()+" LIMIT $1", limit)
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

// warm carries out every kind on every connection.
func (q queryBatch) warm(ctx context.Context, db *database.Database) error {
	return allAtOnce(db.Connections(), func(int) error {
		for kind := range q.kinds {
			if err := q.do(ctx, db, kind); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
		return nil
	})
}

// play has one client per connection do operations back to back for some time; the answer is what each took, sorted.
func (q queryBatch) play(ctx context.Context, db *database.Database, d time.Duration, seed uint64) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	end := time.Now().Add(d)
	err := allAtOnce(db.Connections(), func(client int) error {
		rng := rand.New(rand.NewPCG(seed, uint64(client)))
		var mine []time.Duration
		for began := time.Now(); began.Before(end); began = time.Now() {
			if err := q.do(ctx, db, rng.IntN(q.kinds)); err != nil {
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

func allAtOnce(n int, do func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Add(1)
		go func() { defer all.Done(); errs[i] = do(i) }()
	}
	all.Wait()
	return errors.Join(errs...)
}

// quantile of sorted times, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Seconds() * 1000
}

// statementCache holds every text of the experiments, so that none is prepared twice on any side.
const statementCache = "8192"

// through changes where a DSN leads; an empty address leaves that.
func through(dsn, address string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the cluster's connection string is no URL")
	}
	query := u.Query()
	query.Set("statement_cache_capacity", statementCache)
	if address != "" {
		u.Host = address
		query.Del("host")
		query.Del("port")
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
