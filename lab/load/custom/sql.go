package custom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/sessions"
	"plimsoll/lab/load/tally"
)

// Session says whose the sessions of the database are.
type Session string

const (
	// Shared by all users: each operation takes one that is free, and session state (temp tables, SET) is nobody's.
	Shared Session = "shared"
	// OfUser is one for each user, who keeps it and its state from operation to operation.
	OfUser Session = "user"
)

// Sessions are all of them.
var Sessions = []Session{Shared, OfUser}

const (
	// cleanWithin bounds the cleaning of a session for what uses it next.
	cleanWithin = 5 * time.Second
	// RetriesMax is more than helps anybody.
	RetriesMax = 1000
)

// openSessions opens the pool that users share, or prepares those that users open when they log in.
func (p *Player) openSessions(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(p.DSN)
	if err != nil {
		return fmt.Errorf("connection string: %w", err)
	}
	config.ConnConfig.RuntimeParams["application_name"] = "plimsoll"
	if p.Connect != "" {
		if p.connect, err = script.Parse(p.Connect); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	if p.Session == OfUser {
		p.own = sessions.New(0, func(ctx context.Context, user int) (*pgconn.PgConn, error) {
			conn, err := pgconn.ConnectConfig(ctx, &config.ConnConfig.Config)
			if err != nil {
				return nil, fmt.Errorf("connect: %w", err)
			}
			if err := p.begin(ctx, conn, p.users[user], uint64(user)); err != nil {
				closeNow(ctx, conn)
				return nil, err
			}
			return conn, nil
		}, closeNow)
		return nil
	}
	config.MaxConns = int32(p.Connections)
	// no round trip in addition to the load's own
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return p.begin(ctx, conn.PgConn(), maps.Clone(p.start), uint64(conn.PgConn().PID()))
	}
	if p.shared, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	if err := p.shared.Ping(ctx); err != nil {
		p.shared.Close()
		p.shared = nil
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// begin runs the connect script on a new session. Its statements are sent as text: SET takes no parameters.
func (p *Player) begin(ctx context.Context, conn *pgconn.PgConn, variables map[string]script.Value, n uint64) error {
	if p.connect == nil {
		return nil
	}
	env := &script.Environment{Variables: variables, RNG: rand.New(rand.NewPCG(p.Seed, 1<<43+n))}
	err := p.connect.Run(ctx, conn, script.Simple, env)
	if open := clean(ctx, conn); err == nil {
		err = open
	}
	if err != nil {
		return fmt.Errorf("the script of a new session: %w", err)
	}
	return nil
}

// openOwn opens a user's session, unless it is open.
func (p *Player) openOwn(ctx context.Context, user int) error {
	conn, err := p.own.Take(ctx, user)
	if err == nil {
		p.own.Give(user, conn)
	}
	return err
}

// session for an operation of a user, and what to do with it afterwards: one that was lost is replaced when it is
// needed next.
func (p *Player) session(ctx context.Context, user int) (conn *pgconn.PgConn, release func(), err error) {
	if p.own != nil {
		if conn, err = p.own.Take(ctx, user); err != nil {
			return nil, nil, err
		}
		return conn, func() {
			if conn.IsClosed() {
				p.own.Drop(ctx, user, conn)
			} else {
				p.own.Give(user, conn)
			}
		}, nil
	}
	asked := time.Now()
	held, err := p.shared.Acquire(ctx)
	tally.NotesOf(ctx).Waited(time.Since(asked))
	if err != nil {
		return nil, nil, err
	}
	return held.Conn().PgConn(), held.Release, nil
}

// script runs an action's script for a user.
func (p *Player) script(ctx context.Context, user int, a *Action, rng *rand.Rand) (tally.Outcome, error) {
	if !a.Script.HasSQL() {
		env := &script.Environment{Variables: p.users[user], RNG: rng}
		return a.outcome(ctx, a.Script.Run(ctx, nil, p.Mode, env))
	}
	conn, release, err := p.session(ctx, user)
	if err != nil {
		return a.outcome(ctx, err)
	}
	defer release()
	return a.outcome(ctx, p.tries(ctx, user, a.Script, conn, rng))
}

// tries runs the script until it ends without a failure that passes by itself. Each try has the same random numbers,
// and begins with the variables of the first; whatever the number of tries, the user's own random numbers go on alike.
func (p *Player) tries(ctx context.Context, user int, s *script.Script, conn *pgconn.PgConn, rng *rand.Rand) error {
	if p.Retries == 0 {
		return p.try(ctx, user, s, conn, rng)
	}
	before, seeds := maps.Clone(p.users[user]), [2]uint64{rng.Uint64(), rng.Uint64()}
	for left := p.Retries; ; left-- {
		err := p.try(ctx, user, s, conn, rand.New(rand.NewPCG(seeds[0], seeds[1])))
		if left == 0 || !passes(err) || conn.IsClosed() {
			return err
		}
		tally.NotesOf(ctx).Retried()
		clear(p.users[user])
		maps.Copy(p.users[user], before)
	}
}

func (p *Player) try(ctx context.Context, user int, s *script.Script, conn *pgconn.PgConn, rng *rand.Rand) error {
	err := s.Run(ctx, conn, p.Mode, &script.Environment{Variables: p.users[user], RNG: rng})
	if open := clean(ctx, conn); err == nil {
		err = open
	}
	return err
}

// passing are the SQLSTATEs of a transaction that may succeed when it is done again: serialization_failure and
// deadlock_detected, those of pgbench.
var passing = []string{"40001", "40P01"}

func passes(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(passing, pg.Code)
}

var errOpen = errors.New("the script leaves a transaction open")

// clean rolls back what a script left open. If that fails, the session is closed.
func clean(ctx context.Context, conn *pgconn.PgConn) error {
	if conn.IsClosed() || conn.TxStatus() == 'I' {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanWithin)
	defer cancel()
	if err := conn.Exec(ctx, "ROLLBACK").Close(); err != nil {
		_ = conn.Close(ctx)
	}
	return errOpen
}

func closeNow(ctx context.Context, conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanWithin)
	defer cancel()
	_ = conn.Close(ctx)
}

// outcome of a script: some of the server's errors are valid answers.
func (a *Action) outcome(ctx context.Context, err error) (tally.Outcome, error) {
	var pg *pgconn.PgError
	if ctx.Err() == nil && errors.As(err, &pg) && slices.Contains(a.RefusedStates, pg.Code) {
		return tally.Refused, nil
	}
	return tally.OutcomeOfSQL(ctx, err)
}

// Reset runs the reset script, one statement at a time.
func Reset(ctx context.Context, dsn, text string) error {
	reset, err := script.Parse(text)
	if err != nil {
		return fmt.Errorf("reset the database: %w", err)
	}
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("reset the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	env := &script.Environment{Variables: map[string]script.Value{}, RNG: rand.New(rand.NewPCG(0, 0))}
	if err := reset.Run(ctx, conn, script.Simple, env); err != nil {
		return fmt.Errorf("reset the database: %w", err)
	}
	return nil
}
