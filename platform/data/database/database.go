// Package database owns the connections to PostgreSQL and the unit of work. Statements are queued and travel together,
// one flush is one round trip, and a unit of work that hit a deadlock, a serialization failure or a lost connection is
// repeated as a whole or reported.
//
//	Run:   queue … Flush ─ queue … Flush ─ return nil ──▶ last flush + COMMIT, tag checked ──▶ done
//	         │ the first flush carries BEGIN      │ error
//	         └──────────────◀── again ────────────┴──▶ ROLLBACK ──▶ retryable? ──▶ error
package database

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/ground/postgres"
	"plimsoll/ground/problem"
	"plimsoll/platform/data/amount"
	"plimsoll/platform/data/durability"
	"plimsoll/platform/data/temptable"
)

// Defaults of the pool.
const (
	LockTimeoutDefault = 10 * time.Second
	StatementTimeout   = 60 * time.Second
	connectionsPerCore = 4
	connectionsFloor   = 8
)

// Database is a pool of connections.
type Database struct {
	pool    *pgxpool.Pool
	options Options
	closing chan struct{}
	closed  sync.Once
	temp    tempTotals
	running running
	// identity of the database, not of this pool
	identity string
	plan     durability.Plan
	watcher  *durability.Watcher // of the log; nil: nobody waits for it
}

// Options of the pool.
type Options struct {
	// Connections is the maximum number of connections. Defaults to 4 per core, at least 8.
	Connections int
	// Application names the worker in pg_stat_activity. Defaults to "plimsoll".
	Application string
	// StatementTimeout ends a statement that runs too long; negative means never. Defaults to StatementTimeout.
	StatementTimeout time.Duration
	// Chain is how many statements of a unit of work may travel in one round trip; 1 sends each alone. Defaults to
	// ChainDefault.
	Chain int
	// Lifetime of connections.
	Lifetime Lifetime
	// TempTables of each connection.
	TempTables temptable.Options
	// Durability is the plan of commits, as durability.Parse reads it. Empty leaves them to the server.
	Durability string
	// Waiting is how many answers may wait for the log. Defaults to durability.WaitingDefault.
	Waiting int
	// PollFlush waits for flushes of others instead of flushing: slower, and without a write of its own unless commits
	// wait for standbys.
	PollFlush bool
	// Worker serves users: all workers of a database must wait for the log, or none.
	Worker bool
}

// ConnectionsDefault is the pool's default size.
func ConnectionsDefault() int { return max(connectionsFloor, connectionsPerCore*runtime.NumCPU()) }

// Open connects to the database; dsn is a URL or a key=value string.
func Open(ctx context.Context, dsn string, options Options) (*Database, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// the parser's own message would repeat the connection string, and perhaps a password
		return nil, problem.New(problem.Usage, fmt.Errorf("read connection string: neither a URL nor key=value pairs"),
			"for example postgres://user@127.0.0.1:5432/erp")
	}
	options = options.withDefaults()
	if err := options.check(); err != nil {
		return nil, problem.New(problem.Usage, err, "")
	}
	plan, err := durability.Parse(options.Durability)
	if err != nil {
		return nil, problem.New(problem.Usage, err, "")
	}
	options.apply(config)
	db := &Database{options: options, plan: plan, closing: make(chan struct{})}
	config.BeforeClose = db.beforeClose
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		amount.Register(conn.TypeMap())
		if !options.Worker {
			return nil
		}
		return durability.Agree(ctx, conn, plan)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		if errors.Is(err, durability.ErrDisagree) {
			return nil, problem.New(problem.Usage, fmt.Errorf("durability %s: %w", plan, err), durability.DisagreeHint)
		}
		return nil, problem.New(problem.Environment, fmt.Errorf("connect to database: %w", err),
			"check host, port, user and password; 'plimsoll status' shows the local servers")
	}
	db.pool, db.identity = pool, postgres.DatabaseID(ctx, pool)
	if err := db.mayDelay(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	db.startWatcher()
	return db, nil
}

// mayDelay: only superusers, and users to whom one has granted it, may set the delay of a group commit.
func (db *Database) mayDelay(ctx context.Context) error {
	if !db.plan.Uses(durability.Group) {
		return nil
	}
	_, err := db.pool.Exec(ctx, durability.Group.Setting())
	return problem.New(problem.Environment, err, "durability group needs: GRANT SET ON PARAMETER commit_delay TO the "+
		"user (PostgreSQL 15 or newer)")
}

func (o Options) withDefaults() Options {
	if o.Connections < 1 {
		o.Connections = ConnectionsDefault()
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = StatementTimeout
	}
	if o.Chain == 0 {
		o.Chain = ChainDefault
	}
	o.TempTables = o.TempTables.WithDefaults()
	o.Lifetime = o.Lifetime.withDefaults()
	return o
}

func (o Options) check() error {
	if o.Chain < 1 {
		return fmt.Errorf("chains of %d statements: must be at least 1", o.Chain)
	}
	return errors.Join(o.TempTables.Check(), o.Lifetime.check())
}

func (o Options) apply(config *pgxpool.Config) {
	config.MaxConns = int32(o.Connections)
	o.Lifetime.apply(config)
	params := config.ConnConfig.RuntimeParams
	set := func(name, value string) {
		if params[name] == "" {
			params[name] = value
		}
	}
	if o.Application != "" {
		params["application_name"] = o.Application
	}
	set("application_name", "plimsoll")
	set("timezone", "UTC") // months of totals are in UTC everywhere
	set("lock_timeout", milliseconds(LockTimeoutDefault))
	set("statement_timeout", milliseconds(max(0, o.StatementTimeout)))
	set("idle_in_transaction_session_timeout", milliseconds(2*StatementTimeout))
}

func milliseconds(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// Identity of the database when it was opened (postgres.DatabaseID).
func (db *Database) Identity() string { return db.identity }

// Close waits for borrowed connections and closes all in parallel.
func (db *Database) Close() {
	db.closed.Do(func() { close(db.closing) })
	db.pool.Close()
	if db.watcher != nil {
		db.watcher.Close()
	}
}

// Connections is the size of the pool.
func (db *Database) Connections() int { return int(db.pool.Config().MaxConns) }

// Application is the application_name of the pool's sessions.
func (db *Database) Application() string {
	return db.pool.Config().ConnConfig.RuntimeParams["application_name"]
}

// Ping says whether the database answers.
func (db *Database) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

// Borrow lends a plain connection for what a unit of work cannot do: COPY, DDL, session advisory locks. The connection
// returns to the pool when do returns. Whoever sends DISCARD ALL must also call the connection's DeallocateAll, or the
// driver keeps using prepared statements that are gone.
func (db *Database) Borrow(ctx context.Context, do func(*pgx.Conn) error) error {
	return db.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		defer doubtPool(c.Conn())
		return do(c.Conn())
	})
}

// Driver is the driver's pool, for a library with its own statements.
func (db *Database) Driver() *pgxpool.Pool { return db.pool }
