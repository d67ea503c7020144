package experiments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/lab/claims"
	"plimsoll/lab/cluster/profile"
	"plimsoll/lab/cpu"
)

// Defaults of C06.
const (
	c06Rounds = 4
	c06Cycles = 300 // of one turn
	c06Idle   = 50  // sessions that must hear what is sent
	c06Takes  = 3 * time.Second
)

// LocalInvalidation is the experiment behind C06.
type LocalInvalidation struct{}

// Claim implements Experiment.
func (LocalInvalidation) Claim() string { return "C06" }

var c06Sides = []variant{stock, without(localInvalidation), ours, only(localInvalidation)}

// Messages stand in the log from this level on; vacuum of the catalogs would send some of its own.
var c06Settings = []profile.Setting{{Name: "wal_level", Value: "replica"}, {Name: "autovacuum", Value: "off"}}

// Plan implements Experiment.
func (LocalInvalidation) Plan(b Bench) Plan {
	turns := len(c06Sides) * b.rounds(c06Rounds)
	return Plan{fmt.Sprintf("%d turns of %d lives of a temp table beside %d idle sessions, on both flavours: messages sent, and what the idle ones use of the processor", turns, c06Cycles, c06Idle),
		time.Duration(turns)*c06Takes + 30*time.Second}
}

// Run implements Experiment.
func (e LocalInvalidation) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	return b.withEngines(ctx, c06Settings, func(servers engines) (f claims.Finding, err error) {
		idle := map[string]*listeners{}
		for _, v := range []variant{stock, ours} {
			idle[v.engine], err = servers.listeners(ctx, v, c06Idle)
			if err != nil {
				return f, err
			}
			defer idle[v.engine].close()
		}
		s := sides{names: variantNames(c06Sides), turn: c06Takes, rounds: b.rounds(c06Rounds)}
		s.run = func(ctx context.Context, side, _ int) (figures, error) {
			return e.turn(ctx, servers, c06Sides[side], idle[c06Sides[side].engine])
		}
		made, partial, err := s.measure(ctx, b)
		if err != nil {
			return f, err
		}
		return e.finding(s, made, partial, servers), nil
	})
}

// turn plays a fixed number of cycles: whoever is faster must not be heard less for having done more.
func (LocalInvalidation) turn(ctx context.Context, servers engines, v variant, idle *listeners) (figures, error) {
	var sent int64
	var used time.Duration
	err := servers.on(ctx, v, func(conn *pgx.Conn) error {
		// The first temp table of a server process may make its schema, and that is news for all.
		if err := lives(ctx, conn, 1); err != nil {
			return err
		}
		if err := idle.catchUp(ctx); err != nil {
			return err
		}
		var from string
		if err := conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&from); err != nil {
			return err
		}
		before, err := idle.used()
		if err == nil {
			err = lives(ctx, conn, c06Cycles)
		}
		if err != nil {
			return err
		}
		after, err := idle.used()
		used = after - before
		return errors.Join(err, conn.QueryRow(ctx, messagesSQL, from).Scan(&sent))
	})
	return figures{"messages": float64(sent) / c06Cycles, "idle": used.Seconds() * 1e6 / c06Cycles / c06Idle}, err
}

// lives plays cycles on one connection, one statement a transaction.
func lives(ctx context.Context, conn *pgx.Conn, n int) error {
	statements, err := bench.Statements(bench.Cycle)
	for range n {
		if err == nil {
			err = each(ctx, conn, statements)
		}
	}
	return err
}

// messagesSQL counts the messages that transactions sent: a commit record carries each of them, for standbys have caches too.
const messagesSQL = `SELECT coalesce(sum(regexp_count(split_part(description, 'inval msgs:', 2), '\m(catcache|catalog|relcache|relsync|snapshot) [0-9]+')), 0)
	FROM pg_get_wal_records_info($1::pg_lsn, pg_current_wal_flush_lsn()) WHERE description LIKE '%inval msgs:%'`

// listeners are sessions that do nothing, but have used a temp table of their own and looked at catalogs.
type listeners struct{ conns []*pgx.Conn }

func (e engines) listeners(ctx context.Context, v variant, n int) (*listeners, error) {
	err := e.on(ctx, v, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	l := &listeners{}
	for range n {
		conn, err := e.connect(ctx, v)
		if err == nil {
			l.conns = append(l.conns, conn)
			_, err = conn.Exec(ctx, "CREATE TEMP TABLE mine (id int PRIMARY KEY, name text); SELECT count(*) FROM mine; SELECT count(*) FROM information_schema.columns")
		}
		if err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

// catchUp has each read what was sent before the turn.
func (l *listeners) catchUp(ctx context.Context) error {
	for _, conn := range l.conns {
		if _, err := conn.Exec(ctx, "SELECT count(*) FROM mine"); err != nil {
			return err
		}
	}
	return nil
}

// used is the processor time of their server processes, the system's part of it too.
func (l *listeners) used() (sum time.Duration, err error) {
	for _, conn := range l.conns {
		one, err := cpu.Process(int(conn.PgConn().PID()))
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

func (l *listeners) close() {
	for _, conn := range l.conns {
		_ = conn.Close(context.Background())
	}
}

func (e LocalInvalidation) finding(s sides, made []series, partial bool, servers engines) claims.Finding {
	verdict, why := e.judge(made[0], made[2], partial)
	measured := ""
	for i, name := range s.names {
		measured += fmt.Sprintf("%s: %s messages a cycle, %s µs of each idle session; ", name, spread(made[i]["messages"], "%.1f"), spread(made[i]["idle"], "%.2f"))
	}
	return claims.Finding{
		Verdict: verdict, Partial: partial, Figures: s.listed(made, map[string]string{"messages": "1/cycle", "idle": "µs/cycle"}),
		Measured: because(measured[:len(measured)-2], why),
		Conditions: append(servers.conditions,
			claims.Condition{Name: "load", Text: fmt.Sprintf("%d cycles of a temp table of 10 columns a turn on one connection, beside %d idle sessions per server that used temp tables and catalogs", c06Cycles, c06Idle)},
			claims.Condition{Name: "counted", Text: "messages by what commit records carry for standbys (pg_walinspect); our patch keeps them out of the records and of the queue, so the second figure stands apart: the processor time of idle sessions, which the server wakes to read the queue. The engine's own tests count the queue itself"},
			claims.Condition{Name: "judged by", Text: "confirmed when ours sent none in any turn, stock did in each, and idle sessions used less beside ours in every turn than beside stock in any; refuted when ours sent some in every turn"}),
	}
}

func (LocalInvalidation) judge(stock, ours series, partial bool) (claims.Verdict, string) {
	sent, silent := stock["messages"], ours["messages"]
	switch {
	case partial || len(silent) == 0 || len(sent) == 0:
		return claims.Inconclusive, "too few turns"
	case slices.Min(silent) > 0:
		return claims.Refuted, "ours sends messages"
	case slices.Max(silent) > 0:
		return claims.Inconclusive, "ours sent messages in some turns"
	case slices.Min(sent) == 0:
		return claims.Inconclusive, "stock sent none: nothing was counted"
	case slices.Max(ours["idle"]) >= slices.Min(stock["idle"]):
		return claims.Inconclusive, "no difference in what idle sessions use"
	}
	return claims.Confirmed, ""
}
