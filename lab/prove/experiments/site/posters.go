package site

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"plimsoll/erp/client"
	"plimsoll/erp/operations"
)

// Warmings is how often each user carries out each operation before it is measured. Tests need one.
var Warmings = 3

const (
	// warmSeed differs from the seeds of all turns: the same random numbers would give the same idempotency keys.
	warmSeed = 1 << 32
	// workerSeed is the bit from which a worker's number stands in its seeds.
	workerSeed = 40
)

// Weighted are key operations, of which each is picked by its weight.
type Weighted []operations.Operation

// Writing are those that write documents.
func Writing() (all Weighted) {
	for _, op := range operations.All() {
		if strings.HasSuffix(op.ID, ".post") || strings.HasSuffix(op.ID, ".change") {
			all = append(all, op)
		}
	}
	return all
}

// Pick one by weight.
func (w Weighted) Pick(rng *rand.Rand) operations.Operation {
	sum := 0.0
	for _, op := range w {
		sum += op.Weight
	}
	at := rng.Float64() * sum
	for _, op := range w {
		if at -= op.Weight; at < 0 {
			return op
		}
	}
	return w[len(w)-1]
}

// Do an operation; one that a business control refuses is done.
func Do(ctx context.Context, c *client.Client, s *client.Session, op operations.Operation, rng *rand.Rand) error {
	outcome, err := c.Do(ctx, s, op.ID, rng)
	if outcome > client.Refused {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	return nil
}

// Accounts of the users of all workers on one base. They share what they know of it: else those of one worker would
// change a document that others are about to invoice as it was.
type Accounts struct {
	client    *client.Client
	transport *http.Transport
	workers   uint64 // that they have been given
}

// NewAccounts of users who reach workers on this machine.
func NewAccounts() *Accounts { return NewAccountsThrough(nil) }

// NewAccountsThrough a dialer of their own; nil: the usual one.
func NewAccountsThrough(dial func(context.Context, string, string) (net.Conn, error)) *Accounts {
	transport := &http.Transport{DisableCompression: true, DialContext: dial, MaxIdleConnsPerHost: Clients}
	return &Accounts{client: client.New(client.Options{Transport: transport, RefusedShare: -1}), transport: transport}
}

// Close their connections.
func (a *Accounts) Close() { a.transport.CloseIdleConnections() }

// Posters are users who post and change documents over HTTP, each key operation by its weight.
type Posters struct {
	accounts *Accounts
	seed     uint64 // differs between workers, since the same random numbers give the same idempotency keys
	sessions []*client.Session
	// Operations that they carry out.
	Operations Weighted
}

// LogIn so many users at a worker.
func (a *Accounts) LogIn(ctx context.Context, base string, users int) (*Posters, error) {
	a.workers++
	p := &Posters{accounts: a, seed: a.workers << workerSeed, Operations: Writing()}
	for n := range users {
		session, err := a.client.Login(ctx, base, client.UserCode(1+n))
		if err != nil {
			return p, err
		}
		p.sessions = append(p.sessions, session)
	}
	return p, nil
}

// Warm up: each user carries out each operation some times.
func (p *Posters) Warm(ctx context.Context) error {
	return AllAtOnce(len(p.sessions), func(n int) error {
		for round := range Warmings {
			for i, op := range p.Operations {
				if err := p.warm(ctx, n, op, uint64(round), uint64(i)); err != nil {
					return fmt.Errorf("warm up: %w", err)
				}
			}
		}
		return nil
	})
}

// triesMost of an operation that a worker refuses since it, its database or a lock is busy.
const triesMost = 60

func (p *Posters) warm(ctx context.Context, user int, op operations.Operation, round, number uint64) error {
	return insist(ctx, func() error {
		return p.do(ctx, user, op, rand.New(rand.NewPCG(p.seed+warmSeed+round, number)))
	})
}

// insist repeats an operation while the worker is too busy for it, as a user does.
func insist(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		var overload *client.Overload
		if !errors.As(err, &overload) || try == triesMost {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(overload.RetryAfter):
		}
	}
}

func (p *Posters) do(ctx context.Context, user int, op operations.Operation, rng *rand.Rand) error {
	return Do(ctx, p.accounts.client, p.sessions[user], op, rng)
}

// Play has every user work without pause for some time. It returns the latencies, sorted: of what a busy worker
// refused, until it was done.
func (p *Posters) Play(ctx context.Context, d time.Duration, seed uint64) ([]time.Duration, error) {
	return p.PlayThinking(ctx, d, 0, seed)
}

// PlayThinking is Play with users who think so long on average before each operation.
func (p *Posters) PlayThinking(ctx context.Context, d, think time.Duration, seed uint64) ([]time.Duration, error) {
	return Thinking(ctx, len(p.sessions), d, think, func(n int) func() error {
		rng := rand.New(rand.NewPCG(p.seed+seed, uint64(n)))
		return func() error {
			op := p.Operations.Pick(rng)
			return insist(ctx, func() error { return p.do(ctx, n, op, rng) })
		}
	})
}
