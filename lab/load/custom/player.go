package custom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"plimsoll/lab/load/script"
	"plimsoll/lab/load/sessions"
	"plimsoll/lab/load/tally"
)

// Options of a player.
type Options struct {
	Settings
	Actions []*Action // by operation; nil: not a custom one
	Users   int       // who may ever log in
	Planned int       // users of the whole crowd as planned, among whom rows are shared out
	Seed    uint64
	DSN     string   // needed if there is SQL
	Bases   []string // instead of Settings.Base; users are spread over them
	// Transport sends the requests of a user; nil: there are none.
	Transport func(user int) http.RoundTripper
}

// Player plays custom operations.
type Player struct {
	Options
	shared  *pgxpool.Pool                 // nil: there is no SQL, or
	own     *sessions.Pool[pgconn.PgConn] // each user has a session
	connect *script.Script                // nil: a new session runs nothing
	start   map[string]script.Value       // variables that every user starts with
	users   []map[string]script.Value
	web     []web
	browses bool   // there are requests
	out     []bool // users who could not log in yet
	rows    rows
}

// Open makes the player and, if there is SQL, its connections.
func Open(ctx context.Context, o Options) (*Player, error) {
	p := &Player{Options: o, users: make([]map[string]script.Value, o.Users), web: make([]web, o.Users),
		out: make([]bool, o.Users), start: map[string]script.Value{}}
	for name, text := range o.Variables {
		p.start[name] = script.Text(text)
	}
	if len(p.Bases) == 0 {
		p.Bases = []string{o.Base}
	}
	if err := p.openRows(ctx); err != nil {
		return p, err
	}
	p.browses = NeedsHTTP(o.Settings, o.Actions)
	if !NeedsDatabase(o.Settings, o.Actions) {
		return p, nil
	}
	return p, p.openSessions(ctx)
}

// Close ends the connections.
func (p *Player) Close() {
	if p.shared != nil {
		p.shared.Close()
	}
	if p.own != nil {
		p.own.Close()
	}
}

// LogIn sets a user's variables and runs the login. Its random numbers depend on the seed and the user alone.
func (p *Player) LogIn(ctx context.Context, user int) error {
	variables := maps.Clone(p.start)
	variables[script.ClientID] = script.Int(int64(user))
	if _, given := variables[script.DefaultSeed]; !given {
		variables[script.DefaultSeed] = script.Int(int64(p.Seed))
	}
	if _, given := variables[script.RandomSeed]; !given {
		variables[script.RandomSeed] = script.Int(int64(p.Seed))
	}
	p.users[user], p.out[user] = variables, true
	p.web[user] = p.newWeb()
	if p.own != nil {
		if err := p.openOwn(ctx, user); err != nil {
			return err
		}
	}
	if p.Login == nil {
		p.out[user] = false
		return nil
	}
	rng := rand.New(rand.NewPCG(p.Seed, ^uint64(user)))
	if err := p.takeRows(user, p.Login, rng); err != nil {
		return err
	}
	outcome, err := p.do(ctx, user, p.Login, rng)
	if err == nil && outcome != tally.OK {
		err = errors.New(outcome.String())
	}
	p.out[user] = err != nil
	return Detailed(err)
}

// Play does one operation. Who could not log in before tries again, as a person would.
func (p *Player) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	if p.out[user] {
		if err := p.LogIn(ctx, user); err != nil {
			return tally.Failed, fmt.Errorf("log in: %w", err)
		}
	}
	a := p.Actions[operation]
	if tally.NotesOf(ctx).Step() == 0 { // later steps have the rows of the first
		if err := p.takeRows(user, a, rng); err != nil {
			return tally.Failed, err
		}
	}
	return p.do(ctx, user, a, rng)
}
