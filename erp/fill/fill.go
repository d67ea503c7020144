// Package fill owns the base to work on: catalogs and a history of documents, at any scale. The same sizes and seed
// give the same base. The rules that post documents generate the history, on balances kept in memory, and COPY loads
// it: movements and entries are those that posting would have written.
//
// The work is divided into units: some thousands of catalog elements, or the documents of an organisation in a month.
// Organisations are generated in parallel, the units of one in order, and loaded while others are generated. Each unit
// is a transaction that ends with a row in a journal in the database. A fill that was killed goes on where it stopped;
// an incomplete unit leaves nothing.
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
	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/model/schema"
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

// Options of a fill; zero values mean the defaults.
type Options struct {
	Items, Warehouses, Counterparties, Users, Organisations int
	// Documents of the history beyond the opening balance; negative means none.
	Documents int
	// Trade limits the history to receipts and sales: the densest sequence of cost layers.
	Trade bool
	// Scale multiplies the base of claim C02 and replaces the counts above.
	Scale float64
	Seed  uint64
	// Months of the history. Defaults to 3; 12 with Scale.
	Months int
	// Until is the end of the history. Defaults to the last midnight (UTC), or on resuming to the value of the
	// first start. The same Seed, sizes and Until give the same base.
	Until time.Time
	// Streams generate rows in parallel, and as many connections load them. Defaults to the number of processors.
	Streams int
	// Create claims an empty database; without it only a database that Plimsoll made is filled.
	Create bool
	// Resume continues an unfinished fill whatever its sizes; Discard deletes it first.
	Resume, Discard bool
	// Progress, when set, receives the progress.
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
	// ErrUnfinished means that a fill was started and did not finish.
	ErrUnfinished = errors.New("an earlier fill did not finish")
)

const unfinishedHint = "'plimsoll fill --resume' continues it, 'plimsoll fill --discard' starts over"

// Run migrates an empty database and fills it, or continues a stopped fill of the same sizes.
func Run(ctx context.Context, db *database.Database, options Options) (summary Summary, err error) {
	start := time.Now()
	sizes, err := SizesOf(options)
	if err != nil {
		return summary, err
	}
	if options.Create {
		if err := schema.Claim(ctx, db); err != nil {
			return summary, err
		}
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
		return summary, f.withHint(err)
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
		{"catalogs", f.catalogs}, {"documents", f.documents}, {"totals", f.totals}, {"indexes", f.indexes},
		{"statistics", f.statistics},
	} {
		start := time.Now()
		if err := stage.do(ctx); err != nil {
			return err
		}
		f.stages = append(f.stages, Stage{stage.name, time.Since(start)})
	}
	return f.journal.finish(ctx, f.stages, f.streams)
}

// withHint adds what to do next.
func (f *filler) withHint(err error) error {
	class := problem.ClassOf(err)
	if isDiskFull(err) {
		class = problem.Environment
	}
	return problem.New(class, err, "finished units are kept; "+unfinishedHint)
}

func (f *filler) summary(s Sizes) Summary {
	all := f.journal.sum()
	return Summary{
		Items: s.Items, Warehouses: s.Warehouses, Counterparties: s.Counterparties, Contracts: s.Contracts,
		Users: s.Users, Organisations: s.Organisations,
		Documents: int(all.Documents), Rows: all.Rows, Bytes: all.Bytes, Streams: f.streams, Stages: f.stages,
	}
}

// stage starts the progress of a stage.
func (f *filler) stage(name string, total int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.progress = Progress{name, 0, total}
	f.report()
}

// addProgress adds to the progress of the stage.
func (f *filler) addProgress(n int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.progress.Done = min(f.progress.Done+n, f.progress.Total)
	f.report()
}

func (f *filler) report() {
	if f.options.Progress != nil {
		f.options.Progress(f.progress)
	}
}
