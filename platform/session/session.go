// Package session owns who is logged in to this worker: a bounded number of sessions, each known by a random
// token, the longest idle one giving way once it has been idle for long.
package session

import (
	"container/list"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"plimsoll/platform/id"
)

// Limits of a worker.
const (
	MaxDefault  = 100_000
	IdleDefault = 8 * time.Hour
	tokenBytes  = 24
)

// ErrFull means that the worker holds as many sessions as it may, and none is idle.
var ErrFull = errors.New("too many sessions")

// User is whose session it is. Everything the session sees and writes belongs to the organisation.
type User struct {
	ID           id.ID
	Organisation id.ID
	Code         string
	Name         string
}

// Sessions of a worker.
type Sessions struct {
	max   int
	idle  time.Duration
	now   func() time.Time
	mutex sync.Mutex
	known map[string]*list.Element
	used  *list.List // of *entry, longest idle first
}

type entry struct {
	token string
	user  User
	used  time.Time
}

// New makes room for max sessions; zero means MaxDefault.
func New(max int, now func() time.Time) *Sessions {
	if max < 1 {
		max = MaxDefault
	}
	return &Sessions{max: max, idle: IdleDefault, now: now, known: map[string]*list.Element{}, used: list.New()}
}

// Open starts a session and returns its token.
func (s *Sessions) Open(user User) (string, error) {
	random := make([]byte, tokenBytes)
	rand.Read(random) // never fails
	token := base64.RawURLEncoding.EncodeToString(random)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.expire()
	if len(s.known) >= s.max {
		return "", ErrFull
	}
	s.known[token] = s.used.PushBack(&entry{token, user, s.now()})
	return token, nil
}

// Find returns the user of a token.
func (s *Sessions) Find(token string) (User, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.expire()
	e, ok := s.known[token]
	if !ok {
		return User{}, false
	}
	s.used.MoveToBack(e)
	found := e.Value.(*entry)
	found.used = s.now()
	return found.user, true
}

// Close ends a session.
func (s *Sessions) Close(token string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if e, ok := s.known[token]; ok {
		s.remove(e)
	}
}

// Count is how many there are.
func (s *Sessions) Count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.known)
}

// expire drops the sessions idle for too long; they stand first.
func (s *Sessions) expire() {
	limit := s.now().Add(-s.idle)
	for e := s.used.Front(); e != nil && e.Value.(*entry).used.Before(limit); e = s.used.Front() {
		s.remove(e)
	}
}

func (s *Sessions) remove(e *list.Element) {
	delete(s.known, e.Value.(*entry).token)
	s.used.Remove(e)
}
