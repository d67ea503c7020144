package custom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/lab/load/request"
	"plimsoll/lab/load/script"
	"plimsoll/lab/load/tally"
)

// cleanWithin bounds the cleaning of a connection for its next user.
const cleanWithin = 5 * time.Second

// Options of a player.
type Options struct {
	Settings
	Actions   []*Action // by operation; nil: not a custom one
	Users     int
	Seed      uint64
	DSN       string   // needed if there is SQL
	Bases     []string // instead of Settings.Base; users are spread over them
	Transport http.RoundTripper
}

// Player plays custom operations.
type Player struct {
	Options
	pool  *pgxpool.Pool
	start map[string]script.Value // variables that every user starts with
	users []map[string]script.Value
	out   []bool // users who could not log in yet
}

// Open makes the player and, if there is SQL, its connections.
func Open(ctx context.Context, o Options) (*Player, error) {
	p := &Player{Options: o, users: make([]map[string]script.Value, o.Users), out: make([]bool, o.Users),
		start: map[string]script.Value{}}
	for name, text := range o.Variables {
		p.start[name] = script.Text(text)
	}
	if len(p.Bases) == 0 {
		p.Bases = []string{o.Base}
	}
	if !NeedsDatabase(o.Settings, o.Actions) {
		return p, nil
	}
	config, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, fmt.Errorf("connection string: %w", err)
	}
	config.MaxConns = int32(o.Connections)
	config.ConnConfig.RuntimeParams["application_name"] = "plimsoll"
	// no round trip in addition to the load's own
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if err := p.pool.Ping(ctx); err != nil {
		p.pool.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return p, nil
}

// Close ends the connections.
func (p *Player) Close() {
	if p.pool != nil {
		p.pool.Close()
	}
}

// LogIn sets a user's variables and runs the login. Its random numbers depend on the seed and the user alone.
func (p *Player) LogIn(ctx context.Context, user int) error {
	variables := maps.Clone(p.start)
	variables[script.ClientID] = script.Int(int64(user))
	if _, given := variables[script.DefaultSeed]; !given {
		variables[script.DefaultSeed] = script.Int(int64(p.Seed))
	}
	p.users[user] = variables
	if p.Login == nil {
		return nil
	}
	outcome, err := p.do(ctx, user, p.Login, rand.New(rand.NewPCG(p.Seed, ^uint64(user))))
	if err == nil && outcome != tally.OK {
		err = errors.New(outcome.String())
	}
	p.out[user] = err != nil
	var answered *request.Unexpected
	if errors.As(err, &answered) {
		return errors.New(answered.Detail())
	}
	return err
}

// Play does one operation. Who could not log in before tries again, as a person would.
func (p *Player) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	if p.out[user] {
		if err := p.LogIn(ctx, user); err != nil {
			return tally.Failed, fmt.Errorf("log in: %w", err)
		}
	}
	return p.do(ctx, user, p.Actions[operation], rng)
}

func (p *Player) do(ctx context.Context, user int, a *Action, rng *rand.Rand) (tally.Outcome, error) {
	if a.Script != nil {
		outcome, err := p.script(ctx, user, a, rng)
		if outcome != tally.OK || a.Request == nil {
			return outcome, err
		}
	}
	return a.Request.Do(ctx, p.Transport, p.Bases[user%len(p.Bases)], p.users[user])
}

func (p *Player) script(ctx context.Context, user int, a *Action, rng *rand.Rand) (tally.Outcome, error) {
	env := &script.Environment{Variables: p.users[user], RNG: rng}
	if !a.Script.HasSQL() {
		return a.outcome(ctx, a.Script.Run(ctx, nil, p.Mode, env))
	}
	asked := time.Now()
	conn, err := p.pool.Acquire(ctx)
	tally.NotesOf(ctx).Waited(time.Since(asked))
	if err != nil {
		return a.outcome(ctx, err)
	}
	defer conn.Release()
	err = a.Script.Run(ctx, conn.Conn().PgConn(), p.Mode, env)
	if open := clean(ctx, conn.Conn().PgConn()); err == nil {
		err = open
	}
	return a.outcome(ctx, err)
}

var errOpen = errors.New("the script leaves a transaction open")

// clean rolls back what a script left open. If that fails, the pool closes the connection.
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
