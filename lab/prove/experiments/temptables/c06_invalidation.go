package temptables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/engine/bench"
	"plimsoll/ground/host/cpu"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/claims"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// Defaults of C06.
const (
	c06Rounds = 4
	c06Cycles = 300 // per turn
	c06Idle   = 50  // sessions that receive every message
	c06Takes  = 3 * time.Second
)

var c06Sides = []site.Variant{site.Stock, site.Without(site.LocalInvalidation), site.Ours,
	site.Only(site.LocalInvalidation)}

// Messages are logged from this level on; vacuuming the catalogs would send some of its own.
var c06Settings = []profile.Setting{{Name: "wal_level", Value: "replica"}, {Name: "autovacuum", Value: "off"}}

// Figures of C06.
const (
	messagesSent = "messages"
	idleTime     = "idle"
)

// unsentInvalidations is the experiment behind C06.
func unsentInvalidations(b site.Bench, s *site.Site) trial.Trial {
	idle := map[string]*idleSessions{} // by flavour
	part := trial.Part{Rounds: b.Rounds(c06Rounds), Turn: c06Takes,
		Series: []trial.Series{{Name: messagesSent, Unit: "1/cycle"}, {Name: idleTime, Unit: "µs/cycle"}}}
	part.Open = func(ctx context.Context, r *trial.Record) (err error) {
		for _, v := range []site.Variant{site.Stock, site.Ours} {
			if idle[v.Engine], err = openIdleSessions(ctx, s.Servers, v, c06Idle); err != nil {
				return err
			}
			r.Close(idle[v.Engine].close)
		}
		return nil
	}
	for _, v := range c06Sides {
		part.Sides = append(part.Sides, trial.Side{Name: v.Name,
			Open: func(context.Context, *trial.Record) (trial.Turn, error) {
				return func(ctx context.Context, _ int) (trial.Figures, error) {
					return cyclesBesideIdle(ctx, s.Servers, v, idle[v.Engine])
				}, nil
			}})
		part.Measured = append(part.Measured, trial.Say("%s: %s messages a cycle, %s µs of processor time of each "+
			"idle session", v.Name,
			trial.Spread{Of: trial.At(v.Name, messagesSent), Format: "%.1f"},
			trial.Spread{Of: trial.At(v.Name, idleTime), Format: "%.2f"}))
	}
	return trial.Trial{
		Text: fmt.Sprintf("a temp table is created, used and dropped %d times while %d sessions are idle, on both "+
			"flavours: invalidation messages sent, and processor time of the idle sessions", c06Cycles, c06Idle),
		Overhead: 30 * time.Second,
		Parts:    []trial.Part{part},
		Rules: trial.Rules{Direction: []trial.Criterion{
			{Of: trial.Every{Of: trial.At(site.Ours.Name, messagesSent)}, Confirm: trial.AtMost(0),
				Refute: trial.Above(0), Anywhere: true},
			{Of: trial.Every{Of: trial.At(site.Stock.Name, messagesSent)}, Confirm: trial.Above(0),
				Unless: "nothing was counted"},
			{Of: trial.Gap{Of: trial.At(site.Ours.Name, idleTime), Times: 1, To: trial.At(site.Stock.Name, idleTime)},
				Confirm: trial.Below(0)},
		}},
		Conditions: []claims.Condition{
			{Name: "load", Text: fmt.Sprintf("one connection creates, uses and drops a temp table of 10 columns %d "+
				"times a turn; %d sessions per server, which used temp tables and catalogs before, are idle", c06Cycles,
				c06Idle)},
			{Name: "counted", Text: "the messages in commit records, which carry them for standbys (pg_walinspect). " +
				"Our patch keeps them out of these records too, so a second figure does not depend on them: the " +
				"processor time of idle sessions, which the server wakes to read the queue. The engine's own tests " +
				"count the queue itself"},
		},
	}
}

// cyclesBesideIdle plays a fixed number of cycles: a faster side must not count more messages because it did more.
func cyclesBesideIdle(ctx context.Context, e *site.Engines, v site.Variant, idle *idleSessions) (trial.Figures, error) {
	var sent int64
	var used time.Duration
	err := e.On(ctx, v, func(conn *pgx.Conn) error {
		// The first temp table of a backend may create its temp schema, which sends messages to all.
		if err := runCycles(ctx, conn, 1); err != nil {
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
			err = runCycles(ctx, conn, c06Cycles)
		}
		if err != nil {
			return err
		}
		after, err := idle.used()
		used = after - before
		// the log is read as far as it is flushed, which commits of temp tables alone do not see to
		if _, flushErr := conn.Exec(ctx, "SELECT pg_logical_emit_message(false, 'plimsoll', 'end', "+
			"true)"); flushErr != nil {
			return errors.Join(err, flushErr)
		}
		return errors.Join(err, conn.QueryRow(ctx, messagesSQL, from).Scan(&sent))
	})
	return trial.Figures{messagesSent: float64(sent) / c06Cycles, idleTime: used.Seconds() * 1e6 / c06Cycles / c06Idle},
		err
}

// runCycles plays cycles on one connection, each statement its own transaction.
func runCycles(ctx context.Context, conn *pgx.Conn, n int) error {
	statements, err := bench.Statements(bench.Cycle)
	for range n {
		if err == nil {
			err = executeEach(ctx, conn, statements)
		}
	}
	return err
}

// messagesSQL counts the messages that transactions sent: a commit record carries them all, since standbys have caches
// too.
const messagesSQL = `SELECT coalesce(sum(regexp_count(split_part(description, 'inval msgs:', 2),
	'\m(catcache|catalog|relcache|relsync|snapshot) [0-9]+')), 0)
	FROM pg_get_wal_records_info($1::pg_lsn, pg_current_wal_flush_lsn()) WHERE description LIKE '%inval msgs:%'`

// idleSessions do nothing, but have used a temp table and looked at catalogs.
type idleSessions struct{ conns []*pgx.Conn }

func openIdleSessions(ctx context.Context, e *site.Engines, v site.Variant, n int) (*idleSessions, error) {
	err := e.On(ctx, v, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_walinspect")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count messages: %w", err)
	}
	s := &idleSessions{}
	for range n {
		conn, err := e.Connect(ctx, v)
		if err == nil {
			s.conns = append(s.conns, conn)
			_, err = conn.Exec(ctx, "CREATE TEMP TABLE mine (id int PRIMARY KEY, name text); SELECT count(*) FROM "+
				"mine; SELECT count(*) FROM information_schema.columns")
		}
		if err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// catchUp makes each session read what was sent before the turn.
func (s *idleSessions) catchUp(ctx context.Context) error {
	for _, conn := range s.conns {
		if _, err := conn.Exec(ctx, "SELECT count(*) FROM mine"); err != nil {
			return err
		}
	}
	return nil
}

// used is the processor time of their backends, including system time.
func (s *idleSessions) used() (sum time.Duration, err error) {
	for _, conn := range s.conns {
		one, err := cpu.Process(int(conn.PgConn().PID()))
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

func (s *idleSessions) close() {
	for _, conn := range s.conns {
		_ = conn.Close(context.Background())
	}
}
