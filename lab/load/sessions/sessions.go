// Package sessions owns the database sessions of users: one for each user, who keeps it from operation to operation, or
// several that all users take in turn.
//
//	closed ──Take opens it──▶ taken ──Give──▶ resting ──Take──▶ taken ──Drop──▶ closed
package sessions

import (
	"context"
	"sync"
)

// Pool holds sessions of a type. It is safe for concurrent use; one user takes one session at a time.
type Pool[S any] struct {
	open func(ctx context.Context, user int) (*S, error)
	end  func(context.Context, *S)

	shared chan *S // nil: each user has an own one. A nil session stands for one that is not open.
	mutex  sync.Mutex
	own    map[int]*S
}

// New makes a pool of so many sessions; 0: one for each user. They are opened when they are needed: of shared ones
// those that are not open come before all others, and then the one that has rested longest.
func New[S any](shared int, open func(ctx context.Context, user int) (*S, error),
	end func(context.Context, *S)) *Pool[S] {
	p := &Pool[S]{open: open, end: end, own: map[int]*S{}}
	if shared > 0 {
		p.shared = make(chan *S, shared)
		for range shared {
			p.shared <- nil
		}
	}
	return p
}

// Take a session for a user, who gives it back or drops it.
func (p *Pool[S]) Take(ctx context.Context, user int) (s *S, err error) {
	if p.shared == nil {
		p.mutex.Lock()
		s = p.own[user]
		p.mutex.Unlock()
	} else {
		select {
		case s = <-p.shared:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s != nil {
		return s, nil
	}
	if s, err = p.open(ctx, user); err != nil {
		p.put(user, nil)
		return nil, err
	}
	return s, nil
}

// Give a session back as it is.
func (p *Pool[S]) Give(user int, s *S) { p.put(user, s) }

// Drop ends a session; the next one who takes it gets a new one.
func (p *Pool[S]) Drop(ctx context.Context, user int, s *S) {
	p.end(ctx, s)
	p.put(user, nil)
}

func (p *Pool[S]) put(user int, s *S) {
	if p.shared != nil {
		p.shared <- s
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.own[user] = s
}

// Close ends all sessions. Nobody has one any more, and nobody takes one.
func (p *Pool[S]) Close() {
	ctx := context.Background()
	for range cap(p.shared) {
		if s := <-p.shared; s != nil {
			p.end(ctx, s)
		}
	}
	p.shared = nil
	for _, s := range p.own {
		if s != nil {
			p.end(ctx, s)
		}
	}
	p.own = nil
}
