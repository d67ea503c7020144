package experiments

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/lab/claims"
	"plimsoll/lab/disorder"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
)

const (
	rewritingTurn   = 8 * time.Second
	rewritingRounds = 4
	warmDocuments   = 3
	sampleEvery     = 20 * time.Millisecond
)

// rewriter is one side of an experiment on rewriting record sets.
type rewriter struct {
	name string
	jobs int
	how  posting.Rewriting
}

// small is how the report rewrites: an object per transaction, a statement per row.
func small(asynchronous bool) posting.Rewriting {
	return posting.Rewriting{Documents: 1, Rows: 1, Asynchronous: asynchronous}
}

func (b Bench) rewritingPlan(text string, rewriters int) Plan {
	turns := rewriters * b.rounds(rewritingRounds)
	return Plan{fmt.Sprintf("%d turns of %s on a base of %s documents: %s", turns, length(b.turn(rewritingTurn)), thousands(int64(b.disorderOptions().Documents)), text),
		time.Duration(turns)*b.turn(rewritingTurn) + time.Minute}
}

// rewriting measures the rewriting of record sets by many jobs at once, in turns on one copy of the base: the books stay what they are.
func (b Bench) rewriting(ctx context.Context, l layer, all []rewriter) (s sides, made []series, partial bool, err error) {
	base, err := disorder.Make(ctx, l.cluster, b.disorderOptions(), b.say)
	if err != nil {
		return s, nil, false, err
	}
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return s, nil, false, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	most := 0
	s = sides{turn: b.turn(rewritingTurn), rounds: b.rounds(rewritingRounds)}
	for _, side := range all {
		s.names, most = append(s.names, side.name), max(most, side.jobs)
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: most + 1, Application: rewritingName})
	if err != nil {
		return s, nil, false, err
	}
	defer db.Close()
	documents, err := sales(ctx, db)
	if err != nil {
		return s, nil, false, err
	}
	books := posting.New(db, erp.Metadata(), erp.Rules())
	// every connection has its statements prepared before anything is measured
	for _, how := range []posting.Rewriting{small(false), {Documents: warmDocuments}} {
		if _, err := rewriteFor(ctx, db, books, documents, rewriter{"", most, how}, s.turn/4); err != nil {
			return s, nil, false, err
		}
	}
	s.run = func(ctx context.Context, side, _ int) (figures, error) {
		return rewriteFor(ctx, db, books, documents, all[side], s.turn)
	}
	made, partial, err = s.measure(ctx, b)
	return s, made, partial, err
}

const rewritingName = "plimsoll rewriting"

func sales(ctx context.Context, db *database.Database) (documents []id.ID, err error) {
	err = db.Read(ctx, func(w *database.Work) error {
		documents = nil
		w.Queue("sales", "SELECT id FROM doc_goods_sale WHERE posted ORDER BY id").Rows(func(r pgx.Rows) error {
			var v id.ID
			err := r.Scan(&v)
			documents = append(documents, v)
			return err
		})
		return nil
	})
	return documents, err
}

// rewriteFor has so many jobs rewrite, each a share of the documents of its own, again and again until the time is over.
func rewriteFor(ctx context.Context, db *database.Database, books *posting.Books, documents []id.ID, side rewriter, d time.Duration) (figures, error) {
	end := time.Now().Add(d) // what runs then is finished
	var objects atomic.Int64
	var waits, active int64
	began := time.Now()
	size := max(1, side.how.Documents)
	err := allAtOnce(side.jobs+1, func(job int) (err error) {
		if job == side.jobs {
			waits, active, err = sampleLogWaits(ctx, db, end)
			return err
		}
		var own []id.ID
		for i := job; i < len(documents); i += side.jobs {
			own = append(own, documents[i])
		}
		for at := 0; time.Now().Before(end) && len(own) > 0; at = (at + size) % len(own) {
			n, err := books.Rewrite(ctx, erp.GoodsSale, own[at:min(len(own), at+size)], side.how)
			if objects.Add(n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	share := 0.0
	if active > 0 {
		share = 100 * float64(waits) / float64(active)
	}
	return figures{"objects per second": float64(objects.Load()) / time.Since(began).Seconds(), "waits for the log": share}, nil
}

// sampleLogWaits counts sessions at work, and those of them that wait for the log.
func sampleLogWaits(ctx context.Context, db *database.Database, end time.Time) (waits, active int64, err error) {
	const look = `SELECT count(*) FILTER (WHERE wait_event IN ('WalSync', 'WALSync', 'WalWrite', 'WALWrite')), count(*)
FROM pg_stat_activity WHERE application_name = $1 AND state = 'active' AND pid <> pg_backend_pid()`
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		for time.Now().Before(end) {
			var w, a int64
			if err := conn.QueryRow(ctx, look, rewritingName).Scan(&w, &a); err != nil {
				return err
			}
			waits, active = waits+w, active+a
			time.Sleep(sampleEvery)
		}
		return nil
	})
	return waits, active, err
}

func rewritingConditions(b Bench, l layer, more ...claims.Condition) []claims.Condition {
	return append(append(l.conditions,
		claims.Condition{Name: "load", Text: "sales with stock, cost batches and entries, about 12 lines each: record sets read, deleted and inserted as they were (report: records of its own registers)"},
		claims.Condition{Name: "base", Text: fmt.Sprintf("%s documents; books unchanged", thousands(int64(b.disorderOptions().Documents)))},
		claims.Condition{Name: "jobs", Text: "in one process, on a connection each; on the same cores as the database"},
	), more...)
}

var rewritingUnits = map[string]string{"objects per second": "1/s", "waits for the log": "% of samples"}
