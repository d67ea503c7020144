package session

import (
	"errors"
	"testing"
	"time"
)

func TestSessions(t *testing.T) {
	now := time.Unix(0, 0)
	s := sessions(t, Options{Max: 2, Now: func() time.Time { return now }})
	first, _ := s.Open(User{Code: "first"})
	second, _ := s.Open(User{Code: "second"})

	t.Run("AreFoundByTheirToken", func(t *testing.T) {
		if u, ok := s.Find(first); !ok || u.User.Code != "first" {
			t.Errorf("got %v, %v", u, ok)
		}
		if _, ok := s.Find(first + "x"); ok || first == second || len(first) != 32 {
			t.Error("a wrong token was taken, or tokens are weak")
		}
	})
	t.Run("AreBounded", func(t *testing.T) {
		if _, err := s.Open(User{}); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("GiveWayWhenIdleForLong", func(t *testing.T) {
		now = now.Add(IdleDefault - time.Second)
		s.Find(second) // used, so the first is the idle one
		now = now.Add(2 * time.Second)
		third, err := s.Open(User{Code: "third"})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Find(first); ok {
			t.Error("the idle session is still there")
		}
		_, ok2 := s.Find(second)
		_, ok3 := s.Find(third)
		if !ok2 || !ok3 || s.Count() != 2 {
			t.Error("a session in use is gone")
		}
	})
	t.Run("EndWhenClosed", func(t *testing.T) {
		closed, _ := s.Find(second)
		s.Close(closed)
		s.Close(closed)
		if _, ok := s.Find(second); ok || s.Count() != 1 {
			t.Error("still there")
		}
	})
}

func TestSharesAreBounded(t *testing.T) {
	now := time.Unix(0, 0)
	s := sessions(t, Options{Now: func() time.Time { return now }})
	address, user := Share{"address", 3}, Share{"user", 2}
	must := func(want error, of ...Share) (token string) {
		t.Helper()
		token, err := s.Open(User{}, of...)
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		return token
	}
	first := must(nil, address, user)
	must(nil, address, user)
	must(ErrShare, address, user)
	must(nil, address)
	must(ErrShare, address)
	must(nil) // others are not kept from it
	closed, _ := s.Find(first)
	s.Close(closed)
	must(nil, address, user)
	now = now.Add(IdleDefault + time.Second)
	must(nil, address, user)
	must(nil, address, user)
	must(ErrShare, user)
	if len(s.shares) != 2 {
		t.Errorf("shares %v", s.shares)
	}
	now = now.Add(IdleDefault + time.Second)
	if s.Sweep(); len(s.shares) != 0 {
		t.Errorf("kept for nobody: %v", s.shares)
	}
}
