package rewriting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/erp/audit"
	"plimsoll/erp/background"
	"plimsoll/erp/fill"
	"plimsoll/erp/monthclose"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/id"
	"plimsoll/platform/worker/jobs"
)

// Defaults of C26.
const (
	c26Rounds        = 6
	c26Turn          = 10 * time.Second
	c26Filling       = time.Minute
	c26Organisations = 6
	c26Months        = 10
	c26Documents     = 1500
	c26Jobs          = 3 // parts at once
	c26Least         = 5 // half-done groups of a side, below which nothing was tried
	c26Poll          = 5 * time.Millisecond
	c26Template      = "months"
	c26Base          = "months_turn"
)

// Sides of C26.
const (
	marked   = "months as a group"
	unmarked = "months one by one"
)

// Figures of C26.
const (
	halfDone  = "half-done"
	namedHalf = "named"
	leftHalf  = "left half-done"
	doneTwice = "closed twice"
	wrongThen = "wrong afterwards"
)

// c26Sum is the sum of a side's turns.
func c26Sum(side, series, as string) trial.Computed {
	return trial.Computed{As: as, Format: "%.0f", Formula: func(m *trial.Measurements) (sum float64) {
		for _, one := range m.Figures(trial.At(side, series)) {
			sum += one
		}
		return sum
	}}
}

// halfDoneGroups is the experiment behind C26.
func halfDoneGroups(b site.Bench, s *site.Site) trial.Trial {
	k := &killing{bench: b, own: s.Own, random: rand.New(rand.NewPCG(26, 1)), turns: map[string]int{}}
	part := trial.Part{Rounds: b.Rounds(c26Rounds), Counted: true, Turn: c26Turn, Open: k.open,
		Series: []trial.Series{{Name: halfDone}, {Name: namedHalf}, {Name: leftHalf}, {Name: doneTwice},
			{Name: wrongThen}}}
	for _, name := range []string{marked, unmarked} {
		part.Sides = append(part.Sides, trial.Side{Name: name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) { return k.turn(ctx, name) }, nil
			}})
	}
	half := c26Sum(marked, halfDone, "half-done groups after kills")
	control := c26Sum(unmarked, halfDone, "half-done organisations after kills without groups")
	unnamed := trial.Computed{As: "half-done groups that are not named", Format: "%.0f",
		Formula: func(m *trial.Measurements) (missing float64) {
			named := m.Figures(trial.At(marked, namedHalf))
			for i, n := range m.Figures(trial.At(marked, halfDone)) {
				if i < len(named) {
					missing += max(n-named[i], named[i]-n)
				}
			}
			return missing
		}}
	none := func(q trial.Quantity) trial.Criterion {
		return trial.Criterion{Of: q, Confirm: trial.AtMost(0), Refute: trial.Above(0), Anywhere: true}
	}
	left := c26Sum(marked, leftHalf, "groups that are still half-done after recovery")
	twice := c26Sum(marked, doneTwice, "months closed twice")
	noticed := c26Sum(unmarked, namedHalf, "violations that the audit finds without groups")
	enough := func(q trial.Quantity) trial.Criterion {
		return trial.Criterion{Of: q, Confirm: trial.AtLeast(c26Least), Unless: "too few kills hit the middle"}
	}
	return trial.Trial{
		Text: fmt.Sprintf("%d organisations close %d months while the worker or the server is killed: with markers "+
			"of groups, and month by month without", c26Organisations, c26Months),
		Overhead: c26Filling, Parts: []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{none(unnamed), none(left), none(twice),
			none(c26Sum(marked, wrongThen, "violations after recovery")), none(noticed), enough(half),
			enough(control)}},
		Measured: []trial.Phrase{
			trial.Say("with groups kills left %s half-done; %s of them were not named, %s were still half-done after "+
				"recovery, %s months were closed twice", half, unnamed, left, twice),
			trial.Say("without groups they left %s half-done organisations, and the audit found %s violations",
				control, noticed)},
		Conditions: []claims.Condition{
			{Name: "group", Text: "the months that an organisation closes together, a transaction for each; " +
				"half-done: some of them are closed by their documents and others are not"},
			{Name: "kills", Text: "kill -9 of the worker, and of the whole server with synchronous_commit=off, in " +
				"turns, at a random month; a killed worker is not restarted"},
			{Name: "named", Text: "by 'plimsoll audit', as groups.whole; without groups any violation counts"},
			{Name: "recovery", Text: "half of the groups are finished and half undone, as by 'plimsoll groups'; " +
				"without groups nothing says what to recover"},
		},
	}
}

// killing closes months and kills who does it.
type killing struct {
	bench  site.Bench
	own    *site.OwnCluster
	random *rand.Rand
	turns  map[string]int // by side
	months []string       // to be closed
	want   map[id.ID]int  // closed months of an organisation when all are
}

// lossy makes the server lose the end of its log when it is killed.
var lossy = cluster.StartOptions{Settings: []profile.Setting{{Name: "synchronous_commit", Value: "off"}}}

// open fills the base, and closes all its months in a copy, to see how many there are.
func (k *killing) open(ctx context.Context, r *trial.Record) error {
	r.Say("filling a base of %d organisations over %d months", c26Organisations, c26Months+1)
	return k.own.Running(ctx, lossy, func(c *cluster.Cluster) error {
		if err := site.Admin(ctx, c, "", "DROP DATABASE IF EXISTS "+c26Template+" WITH (FORCE)",
			"CREATE DATABASE "+c26Template); err != nil {
			return err
		}
		db, err := database.Open(ctx, c.DSN(c26Template).Secret(), database.Options{Connections: site.Streams + 1,
			Application: "plimsoll prove", StatementTimeout: -1})
		if err != nil {
			return err
		}
		last := time.Date(2025, time.Month(c26Months), 1, 0, 0, 0, 0, time.UTC)
		_, err = fill.Run(ctx, db, fill.Options{Organisations: c26Organisations, Items: 50, Warehouses: 8,
			Counterparties: 24, Users: 12, Documents: c26Documents, Months: c26Months + 1,
			Until: last.AddDate(0, 1, 10), Streams: site.Streams, Create: true})
		db.Close()
		if err != nil {
			return err
		}
		k.months = nil
		for n := range c26Months + 1 { // the history begins in the month before
			k.months = append(k.months, last.AddDate(0, n-c26Months, 0).Format(monthclose.Format))
		}
		return k.readPlan(ctx, c)
	})
}

// fresh copies the base.
func (k *killing) fresh(ctx context.Context, c *cluster.Cluster) (dsn string, err error) {
	return c.DSN(c26Base).Secret(), site.Admin(ctx, c, "", "DROP DATABASE IF EXISTS "+c26Base+" WITH (FORCE)",
		"CREATE DATABASE "+c26Base+" TEMPLATE "+c26Template)
}

// readPlan closes all months without a kill, and reads the steps that it took.
func (k *killing) readPlan(ctx context.Context, c *cluster.Cluster) error {
	dsn, err := k.fresh(ctx, c)
	if err != nil {
		return err
	}
	w, err := k.bench.Worker(ctx, dsn, "--jobs", fmt.Sprint(c26Jobs))
	if err != nil {
		return err
	}
	defer w.Stop()
	if err := k.close(ctx, dsn, marked); err != nil {
		return err
	}
	k.want, err = closedMonths(ctx, dsn)
	return err
}

// close the months of all organisations as a side does it: by one job, or by one for each month.
func (k *killing) close(ctx context.Context, dsn, side string) error {
	db, err := database.Open(ctx, dsn, database.Options{Connections: 2, Application: "plimsoll prove"})
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := background.New(db, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	orders := []monthclose.Arguments{{Month: k.months[len(k.months)-1], Through: true}}
	if side == unmarked {
		orders = nil
		for _, month := range k.months {
			orders = append(orders, monthclose.Arguments{Month: month})
		}
	}
	for _, o := range orders {
		if err := finishJob(ctx, all, o); err != nil {
			return err
		}
	}
	return nil
}

func finishJob(ctx context.Context, all *jobs.Jobs, o monthclose.Arguments) error {
	arguments, err := json.Marshal(o)
	if err != nil {
		return err
	}
	number, _, err := all.Submit(ctx, monthclose.Kind, "", arguments)
	for err == nil {
		var job jobs.Job
		if job, err = all.Show(ctx, "", number); err == nil && job.State.Ended() {
			if job.State != jobs.Done {
				err = fmt.Errorf("close %s: %s %s", o.Month, job.State, job.Error)
			}
			return err
		}
		err = errors.Join(err, pause(ctx))
	}
	return err
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c26Poll):
		return nil
	}
}

// closedMonths of each organisation, by their documents.
func closedMonths(ctx context.Context, dsn string) (map[id.ID]int, error) {
	all := map[id.ID]int{}
	err := forEachRow(ctx, dsn, "SELECT organisation, count(*) FROM doc_month_close WHERE posted GROUP BY organisation",
		func(r pgx.Rows) error {
			var v id.ID
			var n int
			err := r.Scan(&v, &n)
			all[v] = n
			return err
		})
	return all, err
}

func forEachRow(ctx context.Context, dsn, sql string, read func(pgx.Rows) error) error {
	return postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := read(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// half counts the organisations of which some months are closed and some are not.
func (k *killing) half(ctx context.Context, dsn string) (n float64, err error) {
	closed, err := closedMonths(ctx, dsn)
	for v, all := range k.want {
		if closed[v] > 0 && closed[v] < all {
			n++
		}
	}
	return n, err
}

// turn closes, kills, looks, recovers, and looks again.
func (k *killing) turn(ctx context.Context, side string) (f trial.Figures, err error) {
	p, err := k.own.Start(ctx, lossy)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx), cluster.Immediate)) }()
	dsn, err := k.fresh(ctx, p.Cluster())
	if err != nil {
		return nil, err
	}
	server := k.turns[side]%2 == 1
	k.turns[side]++
	again, err := k.kill(ctx, p, dsn, side, server)
	if again != nil {
		p = again
	}
	if err != nil {
		return nil, err
	}
	return k.judge(ctx, dsn, side)
}

// kill the worker, or the server, when a random number of months is closed.
func (k *killing) kill(ctx context.Context, p *cluster.Postmaster, dsn, side string,
	server bool) (*cluster.Postmaster, error) {
	w, err := k.bench.Worker(ctx, dsn, "--jobs", fmt.Sprint(c26Jobs))
	if err != nil {
		return p, err
	}
	defer w.Kill()
	closing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- k.close(closing, dsn, side) }()
	all := 0
	for _, n := range k.want {
		all += n
	}
	err = waitForMonths(ctx, dsn, 1+k.random.IntN(all-1), ended)
	if server && err == nil {
		err = p.Kill(ctx)
	}
	w.Kill()
	stop()
	<-ended // it was cut off
	if err != nil {
		return p, err
	}
	if server {
		return k.own.Start(ctx, lossy)
	}
	return p, waitForSessions(ctx, dsn)
}

// waitForMonths waits until so many months are closed, or all that will be.
func waitForMonths(ctx context.Context, dsn string, target int, ended chan error) error {
	for {
		closed, err := postgres.Value[int](ctx, dsn, "SELECT count(*) FROM doc_month_close WHERE posted")
		if err != nil || closed >= target {
			return err
		}
		select {
		case err := <-ended:
			ended <- nil
			return err
		default:
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// waitForSessions waits until the server has ended the sessions of a worker that was killed.
func waitForSessions(ctx context.Context, dsn string) error {
	for {
		others, err := postgres.Value[int](ctx, dsn,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "+
				"AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
		if err != nil || others == 0 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// twiceSQL counts months with two documents, and documents that were written more often than once, and once more to be
// undone: a member that is done twice writes the same document again.
const twiceSQL = `SELECT count(*) - count(DISTINCT (organisation, date)) +
	count(*) FILTER (WHERE version > CASE WHEN posted THEN 1 ELSE 2 END) FROM doc_month_close`

// judge what a kill has left.
func (k *killing) judge(ctx context.Context, dsn, side string) (f trial.Figures, err error) {
	f = trial.Figures{}
	if f[halfDone], err = k.half(ctx, dsn); err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, dsn, database.Options{Connections: 3, Application: "plimsoll prove",
		StatementTimeout: -1})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	report, err := audit.Run(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, c := range report.Checks {
		if side == unmarked || c.Invariant == "groups.whole" {
			f[namedHalf] += float64(c.Violations)
		}
	}
	if err := recoverHalf(ctx, db); err != nil {
		return nil, err
	}
	if f[leftHalf], err = k.half(ctx, dsn); err != nil {
		return nil, err
	}
	twice, err := postgres.Value[int](ctx, dsn, twiceSQL)
	if err != nil {
		return nil, err
	}
	report, err = audit.Run(ctx, db)
	f[doneTwice], f[wrongThen] = float64(twice), float64(report.Violations)
	return f, err
}

// recoverHalf finishes every other group that is named, and undoes the others.
func recoverHalf(ctx context.Context, db *database.Database) error {
	groups := background.Groups(db)
	left, err := groups.HalfDone(ctx)
	for i, g := range left {
		if err != nil {
			break
		}
		if i%2 == 0 {
			_, err = groups.Finish(ctx, g.ID)
		} else {
			_, err = groups.Undo(ctx, g.ID)
		}
	}
	return err
}
