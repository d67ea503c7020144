// Package client owns the wire format of the ERP's API as a virtual user speaks it: it
// logs in, and carries out one key operation at a time. It keeps no goroutines and no connections
// of its own; the caller brings the transport and the randomness.
package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"plimsoll/erp"
	"plimsoll/platform/data/id"
)

// Outcome says how an operation ended. OK and Refused are valid results for Apdex;
// Overloaded and Failed count as frustrated.
type Outcome uint8

const (
	OK         Outcome = iota // done
	Refused                   // refused by a business control, as it should be
	Overloaded                // 503: the worker shed the request
	Failed                    // anything else: transport, protocol, a wrong answer
)

func (o Outcome) String() string {
	return [...]string{"ok", "refused", "overloaded", "failed"}[min(o, Failed)]
}

// Options of a client. One client serves all virtual users of a process.
type Options struct {
	// Transport makes the connections. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Password of all users, if one is required.
	Password string
	// RefusedShare of the sales ask for more than any warehouse holds, and the same share of other documents break one
	// of their controls, so that the server must refuse them. Defaults to RefusedShareDefault; negative means none.
	RefusedShare float64
	// BackdatedShare of the new documents carry a date of 1 to BackdatedDays days ago.
	BackdatedShare float64
	BackdatedDays  int
	// Part of Parts, from 0, if several clients generate one load: each starts at a different place with what can be
	// done only once.
	Part, Parts int
	// Acknowledged, if set, is called for every document that the server acknowledged.
	Acknowledged func(documentType, id string)
	// Resent, if set, is called for every request sent once more because its connection was lost; the context is that
	// of the operation. Only the transport knows what it sends again by itself.
	Resent func(ctx context.Context)
	// Instead, if set, is called with the key operation carried out in place of one that has nothing to act on.
	Instead func(ctx context.Context, operation string)
}

// RefusedShareDefault is the share of documents that must be refused.
const RefusedShareDefault = 0.03

var (
	// ErrSession means that the worker no longer knows the session.
	ErrSession = errors.New("session unknown to the worker")
	// ErrUnknownOperation means that there is no such key operation.
	ErrUnknownOperation = errors.New("no such key operation")
)

// Overload is the error that comes with Overloaded.
type Overload struct {
	Code       string // overloaded, unavailable, timeout
	RetryAfter time.Duration
	SQLState   string // of the database's error; empty: not a database error
}

func (e *Overload) Error() string {
	return "the worker answered 503: " + e.Code + withState(e.SQLState)
}

// Client carries out operations for any number of sessions; safe for concurrent use.
type Client struct {
	options Options
	// actions by key operation: an operation may be carried out in place of another.
	actions map[string]action
	run     string // makes this client's idempotency keys and references unique
	mutex   sync.Mutex
	offices map[string]*office   // by organisation
	known   map[id.ID]*directory // by warehouse
	written ledger
	// provided are the documents that Provide has made for the next operation.
	provided held
}

// Session is one logged-in user: a few hundred bytes. One operation at a time.
type Session struct {
	address   address
	token     []string // the value of the header, made once
	directory *directory
	recent    recent // its own sales, to show
}

// recentMax is how many of its own sales a session remembers.
const recentMax = 4

// New makes a client.
func New(options Options) *Client {
	if options.Transport == nil {
		options.Transport = http.DefaultTransport
	}
	if options.RefusedShare == 0 {
		options.RefusedShare = RefusedShareDefault
	}
	return &Client{options: options, actions: actions, run: id.New().String(), offices: map[string]*office{},
		known: map[id.ID]*directory{}, written: ledger{series: map[string]*Fates{}}}
}

// UserCode is the login of the n-th user, counted from 1.
func UserCode(n int) string { return erp.UserCode(n) }

// Users asks the worker at base ("http://127.0.0.1:8080") how many users the database has, so that
// a generator can spread its sessions over them (several sessions of one user are fine).
func (c *Client) Users(ctx context.Context, base string) (int, error) {
	var about struct{ Users int }
	a, err := parseAddress(base)
	if err != nil {
		return 0, err
	}
	err = c.fetch(ctx, &Session{address: a}, "/v1/application", "", &about)
	return about.Users, err
}

// Login opens a session for the user at the worker base. The first login of a warehouse also reads what its users'
// screens show (counterparties, stock); later ones share it.
func (c *Client) Login(ctx context.Context, base, user string) (*Session, error) {
	a, err := parseAddress(base)
	if err != nil {
		return nil, err
	}
	s := &Session{address: a}
	var opened struct{ Token, Organisation string }
	if err := c.create(ctx, s, user, &opened); err != nil {
		return nil, fmt.Errorf("log in %s: %w", user, err)
	}
	s.token = []string{"Bearer " + opened.Token}
	if s.directory, err = c.directoryOf(ctx, s, user, opened.Organisation); err != nil {
		return nil, fmt.Errorf("log in %s: %w", user, err)
	}
	return s, nil
}

// LoginWhenFree is Login, repeated for at most this long while the worker is overloaded.
func (c *Client) LoginWhenFree(ctx context.Context, base, user string, most time.Duration) (*Session, error) {
	for began := time.Now(); ; {
		s, err := c.Login(ctx, base, user)
		var busy *Overload
		if !errors.As(err, &busy) {
			return s, err
		}
		pause := max(busy.RetryAfter, 100*time.Millisecond)
		if time.Since(began)+pause > most {
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Logout closes the session.
func (c *Client) Logout(ctx context.Context, s *Session) error {
	r, err := c.send(ctx, s, http.MethodDelete, "/v1/sessions/current", "", nil)
	if err != nil {
		return err
	}
	defer r.free()
	_, err = r.outcome()
	return err
}

// Do carries out one key operation. What it does depends on rng, on the catalogs, on what the session did before, and
// for reports on the calendar. The error is nil for OK and Refused, and describes the failure for Overloaded (an
// *Overload) and Failed. After a lost session (a worker restarted) it fails with ErrSession: log in again.
func (c *Client) Do(ctx context.Context, s *Session, operation string, rng *rand.Rand) (Outcome, error) {
	do, ok := c.actions[operation]
	if !ok {
		return Failed, fmt.Errorf("%w: %q", ErrUnknownOperation, operation)
	}
	return do(c, context.WithValue(ctx, operationKey{}, operation), s, rng)
}

// operationKey of a context has the key operation that its requests belong to.
type operationKey struct{}
