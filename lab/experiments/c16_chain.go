package experiments

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/claims"
	"plimsoll/lab/delay"
	"plimsoll/lab/ratio"
	"plimsoll/platform/database"
	"plimsoll/platform/shape"
)

// Defaults of C16: an operation of about 100 statements, on the way that the claim is about.
const (
	c16Turn    = 3 * time.Second
	c16Rounds  = 4
	c16Claimed = 100.0 // ms to the left
)

var (
	c16Load   = queryBatch{kinds: 1, tables: 10, empty: 0.4, rows: 10, steps: 70}
	c16Delays = []time.Duration{0, 200 * time.Microsecond, time.Millisecond} // 0 is loopback itself
)

// Chains is the experiment behind C16.
type Chains struct{}

// Claim implements Experiment.
func (Chains) Claim() string { return "C16" }

// Plan implements Experiment.
func (Chains) Plan(b Bench) Plan {
	turns := 4 * len(c16Delays) * b.rounds(c16Rounds)
	return Plan{fmt.Sprintf("%d turns of %s: statements one by one against chains of up to %d, over loopback and with %v of delay, for bare batches and posted documents", turns, length(b.turn(c16Turn)), database.ChainDefault, c16Delays[1:]),
		time.Duration(turns)*b.turn(c16Turn) + 15*time.Second}
}

// road is one way to the server.
type road struct {
	name   string
	sides  sides
	made   []series
	perOne [2]database.Counters // of one operation
}

// Run implements Experiment.
func (e Chains) Run(ctx context.Context, b Bench) (claims.Finding, error) {
	b, next := b.then(0.5)
	return b.withLayer(ctx, func(l layer) (claims.Finding, error) {
		var roads []*road
		partial := false
		for i, d := range c16Delays {
			r, err := e.measure(ctx, b, l, d, i)
			if err != nil && ctx.Err() != nil && len(roads) > 0 {
				partial = true
				break
			}
			if err != nil {
				return claims.Finding{}, err
			}
			roads = append(roads, r)
		}
		return e.onDocuments(ctx, next, e.finding(roads, partial, l), roads, l)
	})
}

// onDocuments goes the same ways with posted documents.
func (Chains) onDocuments(ctx context.Context, b Bench, f claims.Finding, roads []*road, l layer) (claims.Finding, error) {
	for i, r := range roads {
		dsn, leave, err := delayed(l.dsn, c16Delays[i])
		if err != nil {
			return f, err
		}
		inner := b
		inner.Step = func(share float64, left time.Duration, note string) {
			b.step((float64(i)+share)/float64(len(roads)), left, r.name+", "+note)
		}
		f, err = inner.andDocuments(ctx, f, dsn, ", "+r.name, r.sides.turn, r.sides.rounds, shape.Tweaks{Chain: database.ChainDefault})
		leave()
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

func (Chains) measure(ctx context.Context, b Bench, l layer, d time.Duration, place int) (*road, error) {
	dsn, leave, err := delayed(l.dsn, d)
	if err != nil {
		return nil, err
	}
	defer leave()
	dbs, end, err := openEach(ctx, dsn, database.Options{Connections: clients, Chain: 1}, database.Options{Connections: clients})
	if err != nil {
		return nil, err
	}
	defer end()
	load := c16Load.make()
	r := &road{name: roadName(ctx, dbs[0], d)}
	for i, db := range dbs {
		if err := load.warm(ctx, db); err != nil {
			return nil, err
		}
		counted, counters := database.WithCounters(ctx)
		if err := load.do(counted, db, 0); err != nil {
			return nil, err
		}
		r.perOne[i] = *counters
	}
	share := func(done float64, left time.Duration, note string) {
		all := float64(len(c16Delays))
		b.step((float64(place)+done)/all, left+time.Duration(len(c16Delays)-place-1)*2*b.turn(c16Turn)*time.Duration(b.rounds(c16Rounds)), r.name+", "+note)
	}
	inner := b
	inner.Step = share
	r.sides = sides{names: []string{"one by one", "chained"}, turn: b.turn(c16Turn), rounds: b.rounds(c16Rounds)}
	r.sides.run = func(ctx context.Context, side, turn int) (figures, error) {
		times, err := load.play(ctx, dbs[side], r.sides.turn, uint64(turn))
		if err != nil || len(times) == 0 {
			return nil, err
		}
		return figures{"median": quantile(times, 0.5), "p99": quantile(times, 0.99)}, nil
	}
	var partial bool
	if r.made, partial, err = r.sides.measure(ctx, inner); partial {
		err = ctx.Err()
	}
	return r, err
}

// delayed is the way to the same server with a delay on it.
func delayed(dsn string, d time.Duration) (string, func(), error) {
	if d == 0 {
		return dsn, func() {}, nil
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", nil, fmt.Errorf("read connection string: %w", err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	proxy, err := delay.Listen(d, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	if err != nil {
		return "", nil, err
	}
	dsn, err = through(dsn, proxy.Address())
	return dsn, func() { _ = proxy.Close() }, err
}

// roadName says how long a round trip really takes there.
func roadName(ctx context.Context, db *database.Database, d time.Duration) string {
	const pings = 50
	best := time.Hour
	for range pings {
		began := time.Now()
		if db.Ping(ctx) == nil {
			best = min(best, time.Since(began))
		}
	}
	name := "loopback"
	if d > 0 {
		name = d.String() + " delay"
	}
	return fmt.Sprintf("%s (round trip %.2f ms)", name, best.Seconds()*1000)
}

func (e Chains) finding(roads []*road, partial bool, l layer) claims.Finding {
	f := claims.Finding{Partial: partial}
	var ratios []ratio.Ratio
	saved := 0.0
	for _, r := range roads {
		faster := against(r.made[0], r.made[1], "median")
		ratios = append(ratios, faster)
		one, chained := middle(r.made[0]["median"]), middle(r.made[1]["median"])
		saved = max(saved, one-chained)
		f.Measured += fmt.Sprintf("%s: median %.1f → %.1f ms, %s; ", r.name, one, chained, faster)
		for _, figure := range r.sides.listed(r.made, map[string]string{"median": "ms", "p99": "ms"}) {
			figure.Name = r.name + ", " + figure.Name
			f.Figures = append(f.Figures, figure)
		}
	}
	first := roads[0].perOne
	f.Measured += fmt.Sprintf("an operation of %d statements takes %d round trips instead of %d", first[1].Statements, first[1].RoundTrips, first[0].RoundTrips)
	var why string
	if f.Verdict, why = e.judge(ratios, saved, partial); why != "" {
		f.Measured += "; " + why
	}
	f.Conditions = append(l.conditions,
		claims.Condition{Name: "delay", Text: "a TCP proxy of our own that holds back what clients send (lab/delay), not a network: no loss, no jitter, one machine; the round trip is what was measured through it"},
		claims.Condition{Name: "load", Text: fmt.Sprintf("%d clients on a connection each, %d temp tables per operation, all pooled", clients, c16Load.tables)},
		claims.Condition{Name: "judged by", Text: fmt.Sprintf("median of an operation: confirmed when surely shorter on every way and by %.0f ms on one of them, refuted when surely longer on one", c16Claimed)})
	return f
}

func (Chains) judge(ratios []ratio.Ratio, savedMS float64, partial bool) (claims.Verdict, string) {
	sure := len(ratios) == len(c16Delays) && !partial
	for _, r := range ratios {
		switch {
		case !r.Sure() || partial:
			return claims.Inconclusive, "too few turns"
		case r.Low > 1:
			return claims.Refuted, "slower on one of the ways"
		case r.High >= 1:
			sure = false
		}
	}
	switch {
	case !sure:
		return claims.Inconclusive, "within the noise"
	case savedMS < c16Claimed:
		return claims.Inconclusive, fmt.Sprintf("faster everywhere, but by %.0f ms at most", savedMS)
	}
	return claims.Confirmed, ""
}
