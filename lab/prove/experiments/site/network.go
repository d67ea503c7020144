package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/lab/prove/delay"
	"plimsoll/lab/stats"
)

// RoundTrip is the median round trip of an empty query.
func RoundTrip(ctx context.Context, dsn string) (time.Duration, error) {
	const warm, pings = 50, 201
	var times []time.Duration
	err := postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		for range warm + pings {
			began := time.Now()
			if err := conn.Ping(ctx); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return stats.Percentile(times[warm:], 0.5), nil
}

// Delayed is a path to the same server with a delay; without one there is no proxy.
func Delayed(dsn string, d time.Duration) (string, *delay.Proxy, error) {
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
	if dsn, err = WithCache(dsn, proxy.Address()); err != nil {
		return "", nil, errors.Join(err, proxy.Close())
	}
	return dsn, proxy, nil
}
