package rewriting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/audit"
	"plimsoll/erp/background"
	"plimsoll/erp/books"
	"plimsoll/erp/fill"
	rewritingjob "plimsoll/erp/rewriting"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/prove/backdated"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/books/posting"
	"plimsoll/platform/data/database"
	"plimsoll/platform/worker/jobs"
)

// Sizes of the base; full is with --full.
const (
	disorderDocuments  = 15_000
	disorderWarehouses = 20
	fullDocuments      = 150_000
	fullWarehouses     = 100
)

const (
	rewritingTurn   = 8 * time.Second
	rewritingRounds = 4
	// warmShare of a turn runs before it, so that every connection has its statements prepared.
	warmShare = 4
	// betweenRewriting is roughly the time to start workers and check their results.
	betweenRewriting = 3 * time.Second
	madeAndAudited   = 90 * time.Second
	pollEvery        = 100 * time.Millisecond
)

// disorderOptions is the size of a base whose whole history is out of order.
func disorderOptions(b site.Bench) fill.Options {
	o := fill.Options{Documents: disorderDocuments, Warehouses: disorderWarehouses}
	if b.Full {
		o = fill.Options{Documents: fullDocuments, Warehouses: fullWarehouses}
	}
	if b.Documents != 0 {
		o.Documents = b.Documents
	}
	return o
}

// rewritingSide is one side of an experiment on rewriting record sets: a number of parallel jobs, shared out to a
// number of worker processes.
type rewritingSide struct {
	name    string
	workers int
	jobs    int
	manner  posting.Rewriting
}

// small is the report's way: an object per transaction, a statement per row.
func small(asynchronous bool) posting.Rewriting {
	return posting.Rewriting{Documents: 1, Rows: 1, Asynchronous: asynchronous}
}

// seconds of a turn: a job takes whole ones.
func seconds(d time.Duration) int { return max(1, int(d.Round(time.Second).Seconds())) }

func warm(turn int) int { return max(1, turn/warmShare) }

// Figures of rewriting.
const (
	pace       = "objects per second"
	waitsShare = "waits for the log"
	flushes    = "log flushes per second"
)

// rewriting declares an experiment on background jobs of worker processes that rewrite record sets, in turns on one
// copy of the base: the books do not change.
func rewriting(b site.Bench, s *site.Site, text string, sides []rewritingSide, more ...claims.Condition) trial.Trial {
	turn := seconds(b.Turn(rewritingTurn))
	part := trial.Part{Rounds: b.Rounds(rewritingRounds), Turn: b.Turn(rewritingTurn),
		Between: time.Duration(warm(turn))*time.Second + betweenRewriting,
		Series: []trial.Series{{Name: pace, Unit: "1/s"}, {Name: waitsShare, Unit: "% of samples"},
			{Name: flushes, Unit: "1/s"}}}
	var run *rewritingRun
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		run, err = openRewriting(ctx, b, s.Cluster, r)
		return err
	}
	// a job that was stopped acknowledges nothing
	part.Check = func(ctx context.Context, _ *trial.Record) error { return run.prove(ctx) }
	for _, side := range sides {
		part.Sides = append(part.Sides, trial.Side{Name: side.name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return run.turn(ctx, side, turn)
				}, nil
			}})
	}
	return trial.Trial{
		Text: fmt.Sprintf("on a base of %s receipts and sales, %s",
			human.Thousands(disorderOptions(b).Documents), text),
		Parts: []trial.Part{part}, Overhead: madeAndAudited, Conditions: append(rewritingConditions(b), more...),
	}
}

// objects per second of a side.
func objects(side string) trial.Ref { return trial.At(side, pace) }

// fasterObjects compares the rates of two sides.
func fasterObjects(side, base string) trial.Ratio {
	return trial.Ratio{Of: objects(side), To: objects(base)}
}

// openRewriting makes the base and its copy.
func openRewriting(ctx context.Context, b site.Bench, c *cluster.Cluster, r *trial.Record) (*rewritingRun, error) {
	base, err := backdated.Make(ctx, c, disorderOptions(b), r.Say)
	if err != nil {
		return nil, err
	}
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return nil, err
	}
	r.AtEnd(drop)
	run, err := manage(ctx, b, dsn)
	if err != nil {
		return nil, err
	}
	r.Close(run.close)
	return run, nil
}

// rewritingRun submits jobs and compares the work done with the work acknowledged.
type rewritingRun struct {
	bench   site.Bench
	dsn     string
	db      *database.Database
	jobs    *jobs.Jobs
	books   string           // digest before anything was rewritten
	workers *site.JobWorkers // running now
	rows    int64            // acknowledged so far
	began   int64            // the server's count before
}

func manage(ctx context.Context, b site.Bench, dsn string) (m *rewritingRun, err error) {
	m = &rewritingRun{bench: b, dsn: dsn}
	if m.db, err = database.Open(ctx, dsn,
		database.Options{Connections: 4, Application: "plimsoll prove", StatementTimeout: -1}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.db.Close()
		}
	}()
	if m.jobs, err = background.New(m.db, slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	if m.began, err = m.counted(ctx); err != nil {
		return nil, err
	}
	books, err := audit.Books(ctx, m.db)
	m.books = books.Digest
	return m, err
}

func (m *rewritingRun) close() {
	m.stopWorkers()
	m.db.Close()
}

func (m *rewritingRun) stopWorkers() {
	if m.workers != nil {
		m.workers.Stop()
		m.workers = nil
	}
}

// turn has the side's workers rewrite for so long.
func (m *rewritingRun) turn(ctx context.Context, side rewritingSide, length int) (trial.Figures, error) {
	if each := site.Distribute(side.jobs, side.workers); m.workers == nil || !slices.Equal(m.workers.Jobs, each) {
		m.stopWorkers()
		var err error
		if m.workers, err = m.bench.StartWorkers(ctx, m.dsn, each); err != nil {
			return nil, err
		}
	}
	// A worker that listens may not look for parts yet, and leaves its own of the warm-up to others.
	if _, err := m.job(ctx, side, warm(length), nil); err != nil {
		return nil, err
	}
	waits := watchLog(ctx, m.db)
	done, err := m.job(ctx, side, length, m.workers.Jobs)
	f, waitsErr := waits.end()
	if err = errors.Join(err, waitsErr); err != nil {
		return nil, err
	}
	f[pace] = float64(done.Documents) / done.took.Seconds()
	return f, nil
}

// carried is what a job has acknowledged, and the time from the beginning of its first part to the end of its last.
type carried struct {
	posting.Rewritten
	took time.Duration
}

// job submits a rewriting job and waits for its end. Share is how many parts each worker must have; nil: any.
func (m *rewritingRun) job(ctx context.Context, side rewritingSide, length int, share []int) (done carried, err error) {
	arguments, err := json.Marshal(rewritingjob.Arguments{Type: books.GoodsSale, Parts: side.jobs,
		Documents: side.manner.Documents, Rows: side.manner.Rows,
		Asynchronous: side.manner.Asynchronous, Seconds: length})
	if err != nil {
		return done, err
	}
	const operator = ""
	number, _, err := m.jobs.Submit(ctx, rewritingjob.Kind, operator, arguments)
	if err != nil {
		return done, err
	}
	for {
		job, err := m.jobs.Show(ctx, operator, number)
		if err == nil && !job.State.Ended() {
			err = m.workers.CheckAlive()
		}
		switch {
		case err != nil:
			return done, errors.Join(err, m.jobs.Cancel(context.WithoutCancel(ctx), operator, number))
		case job.State == jobs.Done:
			return m.look(ctx, number, share)
		case job.State.Ended():
			return done, fmt.Errorf("job %d is %s: %s", number, job.State, job.Error)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// look checks the parts of a job: all done, each once, in parallel at every worker as declared.
func (m *rewritingRun) look(ctx context.Context, number int64, share []int) (done carried, err error) {
	parts, err := m.jobs.Carried(ctx, number)
	if err != nil {
		return done, err
	}
	if share != nil {
		err = checkParts(parts, share)
	}
	if err != nil {
		return done, fmt.Errorf("job %d: %w", number, err)
	}
	began, ended := parts[0].Began, parts[0].Ended
	for _, p := range parts {
		var one posting.Rewritten
		if err := json.Unmarshal(p.Result, &one); err != nil {
			return done, fmt.Errorf("job %d: read result: %w", number, err)
		}
		done.Rewritten = done.Plus(one)
		if p.Began.Before(began) {
			began = p.Began
		}
		if p.Ended.After(ended) {
			ended = p.Ended
		}
	}
	done.took = ended.Sub(began)
	m.rows += done.Rows
	if done.Documents == 0 || done.took <= 0 {
		return done, fmt.Errorf("job %d: it rewrote %d documents in %v", number, done.Documents, done.took)
	}
	return done, nil
}

// checkParts: every part began and ended once, and each worker had its share.
func checkParts(parts []jobs.Carried, share []int) error {
	counts, all := map[string]int{}, 0
	for _, n := range share {
		all += n
	}
	if len(parts) != all {
		return fmt.Errorf("%d parts, not %d", len(parts), all)
	}
	for n, p := range parts {
		if p.N != n || !p.Done || len(p.Workers) != 1 {
			return fmt.Errorf("part %d of %d was begun %d times, done: %t", p.N, all, len(p.Workers), p.Done)
		}
		counts[p.Workers[0]]++
	}
	var had []int
	for _, n := range counts {
		had = append(had, n)
	}
	slices.Sort(had)
	if !slices.Equal(had, slices.Sorted(slices.Values(share))) {
		return fmt.Errorf("workers had %v parts, not %v", had, share)
	}
	return nil
}

// prove that the acknowledged work was done, and done once: the server has counted as many rows as the jobs have
// acknowledged, the books are unchanged, and they balance.
func (m *rewritingRun) prove(ctx context.Context) error {
	m.stopWorkers() // backends report their counts at their end at the latest
	if err := m.quiet(ctx); err != nil {
		return err
	}
	counted, err := m.counted(ctx)
	if err != nil {
		return err
	}
	if counted -= m.began; counted != m.rows {
		return fmt.Errorf("jobs acknowledged %d rows deleted and inserted, the server counted %d", m.rows, counted)
	}
	books, err := audit.Books(ctx, m.db)
	if err != nil {
		return err
	}
	if books.Digest != m.books {
		return errors.New("the books differ from those before the rewriting")
	}
	report, err := audit.Run(ctx, m.db)
	if err == nil && !report.Clean() {
		err = fmt.Errorf("the books are wrong: %d violations", report.Violations)
	}
	return err
}

// counted rows deleted from or inserted into registers and ledgers; totals are not touched.
func (m *rewritingRun) counted(ctx context.Context) (rows int64, err error) {
	const look = `SELECT coalesce(sum(n_tup_ins + n_tup_del), 0)::bigint FROM pg_stat_user_tables
		WHERE relname ^@ 'acc_' OR relname ^@ 'gl_'`
	err = m.db.Borrow(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, look).Scan(&rows) })
	return rows, err
}

// quietWithin is how long backends of stopped workers may take to end.
const quietWithin = 10 * time.Second

func (m *rewritingRun) quiet(ctx context.Context) error {
	for end := time.Now().Add(quietWithin); ; time.Sleep(pollEvery) {
		var left int
		err := m.db.Borrow(ctx, func(conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "+
				"AND application_name = $1", jobsName).Scan(&left)
		})
		if err != nil || left == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d connections of stopped workers are still open", left)
		}
	}
}

func rewritingConditions(b site.Bench) []claims.Condition {
	return []claims.Condition{
		{Name: "load", Text: "sales of about 12 lines with their movements and entries: the record sets are read, " +
			"deleted and inserted unchanged (report: records of its own registers)"},
		{Name: "base", Text: fmt.Sprintf("%s receipts and sales; the books do not change",
			human.Thousands(disorderOptions(b).Documents))},
		{Name: "jobs", Text: "parts of a background job, distributed by river to worker processes of 'plimsoll " +
			"serve' on the same cores as the database; objects per second are those that the parts acknowledged, " +
			"from the start of the first part to the end of the last"},
		{Name: "checked", Text: "every part ran once, and each worker had its share; the server counted as many rows " +
			"deleted and inserted as the jobs acknowledged; the digest of the books is the same, and the audit is " +
			"clean"},
		{Name: "waits for the log", Text: fmt.Sprintf(logWaitsText, sampleEvery)},
	}
}
