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
	"plimsoll/lab/prove/backdated"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/database"
	"plimsoll/platform/id"
	"plimsoll/platform/posting"
)

// Sizes of the bases: a small one, and the report's month.
const (
	restoringDocuments  = 15_000
	restoringWarehouses = 20
	reportDocuments     = 150_000
	reportWarehouses    = 100
	reportLines         = 2_000_000
	reportThreads       = 10
	restoringTurn       = 20 * time.Second // at most; longer restorations are cut off and their rate counts
	restoringRounds     = 4
	fullTurn            = 15 * time.Minute
	betweenTurns        = 5 * time.Second // roughly, to copy the base
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

// restoringSide is one side of an experiment on restoring.
type restoringSide struct {
	name    string
	how     func(base *backdated.Base) posting.Manner
	threads int  // 0: the bench's
	whole   bool // its first turn runs to the end, within reason
}

// stale are totals as of the beginning of the history, so that a balance reads all movements since.
func stale(base *backdated.Base) time.Time {
	return time.Date(base.Since.Year(), base.Since.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func lean(*backdated.Base) posting.Manner { return posting.Manner{} }

func classicWide(base *backdated.Base) posting.Manner {
	return posting.Manner{Classic: true, Wide: true, TotalsUntil: stale(base)}
}

func classicNarrow(base *backdated.Base) posting.Manner {
	return posting.Manner{Classic: true, TotalsUntil: stale(base)}
}

func classicMonth(*backdated.Base) posting.Manner { return posting.Manner{Classic: true} }

// Figures of restoring.
const (
	linePace = "lines per second"
	toTheEnd = "to the end"
)

// lines per second of a side.
func lines(side restoringSide) trial.Ref { return trial.At(side.name, linePace) }

// fasterLines compares the rates of two sides.
func fasterLines(side, base restoringSide) trial.Ratio {
	return trial.Ratio{Of: lines(side), To: lines(base)}
}

// restoring declares an experiment on restoring the order of costs, in turns, each on a fresh copy of the base.
func (b Bench) restoring(s *site, text string, sides []restoringSide, more ...claims.Condition) trial.Trial {
	var base *backdated.Base
	part := trial.Part{Rounds: b.rounds(restoringRounds), Turn: b.restoringTurn(), Between: betweenTurns,
		Series: []trial.Series{{Name: linePace, Unit: "1/s"}}}
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		if base, err = backdated.Make(ctx, s.cluster, b.disorderOptions(), r.Say); err == nil {
			r.Condition("base", b.restoringBase()+fmt.Sprintf("; %s lines wait for their costs",
				trial.Thousands(base.Lines)))
		}
		return err
	}
	for _, side := range sides {
		audited := false
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return b.restoringOnce(ctx, base, side, &audited)
				}, nil
			}})
	}
	return trial.Trial{
		Text: fmt.Sprintf("at most so long on a base of %s documents: %s", thousands(b.disorderOptions().Documents),
			text),
		Parts: []trial.Part{part}, Overhead: time.Minute, Conditions: append(b.restoringConditions(), more...),
	}
}

func (b Bench) restoringConditions() []claims.Condition {
	return []claims.Condition{
		{Name: "base", Text: b.restoringBase()},
		{Name: "classic", Text: "documents reposted one by one in the order of time, layers read at the moment of " +
			"each, all record sets deleted and inserted row by row, a round trip per statement; a transaction per " +
			"piece of a warehouse, not per document, which spares it commits (report: the platform's own reposting)"},
		{Name: "turns", Text: fmt.Sprintf("each on a fresh copy of the base; what takes longer than %s is "+
			"stopped, and "+
			"its pace until then counts (the first turn of lean goes to the end)", trial.Length(b.restoringTurn()))},
	}
}

func (b Bench) restoringBase() string {
	return fmt.Sprintf("%s receipts and sales, %d warehouses (report: %s documents, about %s lines)",
		thousands(b.disorderOptions().Documents), b.disorderOptions().Warehouses, thousands(reportDocuments),
		thousands(reportLines))
}

func (b Bench) restoringOnce(ctx context.Context, base *backdated.Base, side restoringSide,
	audited *bool) (f trial.Figures,
	err error) {
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	threads := side.threads
	if threads == 0 {
		threads = b.threads()
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: threads + 1, Application: "plimsoll restoration",
		StatementTimeout: -1})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	began := time.Now()
	most := b.restoringTurn()
	if side.whole && !*audited {
		most = max(most, fullTurn)
	}
	restored, whole, err := restoreFor(ctx, db, threads, side.how(base), most)
	took := time.Since(began)
	if err == nil {
		err = ctx.Err() // cut off: not a turn
	}
	if err != nil {
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
	f = trial.Figures{linePace: float64(restored) / took.Seconds()}
	if whole {
		f[toTheEnd] = took.Seconds()
	}
	return f, nil
}

// restoreFor restores for so long, with so many sequences in parallel. It returns how many lines were processed and
// whether that was all.
func restoreFor(ctx context.Context, db *database.Database, threads int, how posting.Manner,
	most time.Duration) (lines int64, whole bool, err error) {
	plan, err := restoration.Plan(ctx, db, id.ID{})
	if err != nil {
		return 0, false, err
	}
	limited, cancel := context.WithCancel(ctx) // a deadline would end a read of the driver before the context
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

// hours that the report's month would take at this rate.
func hours(linesPerSecond float64) float64 { return reportLines / linesPerSecond / 3600 }
