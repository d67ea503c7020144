// Package fill owns the base to work on: catalogs and a history of documents, the same for the same
// sizes and seed, at any scale. The history is made by the rules that post documents, on balances in memory, and loaded by COPY, so its movements and
// entries are what posting would have made.
//
// The work is cut into units: some thousands of elements of catalogs, or documents of an organisation within a month. Organisations are made at once, the
// units of one in their order, and loaded while others are made. Each unit is a transaction that ends with a line in a journal in the database. So a fill that
// was killed goes on where it stopped, and half a unit leaves nothing.
//
//	begin ─▶ catalogs ─▶ documents ─▶ totals ─▶ indexes ─▶ statistics ─▶ finished
//	 journal, no indexes │ unit by unit, by COPY │ set-based │ in parallel │ VACUUM (FREEZE, ANALYZE)
//
// Hot items, warehouses and organisations are the first of their lists (package skew).
package fill

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"plimsoll/erp"
	"plimsoll/platform/database"
	"plimsoll/platform/problem"
)

// Defaults of a small base.
const (
	ItemsDefault          = 1000
	WarehousesDefault     = 10
	CounterpartiesDefault = 500
	UsersDefault          = 100
	OrganisationsDefault  = 2
	DocumentsDefault      = 2000
)

// Options say how much; zero values mean the defaults.
type Options struct {
	Items, Warehouses, Counterparties, Users, Organisations int
	Documents                                               int // of the history beyond the opening; negative means none
	// Trade makes a history of receipts and sales alone: the sequence of cost batches at its densest.
	Trade bool
	// Scale makes the base of claim C02 times this, instead of the counts above.
	Scale float64
	Seed  uint64
	// Until is the end of the history. Defaults to the last midnight (UTC), or to that of the base that is gone on with. The base is the same
	// for the same Seed, sizes and Until.
	Until time.Time
	// Streams make rows at once, and as many connections load them. Defaults to the processors there are.
	Streams int
	// Resume goes on with what has been begun, whatever its sizes; Discard throws it away first.
	Resume, Discard bool
	// Progress, when set, is told how far it is.
	Progress func(Progress)
}

// Progress of a fill.
type Progress struct {
	Stage       string
	Done, Total int64 // elements, documents, tables of the stage
}

// Summary is what was written.
type Summary struct {
	Items          int           `json:"items"`
	Warehouses     int           `json:"warehouses"`
	Counterparties int           `json:"counterparties"`
	Contracts      int           `json:"contracts"`
	Users          int           `json:"users"`
	Organisations  int           `json:"organisations"`
	Documents      int           `json:"documents"` // with the opening
	Rows           int64         `json:"rows"`
	Bytes          int64         `json:"copied_bytes"`
	Streams        int           `json:"streams"`
	Elapsed        time.Duration `json:"elapsed_ns"`
	Stages         []Stage       `json:"stages"`
}

// Stage and how long it took in this run.
type Stage struct {
	Name    string        `json:"name"`
	Elapsed time.Duration `json:"elapsed_ns"`
}

var (
	// ErrNotEmpty means that the database already holds data; fill never adds to it.
	ErrNotEmpty = errors.New("the database is not empty")
	// ErrUnfinished means that a fill was begun and has not come to its end.
	ErrUnfinished = errors.New("the database is filled by half")
)

const unfinishedHint = "'plimsoll fill --resume' goes on with it, 'plimsoll fill --discard' starts over"

// Run migrates an empty database and fills it, or goes on with a fill of the same sizes that was stopped.
func Run(ctx context.Context, db *database.Database, options Options) (summary Summary, err error) {
	start := time.Now()
	sizes, err := SizesOf(options)
	if err != nil {
		return summary, err
	}
	if err := erp.Migrate(ctx, db); err != nil {
		return summary, err
	}
	f := &filler{db: db, options: options, streams: options.Streams}
	if f.streams < 1 {
		f.streams = runtime.GOMAXPROCS(0)
	}
	if f.journal, err = reserve(ctx, db); err != nil {
		return summary, err
	}
	defer f.journal.close()
	if sizes, err = f.journal.begin(ctx, sizes, options); err != nil {
		return summary, err
	}
	if err := f.run(ctx, sizes); err != nil {
		return summary, f.told(err)
	}
	summary = f.summary(sizes)
	summary.Elapsed = time.Since(start)
	return summary, nil
}

// filler is one run.
type filler struct {
	db      *database.Database
	options Options
	streams int
	journal *journal
	base    *base
	stages  []Stage

	mutex    sync.Mutex
	progress Progress
}

func (f *filler) run(ctx context.Context, sizes Sizes) error {
	f.base = newBase(sizes)
	for _, stage := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"catalogs", f.catalogs}, {"documents", f.documents}, {"totals", f.totals}, {"indexes", f.indexes}, {"statistics", f.statistics},
	} {
		start := time.Now()
		if err := stage.do(ctx); err != nil {
			return err
		}
		f.stages = append(f.stages, Stage{stage.name, time.Since(start)})
	}
	return f.journal.finish(ctx, f.stages, f.streams)
}

// told adds what to do now.
func (f *filler) told(err error) error {
	class := problem.ClassOf(err)
	if isDiskFull(err) {
		class = problem.Environment
	}
	return problem.New(class, err, "what is done stays; "+unfinishedHint)
}

func (f *filler) summary(s Sizes) Summary {
	all := f.journal.sum()
	return Summary{
		Items: s.Items, Warehouses: s.Warehouses, Counterparties: s.Counterparties, Contracts: s.Contracts, Users: s.Users, Organisations: s.Organisations,
		Documents: int(all.Documents), Rows: all.Rows, Bytes: all.Bytes, Streams: f.streams, Stages: f.stages,
	}
}

// stage begins to be told of.
func (f *filler) stage(name string, total int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.progress = Progress{name, 0, total}
	f.tell()
}

// did some more of the stage.
func (f *filler) did(n int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.progress.Done = min(f.progress.Done+n, f.progress.Total)
	f.tell()
}

func (f *filler) tell() {
	if f.options.Progress != nil {
		f.options.Progress(f.progress)
	}
}
