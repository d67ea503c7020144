// Package session owns who is logged in to this worker, and what each session keeps: a bounded number of sessions,
// each known by a random token and ended when it was idle for long, with working data in bounded memory and, behind
// it, in files that do not outlive the worker.
//
//	         Set, Get                 memory is full, unused longest
//	(none) ───────────▶ in memory ───────────────────────────────────▶ in a file
//	                        ▲                  Set, Get                    │
//	                        └──────────────────────────────────────────────┘
//	         end, idle for long, end of the worker: gone from both
package session

import (
	"container/list"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"plimsoll/platform/data/id"
)

// Limits of a worker.
const (
	MaxDefault  = 100_000
	IdleDefault = 8 * time.Hour
	tokenBytes  = 24
)

var (
	// ErrFull means that the worker has reached its limit of sessions, and none is idle.
	ErrFull = errors.New("too many sessions")
	// ErrShare means that an address or user has reached its limit of sessions.
	ErrShare = errors.New("too many sessions from one address or user")
)

// Share limits the sessions opened under one name to Most. No name, or 0, means no limit.
type Share struct {
	Name string
	Most int
}

// User is the owner of a session, which sees and writes data of its organisation only.
type User struct {
	ID           id.ID
	Organisation id.ID
	Code         string
	Name         string
}

// Options of the sessions of a worker; zero values mean the defaults.
type Options struct {
	Max  int
	Idle time.Duration
	// Memory is how many bytes of session data are kept there. Defaults to MemoryDefault.
	Memory int64
	// Dir holds data that does not fit in memory. Empty means none: more data is refused.
	Dir string
	// Log receives lost data and a full disk. Defaults to slog.Default().
	Log *slog.Logger
	Now func() time.Time
}

// Sessions of a worker.
type Sessions struct {
	options Options
	store   *store
	mutex   sync.Mutex
	known   map[string]*list.Element
	used    *list.List // of *Session, longest idle first
	shares  map[string]int
}

// Session is one login.
type Session struct {
	User  User
	token string
	used  time.Time // guarded by the mutex of Sessions
	under []string  // names of its shares
	store *store
	data  data
}

// New creates an empty set of sessions, and its folder in Dir.
func New(o Options) (*Sessions, error) {
	if o.Max < 1 {
		o.Max = MaxDefault
	}
	if o.Idle <= 0 {
		o.Idle = IdleDefault
	}
	if o.Memory <= 0 {
		o.Memory = MemoryDefault
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	st := &store{log: o.Log, used: list.New(), figures: Figures{MemoryMax: o.Memory, DiskMax: diskShare * o.Memory}}
	if o.Dir != "" {
		var err error
		if st.folder, err = makeFolder(o.Dir); err != nil {
			return nil, err
		}
	}
	return &Sessions{options: o, store: st, known: map[string]*list.Element{}, used: list.New(),
		shares: map[string]int{}}, nil
}

// Open starts a session, unless one of its shares is used up, and returns its token.
func (s *Sessions) Open(user User, shares ...Share) (string, error) {
	random := make([]byte, tokenBytes)
	rand.Read(random) // never fails
	token := base64.RawURLEncoding.EncodeToString(random)
	s.Sweep()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.known) >= s.options.Max {
		return "", ErrFull
	}
	var under []string
	for _, share := range shares {
		if share.Name == "" {
			continue
		}
		if share.Most > 0 && s.shares[share.Name] >= share.Most {
			return "", ErrShare
		}
		under = append(under, share.Name)
	}
	for _, name := range under {
		s.shares[name]++
	}
	owner := sha256.Sum256([]byte(token)) // the token itself is never written to a file
	opened := &Session{User: user, token: token, used: s.options.Now(), store: s.store, under: under,
		data: data{owner: hex.EncodeToString(owner[:])}}
	s.known[token] = s.used.PushBack(opened)
	return token, nil
}

// Find returns the session of a token.
func (s *Sessions) Find(token string) (*Session, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	e, ok := s.known[token]
	if !ok {
		return nil, false
	}
	found, now := e.Value.(*Session), s.options.Now()
	if found.used.Before(now.Add(-s.options.Idle)) {
		return nil, false // the next sweep removes it
	}
	s.used.MoveToBack(e)
	found.used = now
	return found, true
}

// Close ends a session.
func (s *Sessions) Close(session *Session) {
	s.mutex.Lock()
	if e, ok := s.known[session.token]; ok {
		s.remove(e)
	}
	s.mutex.Unlock()
	session.end()
}

// Count is how many there are.
func (s *Sessions) Count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.known)
}

// Figures of the data that sessions keep.
func (s *Sessions) Figures() Figures {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	return s.store.figures
}

// Sweep ends the sessions idle for too long, and returns how many.
func (s *Sessions) Sweep() int {
	var ended []*Session
	s.mutex.Lock()
	limit := s.options.Now().Add(-s.options.Idle)
	// longest idle first
	for e := s.used.Front(); e != nil && e.Value.(*Session).used.Before(limit); e = s.used.Front() {
		ended = append(ended, s.remove(e))
	}
	s.mutex.Unlock()
	for _, session := range ended {
		session.end()
	}
	return len(ended)
}

// End ends all sessions and removes their files.
func (s *Sessions) End() {
	s.mutex.Lock()
	s.known, s.used, s.shares = map[string]*list.Element{}, list.New(), map[string]int{}
	s.mutex.Unlock()
	if s.store.folder != nil {
		s.store.folder.close()
	}
}

func (s *Sessions) remove(e *list.Element) *Session {
	removed := e.Value.(*Session)
	delete(s.known, removed.token)
	s.used.Remove(e)
	for _, name := range removed.under {
		if s.shares[name]--; s.shares[name] <= 0 {
			delete(s.shares, name)
		}
	}
	return removed
}
