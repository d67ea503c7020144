package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"plimsoll/erp/client"
	"plimsoll/lab/own"
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

// cast does every operation of a run: the ERP's over HTTP, own ones as they are described.
type cast struct {
	transport *http.Transport
	erp       *player     // nil: no ERP
	own       *own.Player // nil: none of one's own
	actions   []*own.Action
}

func (r *running) newCast(ctx context.Context) (c *cast, err error) {
	c = &cast{transport: newTransport(max(1, len(r.crew.urls()))), actions: r.Scenario.Actions()}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if r.Scenario.Application == scenario.ERP {
		if c.erp, err = newPlayer(ctx, r.Options, r.operations, r.crew.urls(), c.transport); err != nil {
			return c, fmt.Errorf("reach the application server: %w", err)
		}
	}
	if slices.ContainsFunc(c.actions, func(a *own.Action) bool { return a != nil }) {
		c.own, err = own.Open(ctx, own.Options{
			Settings: r.Scenario.Own, Actions: c.actions, Users: r.usersMost(), Seed: r.Seed, DSN: r.DSN, Bases: r.ownBases(), Transport: c.transport,
		})
	}
	return c, err
}

// ownBases are the addresses for requests of one's own; with the ERP, URLs are its workers.
func (r *running) ownBases() []string {
	if r.Scenario.Application == scenario.ERP {
		return nil
	}
	return r.URLs
}

// LogIn logs a user in everywhere.
func (c *cast) LogIn(ctx context.Context, user int) error {
	if c.erp != nil {
		if err := c.erp.LogIn(ctx, user); err != nil {
			return err
		}
	}
	if c.own != nil {
		return c.own.LogIn(ctx, user)
	}
	return nil
}

func (c *cast) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	if c.actions[operation] != nil {
		return c.own.Play(ctx, user, operation, rng)
	}
	return c.erp.Play(ctx, user, operation, rng)
}

func (c *cast) close() {
	if c.own != nil {
		c.own.Close()
	}
	c.transport.CloseIdleConnections()
}

func newTransport(hosts int) *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections / hosts,
		IdleConnTimeout:     idleTimeout,
		DisableCompression:  true,
	}
}

// player does the ERP's key operations over HTTP.
type player struct {
	client     *client.Client
	operations []users.Operation
	bases      []string // of the workers
	sessions   []*client.Session
	logins     int // users that the database has
}

func newPlayer(ctx context.Context, o Options, operations []users.Operation, bases []string, transport http.RoundTripper) (*player, error) {
	p := &player{
		client:     client.New(options(o.Scenario, transport)),
		operations: operations, bases: bases, sessions: make([]*client.Session, o.usersMost()),
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
