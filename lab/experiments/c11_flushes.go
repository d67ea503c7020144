package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
)

// Defaults of C11, and what counts as none and as each: the WAL writer may be faster than a session once in a while.
const (
	c11Turn   = 3 * time.Second
	c11Rounds = 5
	c11None   = 0.01
	c11Each   = 0.9
	c11Settle = 10 * time.Second
)

// UnflushedCommits is the experiment behind C11.
type UnflushedCommits struct{}

// Claim implements Experiment.
func (UnflushedCommits) Claim() string { return "C11" }

// c11Sides show the setting with catalog rows that are real, where it has work to do, and all together. The last one is
// the proof of the contrary: one permanent row, and the commit is as durable as ever.
var c11Sides = []struct {
	variant
	durable bool
}{
	{stock, false},
	{without(memoryCatalog, asyncCommit), false},
	{without(memoryCatalog), false},
	{ours, false},
	{ours, true},
}

// Plan implements Experiment.
func (UnflushedCommits) Plan(b Bench) Plan {
	turns := len(c11Sides) * b.rounds(c11Rounds)
	return Plan{fmt.Sprintf("%d turns of %s of transactions that make, fill and drop a temp table, on both flavours: flushes of the log, time of COMMIT", turns, length(b.turn(c11Turn))),
		time.Duration(turns)*b.turn(c11Turn) + 30*time.Second}
}

func (UnflushedCommits) names() (names []string) {
	for _, side := range c11Sides {
		name := side.name
		if side.durable {
			name += ", and a permanent row"
		}
		names = append(names, name)
	}
	return names
}

// Run implements Experiment.
func (e UnflushedCommits) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, nil, func(servers engines) (f claims.Finding, err error) {
		if err := e.prepare(ctx, servers); err != nil {
			return f, err
		}
		s := sides{names: e.names(), turn: b.turn(c11Turn), rounds: b.rounds(c11Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			return e.turn(ctx, servers, c11Sides[side].variant, c11Sides[side].durable, s.turn)
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, servers), nil
	})
}

// prepare makes what the durable side writes to.
func (UnflushedCommits) prepare(ctx context.Context, servers engines) error {
	return servers.onBoth(ctx, "CREATE TABLE IF NOT EXISTS kept (at timestamptz)")
}

func (UnflushedCommits) turn(ctx context.Context, servers engines, v variant, durable bool, lasts time.Duration) (figures, error) {
	p, err := cycle(bench.CycleTransaction, 1, lasts)
	if err != nil {
		return nil, err
	}
	if durable {
		p.script = strings.Replace(p.script, "COMMIT;", "INSERT INTO kept VALUES (now());\nCOMMIT;", 1)
	}
	var before, after int64
	var done played
	err = servers.on(ctx, v, func(conn *pgx.Conn) error {
		if before, err = sessionFlushes(ctx, conn); err != nil {
			return err
		}
		if done, err = servers.play(ctx, v, p); err != nil {
			return err
		}
		after, err = sessionFlushes(ctx, conn)
		return err
	})
	if err != nil || done.transactions == 0 {
		return nil, err
	}
	return figures{"flushes": float64(after-before) / float64(done.transactions), "commit": done.of("COMMIT"), "transactions": done.tps}, nil
}

// sessionFlushesSQL counts the flushes that sessions waited for; those of the background are nobody's delay.
const sessionFlushesSQL = `SELECT coalesce(sum(fsyncs), 0)::bigint, (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench')
	FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'`

// sessionFlushes waits until the sessions of the last turn have ended: they report their counts as the last thing they do.
func sessionFlushes(ctx context.Context, conn *pgx.Conn) (count int64, err error) {
	for deadline := time.Now().Add(c11Settle); ; time.Sleep(10 * time.Millisecond) {
		var left int
		err = conn.QueryRow(ctx, sessionFlushesSQL).Scan(&count, &left)
		switch {
		case err != nil || left == 0:
			return count, err
		case time.Now().After(deadline):
			return 0, errors.New("the sessions of a turn do not end")
		}
	}
}

func (e UnflushedCommits) finding(s sides, made []series, partial bool, servers engines) claims.Finding {
	verdict, why := e.judge(made, partial)
	measured := ""
	for i, name := range s.names {
		measured += fmt.Sprintf("%s: %s flushes a transaction, COMMIT %s ms; ", name, spread(made[i]["flushes"], "%.3f"), spread(made[i]["commit"], "%.3f"))
	}
	measured += fmt.Sprintf("COMMIT by the setting alone %s, all settings against stock %s", against(made[1], made[2], "commit"), against(made[0], made[3], "commit"))
	return claims.Finding{
		Verdict: verdict, Partial: partial, Measured: because(measured, why),
		Figures: s.listed(made, map[string]string{"flushes": "1/transaction", "commit": "ms", "transactions": "1/s"}),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "load", Text: "one client; a transaction makes a temp table of 10 columns, fills, indexes, analyzes, reads and drops it; synchronous commit"},
			claims.Condition{Name: "counted", Text: "pg_stat_io, object wal, sessions only: flushes that a session did itself; COMMIT as the client sees it"},
			claims.Condition{Name: "judged by", Text: fmt.Sprintf("confirmed when every turn of stock flushes at %g of the commits or more, no turn of ours (with memory catalog and without) at %g or more, and every turn of ours with a permanent row in the transaction does; refuted when ours flushes", c11Each, c11None)}),
	}
}

func (UnflushedCommits) judge(made []series, partial bool) (claims.Verdict, string) {
	for _, side := range made {
		if partial || len(side["flushes"]) == 0 {
			return claims.Inconclusive, "too few turns"
		}
	}
	most := func(side int) float64 { return slices.Max(made[side]["flushes"]) }
	least := func(side int) float64 { return slices.Min(made[side]["flushes"]) }
	switch {
	case least(4) < c11Each:
		return claims.Refuted, "a transaction with a permanent row was not flushed"
	case least(2) >= c11None || least(3) >= c11None:
		return claims.Refuted, "ours flushes"
	case most(2) >= c11None || most(3) >= c11None:
		return claims.Inconclusive, "ours flushes in some turns"
	case least(0) < c11Each:
		return claims.Inconclusive, "stock does not flush at each commit either"
	}
	return claims.Confirmed, ""
}
