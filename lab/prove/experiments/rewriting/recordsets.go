package rewriting

import (
	"context"
	"errors"
	"fmt"
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
	// recordSetPause is the application's own work for an object, on machines of its own in the report: 50 jobs made
	// 1,459 objects/s, 11 % more without waits for the log, hence 50/1,620 s each. Here it is a pause, or it would take
	// the processors from the database. Its length varies by half to either side, or jobs would run in step.
	recordSetPause = 30 * time.Millisecond
	// Each job has its own record sets; a row fits a page several times, so that an object writes some 4 KB of log.
	recordSetsEach = 40
	recordSetNote  = 1500 // bytes
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
)

var recordSetSeries = []trial.Series{{Name: pace, Unit: "1/s"}, {Name: waitsShare, Unit: "% of samples"},
	{Name: flushes, Unit: "1/s"}, {Name: bufferFull, Unit: "1/s"}, {Name: worstSecond, Unit: "% of the median second"},
	{Name: busyShare, Unit: "%"}, {Name: logVolume, Unit: "MB/s"}}

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
}

func (c commitSide) String() string { return fmt.Sprintf("%d jobs, %s", c.jobs, c.mode) }

// at is a series of the side in the part of a flush latency.
func (c commitSide) at(latency time.Duration, series string) trial.Ref {
	return trial.At(c.String(), series).In(latencyPart(latency))
}

// faster compares two sides' paces in the judged part.
func (c commitSide) faster(base commitSide, latency time.Duration) trial.Ratio {
	return trial.Ratio{Of: c.at(latency, pace), To: base.at(latency, pace)}
}

func latencyPart(latency time.Duration) string { return "flush " + latency.String() }

// recordSetPart measures sides at one flush latency.
func recordSetPart(b site.Bench, s *site.Site, name string, latency, turn time.Duration, sides []commitSide,
	settings ...profile.Setting) trial.Part {
	load := &recordSets{}
	p := trial.Part{Name: name, Title: name, Rounds: b.Rounds(recordSetRounds), Turn: turn,
		Between: recordSetWarm + recordSetOver, Unjudged: latency != judgedLatency, Series: recordSetSeries}
	p.Open = func(ctx context.Context, r *trial.Record) (err error) {
		settings := append([]profile.Setting{{Name: "max_connections", Value: "250"}}, settings...)
		if load.dsn, err = s.Disk.Start(ctx, r, name, latency, settings...); err != nil {
			return err
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
	all = append(all, trial.Criterion{Of: trial.Given{As: "turns of at least " + human.Duration(least),
		Holds: turn >= least, Else: "turns are shorter"}, Confirm: trial.Measured()})
	for _, s := range sides {
		all = append(all, trial.Criterion{Of: trial.Every{Of: s.at(judgedLatency, busyShare), Unit: "%"},
			Confirm: trial.AtMost(busyMax), Unless: "the processors are the limit, not the log"})
	}
	return all
}

func recordSetConditions() []claims.Condition {
	return []claims.Condition{
		{Name: "load", Text: fmt.Sprintf("each job goes through its own record sets of 1 to %d rows, one transaction "+
			"each: it reads the set, deletes it and inserts it again row by row. The table has a primary key, two "+
			"more indexes and about %d bytes a row", recordSetRows, recordSetNote)},
		{Name: "application", Text: fmt.Sprintf("the report's jobs also compute, on machines of their own; a pause "+
			"of %s on average stands for that. Its length follows from the report: 50 jobs made 1,459 objects/s, and "+
			"11 %% more without waits for the log, so an object takes a job 50/1,620 s", recordSetPause)},
		{Name: "flushes", Text: fmt.Sprintf("a library preloaded into the server makes each flush of the log take at "+
			"least the time given. The verdict is on %s, because the report counted 500 flushes/s; other times are "+
			"only reported", judgedLatency)},
		{Name: "checked", Text: "at the end all rows are unchanged"},
		{Name: "waits for the log", Text: fmt.Sprintf(logWaitsText+"; pg_stat_wal says how often the buffer was full",
			sampleEvery)},
	}
}

// recordSets is the register on a server.
type recordSets struct {
	dsn    string
	digest string // of the rows
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
	p := &rewritten{db: db, measured: time.Now().Add(recordSetWarm)}
	p.seconds = make([]atomic.Int64, int(length/time.Second)+1)
	working := make(chan error, 1)
	go func() {
		working <- site.AllAtOnce(side.jobs, func(job int) error { return p.job(ctx, job, length, seed) })
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
	return f, nil
}

// rewritten counts what the jobs of a turn have done, by second.
type rewritten struct {
	db       *database.Database
	measured time.Time // from then on
	done     atomic.Int64
	seconds  []atomic.Int64
}

// whole seconds of the turn.
func (p *rewritten) whole(length time.Duration) (all []float64) {
	for i := range max(1, int(length/time.Second)) {
		all = append(all, float64(p.seconds[i].Load()))
	}
	return all
}

// job rewrites its record sets in turns.
func (p *rewritten) job(ctx context.Context, job int, length time.Duration, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, uint64(job)))
	end := p.measured.Add(length)
	for n := 0; ; n++ {
		// the first pause is a part of one, so that the jobs do not begin together
		pause := time.Duration((0.5 + rng.Float64()) * float64(recordSetPause))
		if n == 0 {
			pause = time.Duration(rng.Float64() * float64(recordSetPause))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		if !time.Now().Before(end) {
			return nil
		}
		if err := rewriteSet(ctx, p.db, int64(job*recordSetsEach+n%recordSetsEach)); err != nil {
			return err
		}
		if at := time.Since(p.measured); at >= 0 && at < length {
			p.done.Add(1)
			p.seconds[at/time.Second].Add(1)
		}
	}
}

// set is a record set as it was read.
type setRow struct {
	line, organisation, item int64
	period                   time.Time
	quantity, amount, note   string
}

// rewriteSet reads a record set, deletes it and inserts it as it was.
func rewriteSet(ctx context.Context, db *database.Database, recorder int64) error {
	return db.Run(ctx, func(w *database.Work) error {
		var rows []setRow
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
			w.Queue("insert", "INSERT INTO record_sets VALUES ($1, $2, $3, $4, $5, $6::text::numeric, "+
				"$7::text::numeric, "+
				"$8)", recorder, s.line, s.period, s.organisation, s.item, s.quantity, s.amount, s.note)
		}
		return nil
	})
}

// logCounters of the server.
type logCounters struct {
	full, bytes int64
	busy        time.Duration
	at          time.Time
}

func readLog(ctx context.Context, db *database.Database) (c logCounters, err error) {
	err = db.Borrow(ctx, func(conn *pgx.Conn) error {
		// not wal_bytes, which a session reports once a second at most
		return conn.QueryRow(ctx, "SELECT wal_buffers_full, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), "+
			"'0/0')::bigint FROM pg_stat_wal").Scan(&c.full, &c.bytes)
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
