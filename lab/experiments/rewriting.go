package experiments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp"
	"plimsoll/erp/audit"
	"plimsoll/erp/background"
	"plimsoll/erp/rewriting"
	"plimsoll/lab/claims"
	"plimsoll/lab/disorder"
	"plimsoll/platform/database"
	"plimsoll/platform/jobs"
	"plimsoll/platform/posting"
)

const (
	rewritingTurn   = 8 * time.Second
	rewritingRounds = 4
	// warmShare of a turn is worked before it, so that every connection has its statements prepared.
	warmShare = 4
	// betweenRewriting is what starting workers and looking at what they did takes, roughly.
	betweenRewriting = 3 * time.Second
	madeAndAudited   = 90 * time.Second
	pollEvery        = 100 * time.Millisecond
)

// rewriter is one side of an experiment on rewriting record sets: so many jobs at once, dealt out to so many worker processes.
type rewriter struct {
	name    string
	workers int
	jobs    int
	how     posting.Rewriting
}

// small is how the report rewrites: an object per transaction, a statement per row.
func small(asynchronous bool) posting.Rewriting {
	return posting.Rewriting{Documents: 1, Rows: 1, Asynchronous: asynchronous}
}

func (b Bench) rewritingPlan(text string, rewriters int) Plan {
	turns := rewriters * b.rounds(rewritingRounds)
	return Plan{fmt.Sprintf("%d turns of %s on a base of %s receipts and sales: %s", turns, length(b.turn(rewritingTurn)), thousands(int64(b.disorderOptions().Documents)), text),
		time.Duration(turns)*b.rewritingTakes() + madeAndAudited}
}

// rewritingTakes is a turn with what goes before and after it.
func (b Bench) rewritingTakes() time.Duration {
	turn := seconds(b.turn(rewritingTurn))
	return time.Duration(turn+warm(turn))*time.Second + betweenRewriting
}

// seconds of a turn: a job takes whole ones.
func seconds(d time.Duration) int { return max(1, int(d.Round(time.Second).Seconds())) }

func warm(turn int) int { return max(1, turn/warmShare) }

// rewrite measures the rewriting of record sets by background jobs of worker processes, in turns on one copy of the base: the books stay what they are.
func (b Bench) rewrite(ctx context.Context, l layer, all []rewriter) (s sides, made []series, partial bool, err error) {
	base, err := disorder.Make(ctx, l.cluster, b.disorderOptions(), b.say)
	if err != nil {
		return s, nil, false, err
	}
	dsn, drop, err := base.Copy(ctx)
	if err != nil {
		return s, nil, false, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	m, err := b.manage(ctx, dsn)
	if err != nil {
		return s, nil, false, err
	}
	defer m.close()
	s = sides{turn: b.rewritingTakes(), rounds: b.rounds(rewritingRounds)}
	for _, side := range all {
		s.names = append(s.names, side.name)
	}
	s.run = func(ctx context.Context, side, _ int) (figures, error) {
		return m.turn(ctx, all[side], seconds(b.turn(rewritingTurn)))
	}
	if made, partial, err = s.measure(ctx, b); err == nil && !partial { // a job that was stopped acknowledges nothing
		err = m.prove(ctx)
	}
	return s, made, partial, err
}

// manager submits jobs and holds what was done against what was acknowledged.
type manager struct {
	bench Bench
	dsn   string
	db    *database.Database
	jobs  *jobs.Jobs
	books string // digest before anything was rewritten
	crew  *crew  // at work now
	rows  int64  // acknowledged so far, of which the server
	began int64  // had counted so many before
}

func (b Bench) manage(ctx context.Context, dsn string) (m *manager, err error) {
	m = &manager{bench: b, dsn: dsn}
	if m.db, err = database.Open(ctx, dsn, database.Options{Connections: 4, Application: "plimsoll prove", StatementTimeout: -1}); err != nil {
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

func (m *manager) close() {
	m.dismiss()
	m.db.Close()
}

func (m *manager) dismiss() {
	if m.crew != nil {
		m.crew.leave()
		m.crew = nil
	}
}

// turn has the side's workers rewrite for so long.
func (m *manager) turn(ctx context.Context, side rewriter, length int) (figures, error) {
	if each := dealt(side.jobs, side.workers); m.crew == nil || !slices.Equal(m.crew.jobs, each) {
		m.dismiss()
		var err error
		if m.crew, err = m.bench.hire(ctx, m.dsn, each); err != nil {
			return nil, err
		}
	}
	if _, err := m.job(ctx, side, warm(length)); err != nil {
		return nil, err
	}
	waits := watchLog(ctx, m.db)
	done, err := m.job(ctx, side, length)
	f, waitsErr := waits.end()
	if err = errors.Join(err, waitsErr); err != nil {
		return nil, err
	}
	f[pace] = float64(done.Documents) / done.took.Seconds()
	return f, nil
}

// carried is what a job has acknowledged, and how long it took from its first part's beginning to its last one's end.
type carried struct {
	posting.Rewritten
	took time.Duration
}

// job submits a rewriting and waits for its end.
func (m *manager) job(ctx context.Context, side rewriter, length int) (done carried, err error) {
	arguments, err := json.Marshal(rewriting.Arguments{Type: erp.GoodsSale, Parts: side.jobs, Documents: side.how.Documents, Rows: side.how.Rows, Asynchronous: side.how.Asynchronous, Seconds: length})
	if err != nil {
		return done, err
	}
	const operator = ""
	number, _, err := m.jobs.Submit(ctx, rewriting.Kind, operator, arguments)
	if err != nil {
		return done, err
	}
	for {
		job, err := m.jobs.Show(ctx, operator, number)
		if err == nil && !job.State.Ended() {
			err = m.crew.well()
		}
		switch {
		case err != nil:
			return done, errors.Join(err, m.jobs.Cancel(context.WithoutCancel(ctx), operator, number))
		case job.State == jobs.Done:
			return m.look(ctx, side, number)
		case job.State.Ended():
			return done, fmt.Errorf("job %d is %s: %s", number, job.State, job.Error)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// look at the parts of a job: all of them were done, each once, as many at every worker as it takes.
func (m *manager) look(ctx context.Context, side rewriter, number int64) (done carried, err error) {
	parts, err := m.jobs.Carried(ctx, number)
	if err != nil {
		return done, err
	}
	if err := once(parts, m.crew.jobs); err != nil {
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

// once: every part was begun and done once, and each worker had its share.
func once(parts []jobs.Carried, share []int) error {
	by, all := map[string]int{}, 0
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
		by[p.Workers[0]]++
	}
	var had []int
	for _, n := range by {
		had = append(had, n)
	}
	slices.Sort(had)
	if !slices.Equal(had, slices.Sorted(slices.Values(share))) {
		return fmt.Errorf("workers had %v parts, not %v", had, share)
	}
	return nil
}

// prove that what was acknowledged was done, and done once: the server has counted as many rows as the jobs have acknowledged, the books hold what they
// held, and balance.
func (m *manager) prove(ctx context.Context) error {
	m.dismiss() // backends give their counts at their end at the latest
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
		return errors.New("the books are others than before they were rewritten")
	}
	report, err := audit.Run(ctx, m.db)
	if err == nil && !report.Clean() {
		err = fmt.Errorf("the books are wrong: %d violations", report.Violations)
	}
	return err
}

// counted rows that were deleted from registers and ledgers or inserted; totals are not touched.
func (m *manager) counted(ctx context.Context) (rows int64, err error) {
	const look = `SELECT coalesce(sum(n_tup_ins + n_tup_del), 0)::bigint FROM pg_stat_user_tables WHERE relname ^@ 'acc_' OR relname ^@ 'gl_'`
	err = m.db.Borrow(ctx, func(conn *pgx.Conn) error { return conn.QueryRow(ctx, look).Scan(&rows) })
	return rows, err
}

// quietWithin is how long backends of workers that have gone may take to go.
const quietWithin = 10 * time.Second

func (m *manager) quiet(ctx context.Context) error {
	for end := time.Now().Add(quietWithin); ; time.Sleep(pollEvery) {
		var left int
		err := m.db.Borrow(ctx, func(conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", jobsName).Scan(&left)
		})
		if err != nil || left == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d connections of workers that have gone are still there", left)
		}
	}
}

func rewritingConditions(b Bench, l layer, more ...claims.Condition) []claims.Condition {
	return append(append(l.conditions,
		claims.Condition{Name: "load", Text: "sales with their movements and entries, about 12 lines each: record sets read, deleted and inserted as they were (report: records of its own registers)"},
		claims.Condition{Name: "base", Text: fmt.Sprintf("%s receipts and sales; books unchanged", thousands(int64(b.disorderOptions().Documents)))},
		claims.Condition{Name: "jobs", Text: "parts of a background job, handed out by river to worker processes of 'plimsoll serve', which are on the same cores as the database; objects per second are what parts acknowledged, from the first one's beginning to the last one's end"},
		claims.Condition{Name: "proved", Text: "every part was begun once, and each worker had its share; the server counted as many rows deleted and inserted as the jobs acknowledged; the digest of the books is the same, the audit clean"},
		claims.Condition{Name: "waits for the log", Text: fmt.Sprintf("share of the jobs' sessions at work that wait for a write or flush of the log, looked at every %v; flushes of all processes from pg_stat_io", sampleEvery)},
	), more...)
}
