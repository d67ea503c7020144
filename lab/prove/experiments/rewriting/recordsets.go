package rewriting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/cpu"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/lab/stats"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/durability"
)

// The load of C20, C21 and C27: jobs that rewrite record sets of one to three rows of a register.
const (
	// recordSetPause makes the report's pace: 50 jobs made 1,459 objects/s with synchronous commits, hence 50/1,459 s
	// each, of which waiting for a flush of 2 ms takes one and a half of them on average. The rest is the application's
	// own work, on machines of its own in the report. Here it is a pause, or it would take the processors from the
	// database. A gain follows from its length, so that no size is judged with it: that takes work that was measured.
	// Work varies by half to either side, or jobs would run in step.
	recordSetPause = 31 * time.Millisecond
	// Each job has its own record sets; an object writes about as much log as one of the report's (20 MB/s of some
	// 1,500 to 2,100 objects/s). Two rows fit into a page.
	recordSetsEach = 40
	recordSetNote  = 3900 // bytes
	recordSetWarm  = time.Second
	recordSetOver  = 2 * time.Second // of a turn: to open and close its connections
	recordSetRows  = 3               // at most
	// busyMax of the processors, in percent: beyond it they are the limit, not the log.
	busyMax = 80
	// recordSetTurn is the shortest turn that says anything about a pace.
	recordSetTurn   = 5 * time.Second
	recordSetRounds = 4
)

// Figures of rewritten record sets, besides pace, waits and flushes.
const (
	bufferFull  = "log buffer full"
	worstSecond = "worst second"
	busyShare   = "processors busy"
	logVolume   = "log"
	deadlocks   = "deadlocks"
)

// recordSetPlace is where sides rewrite record sets.
type recordSetPlace struct {
	name    string        // of the part; empty: that of the flush latency
	latency time.Duration // of a flush
	// engine of a pair of clusters; empty: the experiment has one.
	engine string
	// erp gives the jobs our ERP's own work, as measured, on an application server that can fill up; else they make the
	// report's pace on as many processors as they need.
	erp bool
}

func (p recordSetPlace) part() string {
	if p.name != "" {
		return p.name
	}
	name := latencyPart(p.latency)
	if p.engine != "" && p.engine != site.Stock.Engine {
		name = site.Ours.Name + ", " + name
	}
	if p.erp {
		name += ", our ERP's work"
	}
	return name
}

func (p recordSetPlace) disk(s *site.Site) *site.SlowDisk {
	if p.engine == "" {
		return s.Disk
	}
	return s.Disks[p.engine]
}

// of is a series of a side there.
func (p recordSetPlace) of(c commitSide, series string) trial.Ref {
	return trial.At(c.String(), series).In(p.part())
}

// faster compares two sides' paces there.
func (p recordSetPlace) faster(c, base commitSide) trial.Ratio {
	return trial.Ratio{Of: p.of(c, pace), To: p.of(base, pace)}
}

var recordSetSeries = []trial.Series{{Name: pace, Unit: "1/s"}, {Name: waitsShare, Unit: "% of samples"},
	{Name: flushes, Unit: "1/s"}, {Name: bufferFull, Unit: "1/s"}, {Name: worstSecond, Unit: "% of the median second"},
	{Name: busyShare, Unit: "%"}, {Name: logVolume, Unit: "MB/s"}, {Name: deadlocks, Unit: "1/s"}}

// flushLatencies of the parts.
var flushLatencies = []time.Duration{100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond,
	5 * time.Millisecond}

// judgedLatency: the report counted 500 flushes a second, and PostgreSQL makes one after the other.
const judgedLatency = 2 * time.Millisecond

// commitModes that are compared.
var commitModes = []durability.Mode{durability.Sync, durability.Group, durability.Async, durability.DurableAck}

// commitSide is a number of jobs that commit in a mode.
type commitSide struct {
	jobs int
	mode durability.Mode
	// objects in a transaction, of record sets that all jobs share; 0: one, of the job's own.
	objects int
}

func (c commitSide) String() string {
	if c.objects == 0 {
		return fmt.Sprintf("%d jobs, %s", c.jobs, c.mode)
	}
	return fmt.Sprintf("%d jobs, %s, %d objects in a transaction", c.jobs, c.mode, c.objects)
}

// at is a series of the side in the part of a flush latency.
func (c commitSide) at(latency time.Duration, series string) trial.Ref {
	return trial.At(c.String(), series).In(latencyPart(latency))
}

// faster compares two sides' paces in the judged part.
func (c commitSide) faster(base commitSide, latency time.Duration) trial.Ratio {
	return trial.Ratio{Of: c.at(latency, pace), To: base.at(latency, pace)}
}

func latencyPart(latency time.Duration) string { return "flush " + latency.String() }

// recordSetPart measures sides in one place.
func recordSetPart(b site.Bench, s *site.Site, place recordSetPlace, turn time.Duration, sides []commitSide,
	settings ...profile.Setting) trial.Part {
	load := &recordSets{}
	p := trial.Part{Name: place.part(), Title: place.part(), Rounds: b.Rounds(recordSetRounds), Turn: turn,
		Between: recordSetWarm + recordSetOver, Unjudged: place.latency != judgedLatency, Series: recordSetSeries}
	if place.erp {
		p.Series = append(slices.Clone(p.Series), trial.Series{Name: applicationWork, Unit: "ms"},
			trial.Series{Name: applicationBusy, Unit: "%"})
	}
	p.Open = func(ctx context.Context, r *trial.Record) (err error) {
		settings := append([]profile.Setting{{Name: "max_connections", Value: "250"}}, settings...)
		disk := place.disk(s)
		if load.dsn, err = disk.Start(ctx, r, place.part(), place.latency, settings...); err != nil {
			return err
		}
		if place.erp {
			if load.application, err = ourApplication(ctx, r, disk); err != nil {
				return err
			}
		}
		return load.make(ctx, slices.MaxFunc(sides, func(a, b commitSide) int { return a.jobs - b.jobs }).jobs)
	}
	p.Check = func(ctx context.Context, _ *trial.Record) error { return load.check(ctx) }
	for _, side := range sides {
		p.Sides = append(p.Sides, trial.Side{Name: side.String(),
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, n int) (trial.Figures, error) {
					return load.turn(ctx, side, turn, uint64(n))
				}, nil
			}})
	}
	return p
}

// lightlyLoaded requires that the processors were not the limit, and that turns were long enough.
func lightlyLoaded(turn, least time.Duration, sides ...commitSide) (all []trial.Criterion) {
	return lightlyLoadedAt(recordSetPlace{latency: judgedLatency}, turn, least, sides...)
}

func lightlyLoadedAt(place recordSetPlace, turn, least time.Duration, sides ...commitSide) (all []trial.Criterion) {
	all = append(all, trial.Criterion{Of: trial.Given{As: "turns of at least " + human.Duration(least),
		Holds: turn >= least, Else: "turns are shorter"}, Confirm: trial.Measured()})
	for _, s := range sides {
		all = append(all, trial.Criterion{Of: trial.Every{Of: place.of(s, busyShare), Unit: "%"},
			Confirm: trial.AtMost(busyMax), Unless: "the processors are the limit, not the log"})
	}
	return all
}

// What the report's objects write to the log, in kB.
const recordSetLogLeast, recordSetLogMost = 9, 14

// recordSetSituation is the report's, as the side shows it.
func recordSetSituation(s commitSide) []trial.Condition {
	return recordSetSituationAt(recordSetPlace{latency: judgedLatency}, s)
}

func recordSetSituationAt(place recordSetPlace, s commitSide) []trial.Condition {
	return []trial.Condition{
		{Of: trial.Known{As: "jobs", Value: float64(s.jobs)}, Report: "50 to 100", Met: trial.AtLeast(50)},
		{Of: trial.Computed{As: "log of an object, kB", Format: "%.1f", Formula: func(m *trial.Measurements) float64 {
			rate := stats.Median(m.Figures(place.of(s, pace)))
			if len(m.Figures(place.of(s, logVolume))) == 0 || rate == 0 {
				return math.NaN()
			}
			return 1000 * stats.Median(m.Figures(place.of(s, logVolume))) / rate
		}}, Report: fmt.Sprintf("%d to %d", recordSetLogLeast, recordSetLogMost),
			Met: trial.Within(recordSetLogLeast, recordSetLogMost)},
	}
}

// workLeast and workMost are what an application's work on an object is in the report's situation, in ms: half and
// twice what follows from its pace.
const workLeast, workMost = 15, 62

// measuredWork is the report's situation where the size of a gain is judged: there the sides have our ERP's work.
func measuredWork(place recordSetPlace, sides ...commitSide) (all []trial.Condition) {
	var busy []trial.Ref
	for _, side := range sides {
		busy = append(busy, place.of(side, busyShare))
	}
	return append(site.WithRoom(busy...), trial.Condition{Of: trial.Every{Of: place.of(sides[0], applicationWork),
		As: applicationWork, Unit: "ms"}, Report: fmt.Sprintf("about %d, from its pace", recordSetPause.Milliseconds()),
		Met: trial.Within(workLeast, workMost)})
}

func recordSetConditions() []claims.Condition {
	return []claims.Condition{
		{Name: "load", Text: fmt.Sprintf("each job goes through its own record sets of 1 to %d rows, one transaction "+
			"each: it locks and reads the set, deletes it and inserts it again row by row. The table has a primary "+
			"key, two "+
			"more indexes and about %d bytes a row", recordSetRows, recordSetNote)},
		{Name: "application", Text: fmt.Sprintf("the report's jobs also compute, on machines of their own; a pause "+
			"of %s on average stands for that. Its length makes the report's pace: 50 jobs made 1,459 objects/s, so "+
			"an object took a job 50/1,459 s, less one and a half flushes of 2 ms", recordSetPause)},
		{Name: "flushes", Text: fmt.Sprintf("a library preloaded into the server makes each flush of the log take at "+
			"least the time given. The verdict is on %s, because the report counted 500 flushes/s; other times are "+
			"only reported", judgedLatency)},
		{Name: "checked", Text: "at the end all rows are unchanged"},
		{Name: "waits for the log", Text: fmt.Sprintf(logWaitsText+"; pg_stat_wal says how often the buffer was full",
			sampleEvery)},
	}
}

// recordSets is the register on a server, and the application that rewrites it.
type recordSets struct {
	dsn         string
	digest      string // of the rows
	application *applicationServer
}

const recordSetsSQL = `DROP TABLE IF EXISTS record_sets;
CREATE TABLE record_sets (recorder bigint, line int, period timestamptz, organisation bigint, item bigint,
	quantity numeric(15,3), amount numeric(15,2), note text, PRIMARY KEY (recorder, line));
CREATE INDEX ON record_sets (item, period);
CREATE INDEX ON record_sets (organisation, period);
ALTER TABLE record_sets ALTER note SET STORAGE PLAIN;
INSERT INTO record_sets SELECT recorder, line, '2026-01-01'::timestamptz + recorder * interval '1 minute',
	recorder % 50, (recorder * 31 + line) % 5000, line * 2.5, recorder * 1.01,
	(SELECT string_agg(md5((recorder * 100 + line * 1000003 + n)::text), '') FROM generate_series(1, {notes}) n)
FROM generate_series(0, {sets} - 1) recorder, LATERAL generate_series(1, 1 + (recorder % {rows})::int) line;
VACUUM ANALYZE record_sets; CHECKPOINT`

// make the record sets of so many jobs.
func (s *recordSets) make(ctx context.Context, jobs int) (err error) {
	if s.application == nil {
		s.application = &applicationServer{work: recordSetPause}
	}
	err = postgres.Execute(ctx, s.dsn, statementsOf(recordSetsSQL, "{sets}", strconv.Itoa(jobs*recordSetsEach),
		"{notes}", strconv.Itoa(recordSetNote/32), "{rows}", strconv.Itoa(recordSetRows))...)
	if err != nil {
		return fmt.Errorf("create record sets: %w", err)
	}
	s.digest, err = postgres.Value[string](ctx, s.dsn, digestSQL)
	return err
}

const digestSQL = "SELECT count(*) || ' ' || coalesce(sum(hashtextextended(r::text, 0)::numeric), 0) FROM record_sets r"

// check that the rows are the same as before.
func (s *recordSets) check(ctx context.Context) error {
	digest, err := postgres.Value[string](ctx, s.dsn, digestSQL)
	if err == nil && digest != s.digest {
		err = errors.New("the record sets differ from those before the rewriting")
	}
	return err
}

// turn has the jobs rewrite for so long, after a warm-up.
func (s *recordSets) turn(ctx context.Context, side commitSide, length time.Duration, seed uint64) (trial.Figures,
	error) {
	db, err := database.Open(ctx, s.dsn, database.Options{Connections: side.jobs, Application: jobsName,
		Durability: string(side.mode)})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	watch, err := database.Open(ctx, s.dsn, database.Options{Connections: 1, Application: "plimsoll prove"})
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	p := &rewritten{db: db, measured: time.Now().Add(recordSetWarm), application: s.application}
	p.seconds = make([]atomic.Int64, int(length/time.Second)+1)
	working := make(chan error, 1)
	go func() {
		working <- site.AllAtOnce(side.jobs, func(job int) error { return p.job(ctx, side, job, length, seed) })
	}()
	f, err := s.look(ctx, watch, p.measured, length)
	if err = errors.Join(err, <-working); err == nil {
		err = ctx.Err() // cut off: not a turn
	}
	if err != nil {
		return nil, err
	}
	all := p.whole(length)
	f[pace] = float64(p.done.Load()) / length.Seconds()
	f[worstSecond] = 100 * slices.Min(all) / max(1, stats.Median(all))
	if s.application.slots != nil {
		f[applicationWork] = s.application.work.Seconds() * 1000
		f[applicationBusy] = 100 * s.application.busyShare(length)
	}
	return f, nil
}

// rewritten counts what the jobs of a turn have done, by second.
type rewritten struct {
	db       *database.Database
	measured time.Time // from then on
	done     atomic.Int64
	seconds  []atomic.Int64

	application *applicationServer
}

// whole seconds of the turn.
func (p *rewritten) whole(length time.Duration) (all []float64) {
	for i := range max(1, int(length/time.Second)) {
		all = append(all, float64(p.seconds[i].Load()))
	}
	return all
}

// job rewrites its record sets in turns, or some of all in a transaction.
func (p *rewritten) job(ctx context.Context, side commitSide, job int, length time.Duration, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, uint64(job)))
	end := p.measured.Add(length)
	pause := func(share float64) { p.application.compute(ctx, share, p.measured, length) }
	pause(rng.Float64()) // so that the jobs do not begin together
	for n := 0; ctx.Err() == nil && time.Now().Before(end); n++ {
		err := p.db.Run(ctx, func(w *database.Work) error {
			if side.objects == 0 {
				return rewriteSet(ctx, w, int64(job*recordSetsEach+n%recordSetsEach))
			}
			for k := range side.objects {
				if k > 0 {
					pause(0.5 + rng.Float64())
				}
				if err := rewriteSet(ctx, w, rng.Int64N(int64(side.jobs*recordSetsEach))); err != nil {
					return err
				}
			}
			return nil
		})
		// Too many deadlocks in a row, or a queue behind those who make theirs again: its objects do not count.
		if err != nil && !database.IsRetryable(err) && !database.IsLockTimeout(err) {
			return err
		}
		if at := time.Since(p.measured); err == nil && at >= 0 && at < length {
			p.done.Add(int64(max(1, side.objects)))
			p.seconds[at/time.Second].Add(int64(max(1, side.objects)))
		}
		pause(0.5 + rng.Float64())
	}
	return nil
}

// set is a record set as it was read.
type setRow struct {
	line, organisation, item int64
	period                   time.Time
	quantity, amount, note   string
}

// rewriteSet reads a record set, deletes it and inserts it as it was. Whoever rewrites it, too, waits for its recorder,
// as for the document of the set: rows that are read before another's end would be missing.
func rewriteSet(ctx context.Context, w *database.Work, recorder int64) error {
	var rows []setRow
	w.Queue("lock", "SELECT pg_advisory_xact_lock($1)", recorder)
	w.Queue("read", "SELECT line, organisation, item, period, quantity::text, amount::text, note FROM record_sets "+
		"WHERE recorder = $1 ORDER BY line", recorder).Rows(func(r pgx.Rows) error {
		var s setRow
		err := r.Scan(&s.line, &s.organisation, &s.item, &s.period, &s.quantity, &s.amount, &s.note)
		rows = append(rows, s)
		return err
	})
	if err := w.Flush(ctx); err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("record set %d is missing", recorder)
	}
	w.Queue("delete", "DELETE FROM record_sets WHERE recorder = $1", recorder)
	for _, s := range rows {
		w.Queue("insert",
			"INSERT INTO record_sets VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7::text::numeric, $8)",
			recorder, s.line, s.period, s.organisation, s.item, s.quantity, s.amount, s.note)
	}
	return nil
}

// logCounters of the server.
type logCounters struct {
	full, bytes int64
	deadlocks   int64
	busy        time.Duration
	at          time.Time
}

func readLog(ctx context.Context, db *database.Database) (c logCounters, err error) {
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		// not wal_bytes, which a session reports once a second at most
		return conn.QueryRow(ctx, "SELECT wal_buffers_full, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), "+
			"'0/0')::bigint, (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) "+
			"FROM pg_stat_wal").Scan(&c.full, &c.bytes, &c.deadlocks)
	})
	if err != nil {
		return c, err
	}
	system, err := cpu.ReadSystem()
	c.busy, c.at = system.Busy, time.Now()
	return c, err
}

// look at the log and the processors while the jobs work.
func (s *recordSets) look(ctx context.Context, db *database.Database, from time.Time,
	length time.Duration) (f trial.Figures, err error) {
	wait := func(until time.Time) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(until)):
		}
	}
	wait(from)
	before, err := readLog(ctx, db)
	if err != nil {
		return nil, err
	}
	watch := watchLog(ctx, db)
	wait(from.Add(length))
	f, err = watch.end()
	after, readErr := readLog(ctx, db)
	if err = errors.Join(err, readErr); err != nil {
		return nil, err
	}
	took := after.at.Sub(before.at).Seconds()
	f[bufferFull] = float64(after.full-before.full) / took
	f[deadlocks] = float64(after.deadlocks-before.deadlocks) / took
	f[logVolume] = float64(after.bytes-before.bytes) / took / 1e6
	f[busyShare] = 100 * (after.busy - before.busy).Seconds() / took / float64(runtime.NumCPU())
	return f, nil
}

// statementsOf a text, with values in place of its variables: name, value, name, value, …
func statementsOf(text string, variables ...string) (all []string) {
	for s := range strings.SplitSeq(strings.NewReplacer(variables...).Replace(text), ";") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}
