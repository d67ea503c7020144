package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"plimsoll/erp/client"
	"plimsoll/ground/problem"
	"plimsoll/lab/load/custom"
	"plimsoll/lab/load/onec"
	"plimsoll/lab/load/request"
	"plimsoll/lab/load/scenario"
	"plimsoll/lab/load/tally"
	"plimsoll/lab/load/users"
)

// players plays every operation of a run: the ERP's over HTTP, custom ones as they are described.
type players struct {
	transport counted
	erp       *player              // nil: no ERP
	onec      *onec.Player         // nil: no 1C base
	own       *custom.Player       // nil: no custom operations
	web       *request.Connections // of custom operations
	actions   []*custom.Action
}

func newPlayers(ctx context.Context, p Plan) (c *players, err error) {
	crowd := p.Crowd()
	c = &players{transport: counted{newTransport(p.Access), p.workers}, actions: p.Scenario.Actions()}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if p.Scenario.Application == scenario.ERP {
		if c.erp, err = newPlayer(ctx, p, crowd.Operations, c.transport); err != nil {
			return c, fmt.Errorf("reach the application server: %w", err)
		}
	}
	if p.Scenario.Application == scenario.OneC {
		if c.onec, err = onec.Open(ctx, onec.Options{DSN: p.DSN, Operations: ids(crowd.Operations),
			Users: p.ownUsers(), Sessions: p.Scenario.Own.SharedSessions(), Journal: p.Journal}); err != nil {
			return c, err
		}
	}
	if slices.ContainsFunc(c.actions, func(a *custom.Action) bool { return a != nil }) {
		err = c.openOwn(ctx, p)
	}
	return c, err
}

// openOwn makes custom operations ready to be played.
func (c *players) openOwn(ctx context.Context, p Plan) (err error) {
	settings := &p.Scenario.Own.HTTP
	if err := enoughFiles(p.Segment.Of(p.UsersMost)*min(1, settings.PerUser()), filesMost()); err != nil {
		return err
	}
	dialer := newDialer() // one for all users: it knows which addresses have no ports left
	if c.web, err = settings.Open(func() *http.Transport { return transportBy(dialer, p.Access) },
		p.UsersMost); err != nil {
		return problem.New(problem.Usage, fmt.Errorf("tls of [http]: %w", err), "")
	}
	c.own, err = custom.Open(ctx, custom.Options{
		Settings: p.Scenario.Own, Actions: c.actions, Users: p.UsersMost, Planned: p.Users, Seed: p.Seed,
		DSN: p.DSN, Bases: p.ownBases(), Transport: func(user int) http.RoundTripper {
			return counted{c.web.Of(user),
				p.workers}
		},
	})
	return err
}

func ids(all []users.Operation) (names []string) {
	for _, op := range all {
		names = append(names, op.ID)
	}
	return names
}

// ownBases are the addresses for custom requests; with the ERP, URLs are its workers.
func (p Plan) ownBases() []string {
	if p.Scenario.Application == scenario.ERP {
		return nil
	}
	return p.URLs
}

// LogIn logs a user in to all parts.
func (c *players) LogIn(ctx context.Context, user int) error {
	if c.erp != nil {
		if err := c.erp.LogIn(ctx, user); err != nil {
			return err
		}
	}
	if c.onec != nil {
		if err := c.onec.LogIn(ctx, user); err != nil {
			return err
		}
	}
	if c.own != nil {
		return c.own.LogIn(ctx, user)
	}
	return nil
}

func (c *players) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	switch {
	case c.actions[operation] != nil:
		return c.own.Play(ctx, user, operation, rng)
	case c.onec != nil:
		return c.onec.Play(ctx, user, operation, rng)
	}
	return c.erp.Play(ctx, user, operation, rng)
}

// written is what the ERP's client wrote.
func (c *players) written() []Written {
	if c.erp == nil {
		return nil
	}
	keys, series := c.erp.client.Written()
	return []Written{{keys, series}}
}

func (c *players) close() {
	if c.own != nil {
		c.own.Close()
	}
	if c.onec != nil {
		c.onec.Close()
	}
	c.web.Close()
	c.transport.CloseIdleConnections()
}

// player plays the ERP's key operations over HTTP.
type player struct {
	client     *client.Client
	operations []users.Operation
	bases      []string // of the workers
	sessions   []*client.Session
	logins     int // users in the database
	seed       uint64
	part       int     // number of generators
	planned    float64 // most operations of this generator
}

func newPlayer(ctx context.Context, plan Plan, operations []users.Operation, transport http.RoundTripper) (*player,
	error) {
	p := &player{
		client:     client.New(options(plan, transport)),
		operations: operations, bases: plan.URLs, sessions: make([]*client.Session, plan.UsersMost),
		seed: plan.Seed, part: plan.Segment.Index, planned: plan.operations(),
	}
	var err error
	if p.logins, err = p.client.Users(ctx, p.bases[0]); err == nil && p.logins == 0 {
		err = errors.New("the database has no users")
	}
	return p, err
}

// options of the client, from the scenario.
func options(p Plan, transport http.RoundTripper) client.Options {
	s := p.Scenario
	o := client.Options{Transport: transport, Password: p.Access.Password,
		RefusedShare: s.Refused, BackdatedShare: s.Backdated,
		BackdatedDays: s.BackdatedDays, Part: p.Segment.Index, Parts: p.Segment.Count,
		Resent:  func(ctx context.Context) { tally.NotesOf(ctx).Resent() },
		Instead: func(ctx context.Context, operation string) { tally.NotesOf(ctx).Instead(operation) },
	}
	if s.Refused == 0 {
		o.RefusedShare = -1 // none, instead of the default
	}
	return o
}

func (p *player) base(user int) string { return p.bases[user%len(p.bases)] }

// overloadedMost is how long an overloaded worker keeps a user from the first log-in. Thousands come at once, and a
// password takes processor time.
const overloadedMost = time.Minute

// LogIn opens the session of a user. If the database has fewer users than the run, some work in several sessions. The
// first user of an organisation creates the documents that its users need.
func (p *player) LogIn(ctx context.Context, user int) error {
	return p.logIn(ctx, user, overloadedMost)
}

func (p *player) logIn(ctx context.Context, user int, most time.Duration) error {
	session, err := p.client.LoginWhenFree(ctx, p.base(user), client.UserCode(1+user%p.logins), most)
	p.sessions[user] = session
	if err != nil {
		return err
	}
	return p.client.Stock(ctx, session, shares(p.operations), p.planned, rand.New(rand.NewPCG(p.seed, uint64(p.part))))
}

var outcomes = map[client.Outcome]tally.Outcome{
	client.OK: tally.OK, client.Refused: tally.Refused, client.Overloaded: tally.Overload, client.Failed: tally.Failed,
}

// Play plays one operation. A user whose session is lost logs in again, as a person would; the operation that noticed
// it has failed.
func (p *player) Play(ctx context.Context, user, operation int, rng *rand.Rand) (tally.Outcome, error) {
	if p.sessions[user] == nil {
		if err := p.logIn(ctx, user, 0); err != nil {
			return tally.Failed, err
		}
	}
	outcome, err := p.client.Do(ctx, p.sessions[user], p.operations[operation].ID, rng)
	if errors.Is(err, client.ErrSession) {
		p.sessions[user] = nil
	}
	return outcomes[outcome], err
}
