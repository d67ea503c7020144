package layer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/experiments/site"
	"plimsoll/lab/prove/trial"
)

// networkPath is a way to the server: directly, or through a delaying proxy. Its address is known while it is open.
type networkPath struct {
	site.Address
	server *site.Address
	delay  time.Duration
	took   time.Duration // the measured round trip
}

func (p *networkPath) name() string {
	if p.delay == 0 {
		return "loopback"
	}
	return p.delay.String() + " delay"
}

// checkDelay is the check that a path's measured round trip is true to its delay.
const checkDelay = "delay"

// open the path until the part of the experiment ends, tuned to its delay.
func (p *networkPath) open(ctx context.Context, r *trial.Record) error {
	dsn, proxy, err := delayed(p.server.DSN, p.delay)
	if err != nil {
		return err
	}
	p.DSN = dsn
	if proxy == nil {
		p.took, err = roundTrip(ctx, dsn)
		return err
	}
	r.AtEnd(proxy.Close)
	var missed time.Duration
	p.took, missed, err = proxy.Tune(func() (time.Duration, error) { return roundTrip(ctx, p.server.DSN) },
		func() (time.Duration, error) { return roundTrip(ctx, dsn) })
	if err == nil {
		p.judge(r, missed, "before the turns")
	}
	return err
}

// check that the delay is still true after the turns.
func (p *networkPath) check(ctx context.Context, r *trial.Record) error {
	if p.delay == 0 {
		return nil
	}
	without, err := roundTrip(ctx, p.server.DSN)
	if err != nil {
		return err
	}
	tcp, err := roundTrip(ctx, p.DSN)
	if err == nil {
		p.judge(r, tcp-without-p.delay, "after the turns")
	}
	return err
}

// judge by how much a round trip misses the delay.
func (p *networkPath) judge(r *trial.Record, missed time.Duration, when string) {
	if missed.Abs() > delay.Precise {
		r.Fail(checkDelay, fmt.Sprintf("%s: the round trip %s misses it by %.2f ms, more than %.2f", p.name(), when,
			missed.Seconds()*1000, delay.Precise.Seconds()*1000))
	}
}

// roundTrip is the median round trip of an empty query.
func roundTrip(ctx context.Context, dsn string) (time.Duration, error) {
	const warm, pings = 50, 201
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var times []time.Duration
	for range warm + pings {
		began := time.Now()
		if err := conn.Ping(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	times = times[warm:]
	slices.Sort(times)
	return times[pings/2], nil
}

// delayed is a path to the same server with a delay; without one there is no proxy.
func delayed(dsn string, d time.Duration) (string, *delay.Proxy, error) {
	if d == 0 {
		return dsn, nil, nil
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
	if dsn, err = site.WithCache(dsn, proxy.Address()); err != nil {
		return "", nil, errors.Join(err, proxy.Close())
	}
	return dsn, proxy, nil
}
