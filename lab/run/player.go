package run

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"plimsoll/erp/client"
	"plimsoll/lab/scenario"
	"plimsoll/lab/tally"
	"plimsoll/lab/users"
)

const (
	// idleConnections are kept for the next operation, whosever it is. A connection
	// costs the generator about 20 KB, a thinking user needs none.
	idleConnections = 1024
	// idleTimeout closes a connection before a server would: one that is closed from
	// the other end just when it is used costs a repetition.
	idleTimeout = 20 * time.Second
	dialTimeout = 10 * time.Second
)

// player does the ERP's key operations over HTTP.
type player struct {
	client     *client.Client
	transport  *http.Transport
	operations []users.Operation
	bases      []string // of the workers
	sessions   []*client.Session
	logins     int // users that the database has
}

func newPlayer(ctx context.Context, o Options, operations []users.Operation, bases []string) (*player, error) {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections / len(bases),
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
	p := &player{
		client: client.New(options(o.Scenario, transport)), transport: transport,
		operations: operations, bases: bases, sessions: make([]*client.Session, o.Users),
	}
	var err error
	if p.logins, err = p.client.Users(ctx, bases[0]); err == nil && p.logins == 0 {
		err = errors.New("the database has no users")
	}
	return p, err
}

// options of the client as the scenario has them.
func options(s *scenario.Scenario, transport http.RoundTripper) client.Options {
	o := client.Options{Transport: transport, RefusedShare: s.Refused, BackdatedShare: s.Backdated, BackdatedDays: s.BackdatedDays}
	if s.Refused == 0 {
		o.RefusedShare = -1 // none, not the default
	}
	return o
}

func (p *player) base(user int) string { return p.bases[user%len(p.bases)] }

// LogIn opens the session of a user. Where the database has fewer users than the run,
// some work in several sessions.
func (p *player) LogIn(ctx context.Context, user int) error {
	session, err := p.client.Login(ctx, p.base(user), client.UserCode(1+user%p.logins))
	p.sessions[user] = session
	return err
}

var outcomes = map[client.Outcome]tally.Outcome{
	client.OK: tally.OK, client.Refused: tally.Refused, client.Overloaded: tally.Overload, client.Failed: tally.Failed,
}

// Play does one operation. A user whose session is lost logs in again, as a person
// would, and the operation that met it has failed.
func (p *player) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	if p.sessions[user] == nil {
		if err := p.LogIn(ctx, user); err != nil {
			return tally.Failed, err
		}
	}
	outcome, err := p.client.Do(ctx, p.sessions[user], p.operations[operation].ID, rng)
	if errors.Is(err, client.ErrSession) {
		p.sessions[user] = nil
	}
	return outcomes[outcome], err
}

func (p *player) close() { p.transport.CloseIdleConnections() }
