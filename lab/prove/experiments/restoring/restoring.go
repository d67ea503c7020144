package restoring

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/erp/audit"
	"plimsoll/erp/fill"
	"plimsoll/erp/restoration"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
	"plimsoll/lab/prove/backdated"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
)

// Sizes of the bases: the report's month after six months of history, and one of a tenth of the warehouses. Each has as
// many movements of a key (warehouse, item) as the other, so a document costs the same but for caches.
const (
	restoringMonths    = 7 // the last of them is out of order
	restoringDocuments = 15_000
	reportDocuments    = 150_000
	reportWarehouses   = 100
	warehousesLeast    = 10
	reportLines        = 2_000_000
	reportThreads      = 10
	restoringTurn      = 20 * time.Second // of all slices together
	restoringRounds    = 4
	restoringFill      = 3 * time.Minute // of the bases of both flavours, roughly
	fullTurn           = 100 * time.Second
	fullFill           = 20 * time.Minute
	betweenTurns       = 5 * time.Second // to copy the base, roughly
	fullBetween        = time.Minute
)

// slices of the month: each begins where that share of it has passed, so that late documents, which have the most to
// read, count as much as early ones.
var slices10 = []float64{0.1, 0.3, 0.5, 0.7, 0.9}

// month is the number of documents in the month that is out of order.
func month(b site.Bench) int {
	switch {
	case b.Documents != 0:
		return b.Documents
	case b.Full:
		return reportDocuments
	}
	return restoringDocuments
}

// monthOptions is the size of a base whose last month is out of order.
func monthOptions(b site.Bench) fill.Options {
	return fill.Options{Documents: restoringMonths * month(b), Months: restoringMonths,
		Warehouses: max(warehousesLeast, reportWarehouses*month(b)/reportDocuments)}
}

// refuseNoRoom: a full disk would show half an hour later, when the bases are filled.
func refuseNoRoom(b site.Bench) error {
	const (
		bytesPerDocument = 22_500 // with its rows, movements, indexes and totals: 105,000 took 2.25 GB
		bases            = 3.25   // one of each flavour, a copy of one, and the log
	)
	err := site.DiskRoom(int64(bases * bytesPerDocument * float64(monthOptions(b).Documents)))
	if err == nil {
		return nil
	}
	return problem.WithHint(err, "free some, set PLIMSOLL_STATE to a folder on another disk, or restore a smaller "+
		"month: --documents N")
}

func threadCount(b site.Bench) int {
	if b.Threads != 0 {
		return b.Threads
	}
	return reportThreads
}

func turnLength(b site.Bench) time.Duration {
	if b.Full && b.Duration == 0 {
		return fullTurn
	}
	return b.Turn(restoringTurn)
}

// reportSize is the report's situation: a smaller base only extrapolates to it.
func reportSize(b site.Bench) []trial.Condition {
	return []trial.Condition{
		{Of: trial.Known{As: "documents of the month", Value: float64(month(b))},
			Report: human.Thousands(reportDocuments), Met: trial.AtLeast(reportDocuments)},
		{Of: trial.Known{As: "threads", Value: float64(threadCount(b))}, Report: fmt.Sprint(reportThreads),
			Met: trial.Within(reportThreads, reportThreads)},
	}
}

// manner is a way of restoring, on any engine.
type manner struct {
	name          string
	postingManner func(base *backdated.Base) posting.Manner
	lean          bool // restored to the end; the others in slices
}

// on is the side of this manner on an engine, with the bench's threads.
func (m manner) on(v site.Variant) restoringSide { return restoringSide{manner: m, variant: v} }

// restoringSide is one side of an experiment on restoring.
type restoringSide struct {
	manner
	variant site.Variant
	threads int           // 0: the bench's
	delay   time.Duration // of each round trip, by a network on the way; 0: there is none
}

func (s restoringSide) String() string { return s.variant.Name + ", " + s.name }

// stale are totals of half a year before the month, so that a balance reads all movements since.
func stale(base *backdated.Base) time.Time {
	return time.Date(base.Since.Year(), base.Since.Month()-(restoringMonths-1), 1, 0, 0, 0, 0, time.UTC)
}

// Manners of restoring.
var (
	setBySet = manner{name: "lean", lean: true,
		postingManner: func(*backdated.Base) posting.Manner { return posting.Manner{} }}
	// the report's code: two or three of its queries read more than the document's goods
	wholeWarehouse = manner{name: "classic, whole warehouse read",
		postingManner: func(base *backdated.Base) posting.Manner {
			return posting.Manner{Classic: true, Wide: true, TotalsUntil: stale(base)}
		}}
	documentsGoods = manner{name: "classic, the document's goods read",
		postingManner: func(base *backdated.Base) posting.Manner {
			return posting.Manner{Classic: true, TotalsUntil: stale(base)}
		}}
	monthTotals = manner{name: "classic, totals to the start of the month",
		postingManner: func(*backdated.Base) posting.Manner {
			return posting.Manner{Classic: true}
		}}
)

// Figures of restoring.
const (
	linePace = "lines per second"
	toTheEnd = "to the end"
)

func paceAt(share float64) string { return fmt.Sprintf("lines per second at %.0f %%", 100*share) }

// lines per second of a side.
func lines(side restoringSide) trial.Ref { return trial.At(side.String(), linePace) }

// fasterLines compares the rates of two sides.
func fasterLines(side, base restoringSide) trial.Ratio {
	return trial.Ratio{Of: lines(side), To: lines(base)}
}

// home finds the cluster of an engine's base, and the options of sessions there.
type home func(v site.Variant) (c *cluster.Cluster, options string)

// ownServers are those of both flavours.
func ownServers(s *site.Site) home {
	return func(v site.Variant) (*cluster.Cluster, string) {
		return s.Servers.Running[v.Engine].Cluster(), v.Options()
	}
}

// restoring declares an experiment on restoring the order of costs of a month, in turns, each on a fresh copy of its
// engine's base.
func restoring(b site.Bench, where home, text string, sides []restoringSide, more ...claims.Condition) trial.Trial {
	return restoringOn(b, monthOptions(b), where, text, sides, more...)
}

// restoringOn does so on bases of another size.
func restoringOn(b site.Bench, size fill.Options, where home, text string, sides []restoringSide,
	more ...claims.Condition) trial.Trial {
	bases := map[string]*backdated.Base{}
	part := trial.Part{Rounds: b.Rounds(restoringRounds), Turn: turnLength(b), Between: betweenTurns,
		Series: []trial.Series{{Name: linePace, Unit: "1/s"}, {Name: toTheEnd, Unit: "s"}, trial.BusySeries}}
	overhead := restoringFill
	if b.Full {
		part.Between, overhead = fullBetween, fullFill
	}
	for _, share := range slices10 {
		part.Series = append(part.Series, trial.Series{Name: paceAt(share), Unit: "1/s"})
	}
	part.Open = func(ctx context.Context, r *trial.Record) error {
		for _, side := range sides {
			if bases[side.variant.Engine] != nil {
				continue
			}
			c, _ := where(side.variant)
			base, err := backdated.Make(ctx, c, size, r.Say)
			if err != nil {
				return err
			}
			bases[side.variant.Engine] = base
			r.Condition("base", restoringBase(size)+fmt.Sprintf("; %s lines to restore", human.Thousands(base.Lines)))
		}
		return nil
	}
	for _, side := range sides {
		audited := false
		part.Sides = append(part.Sides, trial.Side{Name: side.String(),
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					_, options := where(side.variant)
					return restoringOnce(ctx, b, bases[side.variant.Engine], side, options, &audited)
				}, nil
			}})
	}
	return trial.Trial{
		Text:  fmt.Sprintf("a month of %s documents after six months of history: %s", human.Thousands(month(b)), text),
		Parts: []trial.Part{part}, Overhead: overhead, Conditions: append(restoringConditions(size), more...),
	}
}

// benchThreads is the condition of experiments whose sides all have the bench's number of threads.
func benchThreads(b site.Bench) claims.Condition {
	return claims.Condition{Name: "threads", Text: fmt.Sprint(threadCount(b), " (report: ", reportThreads, ")")}
}

func restoringConditions(size fill.Options) []claims.Condition {
	return []claims.Condition{
		{Name: "base", Text: restoringBase(size)},
		{Name: "classic", Text: "documents are reposted one by one in order of time. The keys of each document and " +
			"the cost layers at its moment pass through temp tables, with statistics unless stated otherwise; its " +
			"record sets are deleted and inserted row by row, with a round trip per statement. One transaction per " +
			"warehouse instead of per document saves commits (report: the platform's own reposting)"},
		{Name: "turns", Text: fmt.Sprintf("each on a fresh copy of the base. Classic runs for %d equal slices of "+
			"time that start where %.0f %% to %.0f %% of the month have passed; its pace for the month is the "+
			"harmonic mean of the slices, without the time to set them up. Lean runs to the end of the month",
			len(slices10),
			100*slices10[0], 100*slices10[len(slices10)-1])},
		{Name: "totals", Text: "stale totals are those of the beginning of the history, half a year before the " +
			"month: a balance then sums all movements since"},
	}
}

func restoringBase(o fill.Options) string {
	return fmt.Sprintf("%s receipts and sales in %d months and %d warehouses; the costs of the last month are out of "+
		"order (report: %s documents, about %s lines in that month)", human.Thousands(o.Documents), o.Months,
		o.Warehouses,
		human.Thousands(reportDocuments), human.Thousands(reportLines))
}

func restoringOnce(ctx context.Context, b site.Bench, base *backdated.Base, side restoringSide, options string,
	audited *bool) (f trial.Figures, err error) {
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	dsn = postgres.WithOptions(dsn, options)
	dsn, network, err := site.Delayed(dsn, side.delay)
	if err != nil {
		return nil, err
	}
	if network != nil {
		defer func() { err = errors.Join(err, network.Close()) }()
	}
	threads := side.threads
	if threads == 0 {
		threads = threadCount(b)
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: threads + 1, Application: "plimsoll restoration",
		StatementTimeout: -1})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if !side.lean {
		return restoreSlices(ctx, db, base, threads, side.postingManner(base),
			turnLength(b)/time.Duration(len(slices10)))
	}
	began := time.Now()
	done, err := restoreFor(ctx, db, threads, side.postingManner(base), 0)
	took := time.Since(began)
	if err == nil {
		err = ctx.Err() // cut off: not a turn
	}
	if err != nil {
		return nil, err
	}
	if !*audited {
		*audited = true
		report, err := audit.Run(ctx, db)
		if err != nil {
			return nil, err
		}
		if !report.Clean() {
			return nil, fmt.Errorf("the books are wrong after %s: %d violations", side, report.Violations)
		}
	}
	return trial.Figures{linePace: float64(done.lines) / took.Seconds(), toTheEnd: took.Seconds()}, nil
}

// restoreSlices restores for so long from each of several moments of the month on. The pace of the month is the
// harmonic mean of theirs: equal shares of its lines take times that add up.
func restoreSlices(ctx context.Context, db *database.Database, base *backdated.Base, threads int,
	restoreManner posting.Manner,
	each time.Duration) (trial.Figures, error) {
	f, sum := trial.Figures{}, 0.0
	for _, share := range slices10 {
		from := base.Since.Add(time.Duration(share * float64(base.Until.Sub(base.Since))))
		if err := beginAt(ctx, db, from); err != nil {
			return nil, err
		}
		done, err := restoreFor(ctx, db, threads, restoreManner, each)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && done.lines == 0 {
			err = errors.New("no document was restored in a slice of the month; use more --documents or a longer " +
				"--duration")
		}
		if err != nil {
			return nil, err
		}
		f[paceAt(share)] = done.pace(threads)
		sum += 1 / f[paceAt(share)]
	}
	f[linePace] = float64(len(slices10)) / sum
	return f, nil
}

// beginAt lets a restoration begin at a moment: what is before counts as restored.
func beginAt(ctx context.Context, db *database.Database, moment time.Time) error {
	return db.Run(ctx, func(w *database.Work) error {
		w.Queue("begin later", "UPDATE acc_batches_boundary SET moment = $1", moment)
		return nil
	})
}

// restoredLines counts what threads did after the first document of each sequence: what comes before sets it up.
type restoredLines struct {
	mu    sync.Mutex
	lines int64
	busy  time.Duration // of all threads
	end   func()        // to call with the first document, once the time is over
}

func (r *restoredLines) add(lines int64, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.busy = r.lines+lines, r.busy+took
	if r.end != nil {
		r.end()
	}
}

// over ends the restoration, at once or with its first document.
func (r *restoredLines) over(end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines > 0 {
		end()
	}
	r.end = end
}

// pace of so many threads that always have something to do.
func (r *restoredLines) pace(threads int) float64 {
	return float64(r.lines) / r.busy.Seconds() * float64(threads)
}

// restoreFor restores for so long and at least one document, or (0) to the end, with so many sequences in parallel.
func restoreFor(ctx context.Context, db *database.Database, threads int,
	restoreManner posting.Manner,
	most time.Duration) (done *restoredLines, err error) {
	plan, err := restoration.Plan(ctx, db, id.ID{})
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithCancel(ctx) // a deadline would end a read of the driver before the context
	defer cancel()
	done = &restoredLines{}
	if most > 0 {
		defer time.AfterFunc(most, func() { done.over(cancel) }).Stop()
	}
	todo, books := make(chan restoration.Sequence, len(plan)), restoration.Books(db)
	for _, s := range plan {
		todo <- s
	}
	close(todo)
	err = site.AllAtOnce(threads, func(int) error {
		for s := range todo {
			if limited.Err() != nil {
				return nil
			}
			if err := done.sequence(limited, db, books, s, restoreManner,
				most > 0); err != nil && limited.Err() == nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// sequence restores one. What sets a slice up is left out: it would be done once in a whole month.
func (r *restoredLines) sequence(ctx context.Context, db *database.Database, books *posting.Books,
	s restoration.Sequence, restoreManner posting.Manner, slice bool) error {
	o, reported, at := restoration.Options{How: restoreManner}, int64(0), time.Time{}
	if slice {
		o.Lines = restoration.LinesMax // one transaction for a warehouse: a document is reposted once
	}
	_, err := s.Run(ctx, db, books, o, func(d posting.Restored) {
		now := time.Now()
		if (!slice || !at.IsZero()) && d.Lines > reported {
			r.add(d.Lines-reported, now.Sub(at))
		}
		reported, at = max(reported, d.Lines), now
	})
	return err
}

// hours that the report's month would take at this rate.
func hours(linesPerSecond float64) float64 { return reportLines / linesPerSecond / 3600 }
