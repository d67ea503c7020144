package experiments

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/erp/restoration"
	"plimsoll/lab/claims"
	"plimsoll/lab/disorder"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
)

// Sizes of the bases that are restored: a small one, and the report's month.
const (
	restoringDocuments  = 15_000
	restoringWarehouses = 20
	reportDocuments     = 150_000
	reportWarehouses    = 100
	reportLines         = 2_000_000
	reportThreads       = 10
	restoringTurn       = 20 * time.Second // at most; longer restorations are cut short and their pace counts
	restoringRounds     = 4
	fullTurn            = 15 * time.Minute
	linePace            = "lines per second"
	betweenTurns        = 5 * time.Second // a copy of the base is made, roughly
)

// disorderOptions is the size of the base.
func (b Bench) disorderOptions() fill.Options {
	o := fill.Options{Documents: restoringDocuments, Warehouses: restoringWarehouses}
	if b.Full {
		o = fill.Options{Documents: reportDocuments, Warehouses: reportWarehouses}
	}
	if b.Documents != 0 {
		o.Documents = b.Documents
	}
	return o
}

func (b Bench) threads() int {
	if b.Threads != 0 {
		return b.Threads
	}
	return reportThreads
}

func (b Bench) restoringTurn() time.Duration {
	if b.Full && b.Duration == 0 {
		return fullTurn
	}
	return b.turn(restoringTurn)
}

// restorer is one side of an experiment on restoring.
type restorer struct {
	name    string
	how     func(base *disorder.Base) posting.Manner
	threads int  // 0 is the bench's
	whole   bool // its first turn goes to the end, however long that takes (within reason)
}

// stale are totals that reach to the beginning of the history, so that a balance reads all movements since.
func stale(base *disorder.Base) time.Time {
	return time.Date(base.Since.Year(), base.Since.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func lean(*disorder.Base) posting.Manner { return posting.Manner{} }

func classicWide(base *disorder.Base) posting.Manner {
	return posting.Manner{Classic: true, Wide: true, TotalsUntil: stale(base)}
}

func classicNarrow(base *disorder.Base) posting.Manner {
	return posting.Manner{Classic: true, TotalsUntil: stale(base)}
}

func classicMonth(*disorder.Base) posting.Manner { return posting.Manner{Classic: true} }

func (b Bench) restoringPlan(text string, restorers int) Plan {
	turns := restorers * b.rounds(restoringRounds)
	return Plan{fmt.Sprintf("%d turns of at most %s on a base of %s documents: %s", turns, length(b.restoringTurn()), thousands(int64(b.disorderOptions().Documents)), text),
		time.Duration(turns)*(b.restoringTurn()+betweenTurns) + time.Minute}
}

// restored is what an experiment on restoring measured.
type restored struct {
	sides
	made    []series
	partial bool
	base    *disorder.Base
}

// restoring measures in turns, each on a fresh copy of the base.
func (b Bench) restoring(ctx context.Context, l layer, all []restorer) (r restored, err error) {
	if r.base, err = disorder.Make(ctx, l.cluster, b.disorderOptions(), b.say); err != nil {
		return r, err
	}
	r.sides = sides{turn: b.restoringTurn() + betweenTurns, rounds: b.rounds(restoringRounds)}
	audited := make([]bool, len(all))
	for _, side := range all {
		r.names = append(r.names, side.name)
	}
	r.run = func(ctx context.Context, side, _ int) (figures, error) {
		return b.restoringOnce(ctx, r.base, all[side], &audited[side])
	}
	r.made, r.partial, err = r.measure(ctx, b)
	return r, err
}

func (b Bench) restoringOnce(ctx context.Context, base *disorder.Base, side restorer, audited *bool) (f figures, err error) {
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	threads := side.threads
	if threads == 0 {
		threads = b.threads()
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: threads + 1, Application: "plimsoll restoration", StatementTimeout: -1})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	began := time.Now()
	most := b.restoringTurn()
	if side.whole && !*audited {
		most = max(most, fullTurn)
	}
	lines, whole, err := restoreFor(ctx, db, threads, side.how(base), most)
	took := time.Since(began)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	if whole && !*audited {
		*audited = true
		report, err := audit.Run(ctx, db)
		if err != nil {
			return nil, err
		}
		if !report.Clean() {
			return nil, fmt.Errorf("the books are wrong after %s: %d violations", side.name, report.Violations)
		}
	}
	f = figures{linePace: float64(lines) / took.Seconds()}
	if whole {
		f["to the end"] = took.Seconds()
	}
	return f, nil
}

// restoreFor restores for so long, with so many sequences at a time, and tells how many lines were gone through and whether that was all.
func restoreFor(ctx context.Context, db *database.Database, threads int, how posting.Manner, most time.Duration) (lines int64, whole bool, err error) {
	plan, err := restoration.Plan(ctx, db, id.ID{})
	if err != nil {
		return 0, false, err
	}
	limited, cancel := context.WithCancel(ctx) // a deadline would end a read of the driver before it ends the context
	defer cancel()
	defer time.AfterFunc(most, cancel).Stop()
	todo, books := make(chan restoration.Sequence, len(plan)), restoration.Books(db)
	for _, s := range plan {
		todo <- s
	}
	close(todo)
	var mu sync.Mutex
	var done atomic.Int64
	err = allAtOnce(threads, func(int) error {
		for s := range todo {
			if limited.Err() != nil {
				return nil
			}
			told := int64(0)
			_, err := s.Run(limited, db, books, restoration.Options{How: how}, func(r posting.Restored) {
				mu.Lock()
				defer mu.Unlock()
				if r.Lines > told {
					done.Add(r.Lines - told)
					told = r.Lines
				}
			})
			if err != nil && limited.Err() == nil {
				return err
			}
		}
		return nil
	})
	return done.Load(), limited.Err() == nil, err
}

// conditions of restoring.
func (r restored) conditions(b Bench, l layer) []claims.Condition {
	return append(l.conditions,
		claims.Condition{Name: "base", Text: fmt.Sprintf("%s receipts and sales, %s lines that wait for their costs, %d warehouses (report: %s documents, about %s lines)",
			thousands(int64(b.disorderOptions().Documents)), thousands(r.base.Lines), b.disorderOptions().Warehouses, thousands(reportDocuments), thousands(reportLines))},
		claims.Condition{Name: "classic", Text: "documents reposted one by one in the order of time, layers read at the moment of each, all record sets deleted and inserted row by row, a round trip per statement; a transaction per piece of a warehouse, not per document, which spares it commits (report: the platform's own reposting)"},
		claims.Condition{Name: "turns", Text: fmt.Sprintf("each on a fresh copy of the base; what takes longer than %s is stopped, and its pace until then counts (the first turn of lean goes to the end)", length(b.restoringTurn()))})
}

// hours that the report's month would take at a pace.
func hours(linesPerSecond float64) float64 { return reportLines / linesPerSecond / 3600 }
