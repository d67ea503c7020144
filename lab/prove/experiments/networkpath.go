package experiments

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/prove/delay"
	"plimsoll/lab/prove/trial"
	"plimsoll/platform/database"
)

// networkPath is a way to the server: directly, or through a delaying proxy. Its address is known while it is open.
type networkPath struct {
	address
	server *address
	delay  time.Duration
}

func (p *networkPath) name() string {
	if p.delay == 0 {
		return "loopback"
	}
	return p.delay.String() + " delay"
}

// open the path until the part of the experiment ends.
func (p *networkPath) open(r *trial.Record) error {
	dsn, leave, err := delayed(p.server.dsn, p.delay)
	if err != nil {
		return err
	}
	r.Close(leave)
	p.dsn = dsn
	return nil
}

// roundTrip is the measured round trip on the path: the shortest of several.
func (p *networkPath) roundTrip(ctx context.Context) (time.Duration, error) {
	const pings = 50
	db, err := database.Open(ctx, p.dsn, database.Options{Connections: 1})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	best := time.Hour
	for range pings {
		began := time.Now()
		if db.Ping(ctx) == nil {
			best = min(best, time.Since(began))
		}
	}
	return best, nil
}

// delayed is a path to the same server with a delay.
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
	dsn, err = withCache(dsn, proxy.Address())
	return dsn, func() { _ = proxy.Close() }, err
}

// statementCache holds every text of the experiments, so that no side prepares one twice.
const statementCache = "8192"

// withCache gives a DSN the statement cache of the experiments, and another address unless that is empty.
func withCache(dsn, address string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the cluster's connection string is no URL")
	}
	query := u.Query()
	query.Set("statement_cache_capacity", statementCache)
	if address != "" {
		u.Host = address
		query.Del("host")
		query.Del("port")
	}
	u.RawQuery = query.Encode()
	return u.String(), nil
}
