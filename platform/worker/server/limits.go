package server

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"plimsoll/platform/worker/session"
)

// Limits keep a few addresses or users from taking all sessions, or from guessing passwords. Zero means the default,
// which is none for clients on this machine: a load generator may open as many sessions as it likes.
type Limits struct {
	AddressSessions int // open at once
	AddressLogins   int // per second; a burst may be loginBurst times as many
	UserSessions    int // open at once, where passwords are asked for
}

// Defaults for clients on other machines.
const (
	AddressSessionsDefault = 1000
	AddressLoginsDefault   = 20
	UserSessionsDefault    = 100

	loginBurst = 5
	// Wrong passwords of one address: mistakeBurst at once, then one per mistakeEvery. This applies to every client.
	mistakeBurst = 10
	mistakeEvery = 5 * time.Second
	// sharesFreeAfter is the Retry-After of a log-in refused because its address or user has too many sessions.
	sharesFreeAfter = time.Minute
	// bucketsMax addresses have a bucket each; those beyond it share one.
	bucketsMax = 65_536
)

// limited is answered with 429 and Retry-After.
type limited struct {
	code, what string
	after      time.Duration
}

func (l *limited) Error() string { return l.what + "; wait before trying again" }

func (l *limited) retryAfter() string {
	return strconv.Itoa(max(1, int(math.Ceil(l.after.Seconds()))))
}

// client is the sender of a request, known by its IPv4 address or its IPv6 /64 network.
type client struct {
	name string
	near bool // on this machine
}

func clientOf(r *http.Request) client {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return client{name: r.RemoteAddr}
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return client{name: host}
	}
	at = at.Unmap().WithZone("")
	if network, err := at.Prefix(64); err == nil && at.Is6() {
		return client{network.String(), at.IsLoopback()}
	}
	return client{at.String(), at.IsLoopback()}
}

// limit for a client; 0 means no limit.
func (c client) limit(given, otherwise int) int {
	if given > 0 || c.near {
		return given
	}
	return otherwise
}

// shares that a new session counts towards.
func (s *Server) shares(from client, user session.User) []session.Share {
	l := s.config.Limits
	all := []session.Share{{Name: "address " + from.name, Most: from.limit(l.AddressSessions, AddressSessionsDefault)}}
	if s.passwords != nil { // otherwise anybody could use up another user's sessions
		all = append(all, session.Share{Name: "user " + user.ID.String(),
			Most: from.limit(l.UserSessions, UserSessionsDefault)})
	}
	return all
}

// admit counts a log-in attempt, successful or not, against the limit of its address.
func (s *Server) admit(from client) error {
	most := from.limit(s.config.Limits.AddressLogins, AddressLoginsDefault)
	if most == 0 {
		return nil
	}
	if wait := s.logins.take(from.name); wait > 0 {
		return &limited{codeLimited, fmt.Sprintf("more than %d log-ins a second from one address", most), wait}
	}
	return nil
}

// mayGuess checks whether the address may try another password.
func (s *Server) mayGuess(from client) error {
	if wait := s.mistakes.wait(from.name); wait > 0 {
		return &limited{codeGuessing, "too many wrong passwords from one address", wait}
	}
	return nil
}

// buckets are token buckets by address.
type buckets struct {
	mutex sync.Mutex
	each  rate.Limit
	burst int
	all   map[string]*rate.Limiter
	now   func() time.Time
}

func newBuckets(each rate.Limit, burst int) *buckets {
	return &buckets{each: each, burst: burst, all: map[string]*rate.Limiter{}, now: time.Now}
}

// take takes a token, or returns how long until there is one.
func (b *buckets) take(name string) (wait time.Duration) {
	now := b.now()
	r := b.limiter(name).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// wait returns how long until there is a token.
func (b *buckets) wait(name string) time.Duration {
	lacks := 1 - b.limiter(name).TokensAt(b.now())
	return max(0, time.Duration(lacks/float64(b.each)*float64(time.Second)))
}

func (b *buckets) limiter(name string) *rate.Limiter {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.all) >= bucketsMax && b.all[name] == nil {
		b.sweepLocked()
	}
	if len(b.all) >= bucketsMax && b.all[name] == nil {
		name = ""
	}
	found := b.all[name]
	if found == nil {
		found = rate.NewLimiter(b.each, b.burst)
		b.all[name] = found
	}
	return found
}

// sweep drops the full buckets.
func (b *buckets) sweep() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.sweepLocked()
}

func (b *buckets) sweepLocked() {
	for name, bucket := range b.all {
		if bucket.TokensAt(b.now()) >= float64(b.burst) {
			delete(b.all, name)
		}
	}
}
