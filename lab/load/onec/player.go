package onec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/jackc/pgx/v5"

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
}

// Player plays the operations.
type Player struct {
	Options
	config *pgx.ConnConfig
	base   Base
	ops    []Operation

	free  chan *session // of the pool; nil stands for one that is not open
	mutex sync.Mutex
	own   map[int]*session // by user, where each has one
}

// Open reads what the base holds. Users open the sessions when they log in: the pool hands out the one that has rested
// longest, and those that are not open before all others.
func Open(ctx context.Context, o Options) (*Player, error) {
	o.Sessions = min(o.Sessions, max(1, o.Users))
	p := &Player{Options: o, own: map[int]*session{}}
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
	if o.Sessions > 0 {
		p.free = make(chan *session, o.Sessions)
		for range o.Sessions {
			p.free <- nil
		}
	}
	return p, nil
}

// LogIn opens the user's session, or tries whether the pool can be used.
func (p *Player) LogIn(ctx context.Context, user int) error {
	s, err := p.acquire(ctx, user)
	if err == nil {
		p.release(ctx, user, s, nil)
	}
	return err
}

// Play does one operation.
func (p *Player) Play(ctx context.Context, user, n int, rng *rand.Rand) (tally.Outcome, error) {
	s, err := p.acquire(ctx, user)
	if err != nil {
		return tally.OutcomeOfSQL(ctx, err)
	}
	o := &operation{session: s, ctx: ctx}
	p.ops[n].play(o, scene{p.base.Sizes, uint64(user % Areas), user, rng})
	err = o.end()
	p.release(ctx, user, s, err)
	return tally.OutcomeOfSQL(ctx, err)
}

func (p *Player) acquire(ctx context.Context, user int) (s *session, err error) {
	if p.free == nil {
		p.mutex.Lock()
		s = p.own[user]
		p.mutex.Unlock()
	} else {
		select {
		case s = <-p.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s != nil {
		return s, nil
	}
	s, err = connect(ctx, p.config)
	if err != nil && p.free != nil {
		p.free <- nil
	}
	return s, err
}

// release gives the session back, or ends it after an error: its temp tables and its transaction are not known.
func (p *Player) release(ctx context.Context, user int, s *session, err error) {
	if err != nil {
		s.close(ctx)
		s = nil
	}
	if p.free != nil {
		p.free <- s
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.own[user] = s
}

// Close ends all sessions. Nobody plays any more.
func (p *Player) Close() {
	ctx := context.Background()
	for range p.Sessions {
		if s := <-p.free; s != nil {
			s.close(ctx)
		}
	}
	p.Sessions = 0
	for _, s := range p.own {
		if s != nil {
			s.close(ctx)
		}
	}
	p.own = nil
}
