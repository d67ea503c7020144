package temptables

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C11, and the limits for none and each: the WAL writer may occasionally be faster than a session.
const (
	c11Turn   = 3 * time.Second
	c11Rounds = 5
	c11None   = 0.01
	c11Each   = 0.9
	c11Settle = 10 * time.Second
)

// committer is a side of C11; durable transactions also write a permanent row.
type committer struct {
	site.Variant
	durable bool
}

// c11Sides test the setting with real catalog rows, where it has work to do, and with all settings together. The last
// one is the counter-check: with one permanent row the commit must flush.
var (
	c11Stock       = committer{site.Stock, false}
	c11SettingOff  = committer{site.Without(site.MemoryCatalog, site.AsyncCommit), false}
	c11RealCatalog = committer{site.Without(site.MemoryCatalog), false}
	c11Ours        = committer{site.Ours, false}
	c11Durable     = committer{site.Ours, true}
	c11Sides       = []committer{c11Stock, c11SettingOff, c11RealCatalog, c11Ours, c11Durable}
)

func (c committer) String() string {
	if c.durable {
		return c.Name + ", and a permanent row"
	}
	return c.Name
}

// Figures of C11.
const (
	flushesEach     = "flushes"
	commitTime      = "commit"
	transactionRate = "transactions"
)

// unflushedCommits is the experiment behind C11.
func unflushedCommits(b site.Bench, s *site.Site) trial.Trial {
	part := trial.Part{Rounds: b.Rounds(c11Rounds), Turn: b.Turn(c11Turn), Series: []trial.Series{
		{Name: flushesEach, Unit: "1/transaction"}, {Name: commitTime, Unit: "ms"},
		{Name: transactionRate, Unit: "1/s"},
	}}
	part.Open = func(ctx context.Context, _ *trial.Record) error { return makeDurableTable(ctx, s.Servers) }
	flushes := func(c committer) trial.Every { return trial.Every{Of: trial.At(c.String(), flushesEach)} }
	var measured []trial.Criterion
	for _, c := range c11Sides {
		measured = append(measured, trial.Criterion{Of: flushes(c), Confirm: trial.Measured()})
		part.Sides = append(part.Sides, trial.Side{Name: c.String(),
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return measureCommits(ctx, s.Servers, c, part.Turn)
				}, nil
			}})
		part.Measured = append(part.Measured, trial.Say("%s: %s flushes a transaction, COMMIT %s ms", c,
			trial.Spread{Of: trial.At(c.String(), flushesEach), Format: "%.3f"},
			trial.Spread{Of: trial.At(c.String(), commitTime), Format: "%.3f"}))
	}
	commit := func(base, to committer) trial.Ratio {
		return trial.Ratio{Of: trial.At(base.String(), commitTime), To: trial.At(to.String(), commitTime)}
	}
	part.Measured = append(part.Measured, trial.Say("time of COMMIT: the setting on against off %s, all settings "+
		"against stock %s", commit(c11RealCatalog, c11SettingOff), commit(c11Ours, c11Stock)))
	return trial.Trial{
		Text: "transactions that create, fill and drop a temp table, on both flavours: flushes of the log, and the " +
			"time of COMMIT",
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{
			Requires: measured,
			Direction: []trial.Criterion{
				{Of: flushes(c11Durable), Confirm: trial.AtLeast(c11Each), Refute: trial.SomeBelow(c11Each)},
				{Of: flushes(c11RealCatalog), Confirm: trial.Below(c11None), Refute: trial.AtLeast(c11None)},
				{Of: flushes(c11Ours), Confirm: trial.Below(c11None), Refute: trial.AtLeast(c11None)},
				{Of: flushes(c11Stock), Confirm: trial.AtLeast(c11Each),
					Unless: "stock does not flush at each commit either"},
			}},
		Conditions: []claims.Condition{
			{Name: "load", Text: "one client; a transaction creates a temp table of 10 columns, fills, indexes, " +
				"analyzes, reads and drops it; synchronous commit"},
			{Name: "counted", Text: "flushes that a session did itself (pg_stat_io, object wal, client backends); " +
				"the time of COMMIT as the client sees it"},
		},
	}
}

// makeDurableTable makes the table that the durable side writes to.
func makeDurableTable(ctx context.Context, e *site.Engines) error {
	return e.OnBoth(ctx, "CREATE TABLE IF NOT EXISTS kept (at timestamptz)")
}

func measureCommits(ctx context.Context, e *site.Engines, c committer, lasts time.Duration) (trial.Figures, error) {
	p, err := cycle(bench.CycleTransaction, 1, lasts)
	if err != nil {
		return nil, err
	}
	if c.durable {
		p.script = strings.Replace(p.script, "COMMIT;", "INSERT INTO kept VALUES (now());\nCOMMIT;", 1)
	}
	var before, after int64
	var done played
	err = e.On(ctx, c.Variant, func(conn *pgx.Conn) error {
		if before, err = sessionFlushes(ctx, conn); err != nil {
			return err
		}
		if done, err = pgbench(ctx, e, c.Variant, p); err != nil {
			return err
		}
		after, err = sessionFlushes(ctx, conn)
		return err
	})
	if err != nil || done.transactions == 0 {
		return nil, err
	}
	return trial.Figures{flushesEach: float64(after-before) / float64(done.transactions),
		commitTime:      done.latencyOf("COMMIT"),
		transactionRate: done.tps}, nil
}

// sessionFlushesSQL counts flushes that sessions waited for; those of background processes delay nobody.
const sessionFlushesSQL = `SELECT coalesce(sum(fsyncs), 0)::bigint,
	(SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench')
	FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'`

// sessionFlushes waits until the sessions of the last turn have ended, since a session reports its counts at its very
// end.
func sessionFlushes(ctx context.Context, conn *pgx.Conn) (count int64, err error) {
	for deadline := time.Now().Add(c11Settle); ; time.Sleep(10 * time.Millisecond) {
		var left int
		err = conn.QueryRow(ctx, sessionFlushesSQL).Scan(&count, &left)
		switch {
		case err != nil || left == 0:
			return count, err
		case time.Now().After(deadline):
			return 0, errors.New("the sessions of a turn did not end")
		}
	}
}
