package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/model/metadata"
	"plimsoll/platform/model/schema"
)

// Options of an audit; the zero value is All, without a clean point.
type Options struct {
	Mode  Mode
	Share float64 // of documents and keys, for a Sample
	Seed  int64   // the same seed, the same sample
	// Keep makes clean books the clean point for the next audit. It costs one more pass over every table.
	Keep bool
	// Patience: an audit estimated to take less than this checks everything, even with SinceClean.
	Patience time.Duration
	// Examples is how many violations of an invariant are named. Defaults to ExamplesMax.
	Examples int
	// Connections that check in parallel; see Connections.
	Connections int
	// Books derive documents, to be compared with what is stored; nil checks invariants only.
	Books *posting.Books
	// Progress is called with the bytes processed and the estimated total, from any goroutine.
	Progress func(done, total int64)
}

// Run checks the invariants in one snapshot.
func Run(ctx context.Context, db *database.Database, app *metadata.Application, invariants []Invariant,
	options Options) (Report, error) {
	start := time.Now()
	if options.Mode == "" {
		options.Mode = All
	}
	if options.Examples < 1 {
		options.Examples = ExamplesMax
	}
	a := &auditing{app: app, invariants: invariants, options: options, relations: relations(app)}
	a.report = Report{Mode: options.Mode, Checks: make([]Check, len(invariants))}
	a.snapshot = snapshot{db: db, connections: max(1, min(Connections(options.Connections), db.Connections()-1)),
		progress: options.Progress}
	err := withSnapshot(ctx, db, func(tx pgx.Tx, name string) error {
		a.name = name
		return a.look(ctx, tx)
	})
	if err != nil {
		return a.report, fmt.Errorf("audit: %w", err)
	}
	for _, c := range a.report.Checks {
		a.report.Violations += c.Violations
	}
	if err := a.keep(ctx); err != nil {
		return a.report, fmt.Errorf("audit: %w", err)
	}
	a.report.RowsRead, a.report.Connections = a.rows.Load(), a.connections
	a.report.ElapsedMS = float64(time.Since(start).Microseconds()) / 1000
	return a.report, nil
}

// Connections that check in parallel, given the number asked for; one more holds the snapshot. 0 is one per core.
func Connections(wanted int) int {
	if wanted < 1 {
		return runtime.NumCPU()
	}
	return wanted
}

// auditing is an audit under way.
type auditing struct {
	snapshot
	app        *metadata.Application
	invariants []Invariant
	relations  []relation
	options    Options
	origin     origin
	absent     map[string]string // missing columns, by table
	digest     string
	bytes      map[string]int64
	from       *point
	counted    []*counted
	report     Report
}

func (a *auditing) look(ctx context.Context, tx pgx.Tx) (err error) {
	if a.db.Connections() < 2 {
		return fmt.Errorf("an audit needs two connections, one to hold the snapshot")
	}
	if a.origin, err = originOf(ctx, tx); err != nil {
		return err
	}
	if a.bytes, err = sizes(ctx, tx); err != nil {
		return err
	}
	a.digest = digestOf(a.app, a.invariants)
	if err := a.lookForTables(ctx, tx); err != nil {
		return err
	}
	derivations, orderings := a.derivations(), a.orderings()
	if len(derivations) > 0 {
		a.digest += " derived"
	}
	if a.report.Mode == SinceClean && a.estimate() < a.options.Patience {
		a.report.Mode = All
	}
	if a.report.Mode == SinceClean {
		if a.from, a.report.Reason, err = lastPoint(ctx, tx, a.origin, a.digest); err != nil {
			return err
		}
		if a.from == nil {
			a.report.Mode = All
		}
	}
	s := scope{mode: All}
	switch a.report.Mode {
	case SinceClean:
		if s, err = a.changed(ctx); err != nil {
			return err
		}
	case Sample:
		a.report.Share, a.report.Seed = a.options.Share, a.options.Seed
		s = scope{mode: Sample, share: a.options.Share, seed: a.options.Seed}
		err = a.all(ctx, a.checks(s, a.options.Share))
	default:
		tasks := a.checks(s, 1)
		if a.canKeep() {
			tasks = append(tasks, a.census()...)
		}
		err = a.all(ctx, tasks)
	}
	if err != nil {
		return err
	}
	var replays []task
	for _, o := range orderings {
		if replay, needed := o.task(a, s); needed {
			replays = append(replays, replay)
		}
	}
	if err := a.all(ctx, replays); err != nil {
		return err
	}
	if err := a.groups(ctx); err != nil {
		return err
	}
	return a.derive(ctx, tx, derivations, s)
}

// pace of a connection, in bytes per second of tables read: a low estimate, since it decides how long a user may have
// to wait.
const pace = 25 << 20

// estimate of the time to check everything.
func (a *auditing) estimate() time.Duration {
	seconds := float64(a.bytesOf(a.checks(scope{mode: All}, 1))) / pace / float64(a.connections)
	return time.Duration(seconds * float64(time.Second))
}

// canKeep says whether a clean point can be stored.
func (a *auditing) canKeep() bool {
	return a.options.Keep && a.report.Mode != Sample && a.origin.tableThere && !a.origin.recovery
}

func (a *auditing) all(ctx context.Context, tasks []task) error {
	a.expect(tasks)
	return a.each(ctx, tasks)
}

func (a *auditing) expect(tasks []task) {
	for _, t := range tasks {
		a.total.Add(t.bytes)
	}
	a.advance(0)
}

// changed finds what has changed since the clean point, and checks that.
func (a *auditing) changed(ctx context.Context) (scope, error) {
	a.report.Since = &a.from.made
	census, listing := a.census(), a.bytesOfRelations()
	a.expect(census)
	a.total.Add(listing + a.bytesOf(a.checks(scope{mode: SinceClean, months: "false"}, 0)))
	if err := a.each(ctx, census); err != nil {
		return scope{}, err
	}
	change := changeOf(a.counted, a.from.tally)
	documents, err := a.documents(ctx, change)
	if err != nil {
		return scope{}, err
	}
	a.describe(change, documents)
	s := scope{mode: SinceClean, documents: documents, months: monthsCondition(change.months), plain: change.plain,
		same: change.same}
	share := float64(a.report.Documents) / float64(max(1, a.report.DocumentsAll))
	return s, a.each(ctx, a.checks(s, min(1, share)))
}

func (a *auditing) describe(change change, documents []id.ID) {
	cells := map[cell]bool{}
	for _, c := range a.counted {
		if c.document == "id" {
			a.report.DocumentsAll += c.all
		}
		for at := range c.months {
			cells[at] = true
		}
	}
	a.report.Documents, a.report.Months, a.report.MonthsAll = int64(len(documents)), len(change.months), len(cells)
}

// documents that have changed, from all relations.
func (a *auditing) documents(ctx context.Context, change change) ([]id.ID, error) {
	var mu sync.Mutex
	found := map[id.ID]bool{}
	var tasks []task
	for _, c := range a.counted {
		tasks = append(tasks, task{"list changes of " + c.name, a.bytes[c.name],
			func(ctx context.Context, tx pgx.Tx) error {
				ids, err := c.changed(ctx, tx, a.from.since, change)
				mu.Lock()
				defer mu.Unlock()
				for _, one := range ids {
					found[one] = true
				}
				return err
			}})
	}
	err := a.each(ctx, tasks)
	return slices.SortedFunc(maps.Keys(found), id.ID.Compare), err
}

// census of all relations, which clean points store and compare.
func (a *auditing) census() (tasks []task) {
	a.counted = make([]*counted, len(a.relations))
	for i, r := range a.relations {
		buckets, since := a.buckets(r), stamp(0)
		if a.from != nil {
			buckets, since = len(a.from.tally[r.name].buckets), a.from.since
		}
		tasks = append(tasks, task{"count " + r.name, a.bytes[r.name],
			func(ctx context.Context, tx pgx.Tx) (err error) {
				a.counted[i], err = r.census(ctx, tx, since, a.origin.now, buckets)
				return err
			}})
	}
	return tasks
}

// buckets of documents: a few documents each, the same for all relations, since the buckets in which one lost rows are
// looked up in all.
func (a *auditing) buckets(r relation) int {
	if r.document == "" {
		return 1
	}
	headers := int64(0)
	for _, table := range a.relations {
		if table.document == "id" {
			headers += a.bytes[table.name]
		}
	}
	return min(bucketsMost, max(bucketsMin, 1<<bits.Len(uint(headers/bucketBytes))))
}

// checks of all invariants; narrowed ones read about a share of their tables.
func (a *auditing) checks(s scope, share float64) (tasks []task) {
	for i, invariant := range a.invariants {
		bytes := a.bytesRead(invariant)
		if _, _, narrowed := s.narrow(invariant.Wrong, nil); narrowed {
			bytes = int64(float64(bytes) * share)
		}
		without := Check{Invariant: invariant.ID, Title: invariant.Title}
		if a.reportMissing(&without, invariant.Checked+invariant.Wrong) {
			a.report.Checks[i] = without
			continue
		}
		tasks = append(tasks, task{invariant.ID, bytes, func(ctx context.Context, tx pgx.Tx) (err error) {
			a.report.Checks[i], err = invariant.check(ctx, tx, s, a.options.Examples)
			return err
		}})
	}
	return tasks
}

func (a *auditing) bytesRead(i Invariant) (sum int64) {
	for _, table := range tablesOf(i.Wrong) {
		sum += a.bytes[table]
	}
	return sum
}

func (a *auditing) bytesOf(tasks []task) (sum int64) {
	for _, t := range tasks {
		sum += t.bytes
	}
	return sum
}

func (a *auditing) bytesOfRelations() (sum int64) {
	for _, r := range a.relations {
		sum += a.bytes[r.name]
	}
	return sum
}

func (a *auditing) keep(ctx context.Context) error {
	switch {
	case !a.options.Keep || a.report.Mode == Sample:
	case !a.report.Clean():
		a.report.Unkept = "the books are not clean"
	case a.origin.recovery:
		a.report.Unkept = "the server is a standby"
	case !a.origin.tableThere:
		a.report.Unkept = "the base was made by an older version; starting a worker upgrades it"
	default:
		err := keep(ctx, a.db, a.origin, a.digest, a.counted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.report.Kept = err == nil
		if err != nil {
			a.report.Unkept = err.Error()
		}
	}
	return nil
}

// digestOf what is audited: a clean point for other invariants or tables does not apply.
func digestOf(app *metadata.Application, invariants []Invariant) string {
	hash := sha256.New()
	fmt.Fprintln(hash, schema.Digest(app))
	for _, i := range invariants {
		fmt.Fprintln(hash, i.ID, i.Checked, i.Wrong, i.Changed, i.Args)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func sizes(ctx context.Context, tx pgx.Tx) (map[string]int64, error) {
	rows, err := tx.Query(ctx, "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND "+
		"relnamespace = current_schema()::regnamespace")
	if err != nil {
		return nil, err
	}
	bytes := map[string]int64{}
	var name string
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&name, &size}, func() error {
		bytes[name] = size
		return nil
	})
	return bytes, err
}
