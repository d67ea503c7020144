package onec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/lab/load/sessions"
	"plimsoll/lab/load/tally"
)

// Options of a player.
type Options struct {
	DSN string
	// Operations by their ids, in the order in which they are called; others stay empty.
	Operations []string
	Users      int // who log in
	// Sessions that all users share, as the platform's pool does; no more are opened than there are users. 0: each
	// user has one. The pool is the measured server's: waiting for a session is part of the answer.
	Sessions int
	// Journal hears all that is done; nil: nobody does.
	Journal Journal
}

// Player plays the operations.
type Player struct {
	Options
	config *pgx.ConnConfig
	base   Base
	ops    []Operation

	sessions *sessions.Pool[session]
}

// Open reads what the base holds. Users open the sessions when they log in: the pool hands out the one that has rested
// longest, and those that are not open before all others.
func Open(ctx context.Context, o Options) (*Player, error) {
	o.Sessions = min(o.Sessions, max(1, o.Users))
	p := &Player{Options: o}
	for _, id := range o.Operations {
		op, _ := Find(id)
		p.ops = append(p.ops, op)
	}
	var err error
	if p.config, err = pgx.ParseConfig(o.DSN); err != nil {
		return nil, fmt.Errorf("connection string: %w", err)
	}
	p.config.RuntimeParams["application_name"] = "plimsoll"
	if p.base, err = Look(ctx, o.DSN); err != nil {
		return nil, err
	}
	p.sessions = sessions.New(o.Sessions, p.connect, func(ctx context.Context, s *session) { s.close(ctx) })
	return p, nil
}

// LogIn opens the user's session, or tries whether the pool can be used.
func (p *Player) LogIn(ctx context.Context, user int) error {
	s, err := p.sessions.Take(ctx, user)
	if err == nil {
		p.sessions.Give(user, s)
	}
	return err
}

// Play does one operation. After an error the session ends: its temp tables and its transaction are not known.
func (p *Player) Play(ctx context.Context, user, n int, rng *rand.Rand) (tally.Outcome, error) {
	s, err := p.sessions.Take(ctx, user)
	if err != nil {
		return tally.OutcomeOfSQL(ctx, err)
	}
	s.user = user
	o, began := &operation{session: s, ctx: ctx}, time.Now()
	p.ops[n].play(o, scene{p.base.Sizes, uint64(user % Areas), user, rng})
	err = o.end()
	if p.Journal != nil {
		p.Journal.Call(Call{user, p.ops[n].ID, began, time.Now(), err})
	}
	if err != nil {
		p.sessions.Drop(ctx, user, s)
	} else {
		p.sessions.Give(user, s)
	}
	return tally.OutcomeOfSQL(ctx, err)
}

// Close ends all sessions. Nobody plays any more.
func (p *Player) Close() { p.sessions.Close() }
