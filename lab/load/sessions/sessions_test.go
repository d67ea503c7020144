package sessions

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// server counts its sessions.
type server struct {
	opened, closed int
	down           bool
	users          []int
}

type session struct{ n int }

func (s *server) open(_ context.Context, user int) (*session, error) {
	if s.down {
		return nil, errors.New("connection refused")
	}
	s.opened++
	s.users = append(s.users, user)
	return &session{s.opened}, nil
}

func (s *server) end(context.Context, *session) { s.closed++ }

func take(t *testing.T, p *Pool[session], user int) *session {
	t.Helper()
	s, err := p.Take(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEachUserKeepsAnOwnSession(t *testing.T) {
	var at server
	p := New(0, at.open, at.end)
	first, second := take(t, p, 7), take(t, p, 3)
	p.Give(7, first)
	p.Give(3, second)
	if again := take(t, p, 7); again != first || at.opened != 2 || !slices.Equal(at.users, []int{7, 3}) {
		t.Errorf("user 7 got session %d of %d, opened for %v", again.n, at.opened, at.users)
	}
	p.Drop(t.Context(), 7, first)
	if lost := take(t, p, 7); lost == first || at.closed != 1 {
		t.Errorf("a dropped session came back; %d closed", at.closed)
	} else {
		p.Give(7, lost)
	}
	if p.Close(); at.closed != 3 {
		t.Errorf("%d of 3 sessions closed", at.closed)
	}
}

func TestSharedSessionsTakeTurns(t *testing.T) {
	var at server
	p := New(2, at.open, at.end)
	a, b := take(t, p, 0), take(t, p, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Take(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third of two sessions: %v", err)
	}
	p.Give(0, a)
	p.Give(1, b)
	if next := take(t, p, 5); next != a {
		t.Errorf("got session %d, want the one that has rested longest", next.n)
	}
	p.Drop(t.Context(), 5, a)
	at.down = true
	if s := take(t, p, 5); s != b {
		t.Errorf("got session %d, want the open one", s.n)
	}
	for range 3 { // a failure must not use up the place
		if _, err := p.Take(t.Context(), 6); err == nil {
			t.Fatal("a server that is down opened a session")
		}
	}
	p.Give(5, b)
	if p.Close(); at.closed != at.opened {
		t.Errorf("%d of %d sessions closed", at.closed, at.opened)
	}
}
