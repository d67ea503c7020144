package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/lab/prove/delay"
	"plimsoll/lab/stats"
)

// RoundTrip is the median round trip of an empty query.
func RoundTrip(ctx context.Context, dsn string) (took time.Duration, err error) {
	err = postgres.With(ctx, dsn, func(conn *pgx.Conn) error {
		took, err = pinged(ctx, conn)
		return err
	})
	return took, err
}

func pinged(ctx context.Context, conn *pgx.Conn) (time.Duration, error) {
	const warm, pings = 50, 201
	var times []time.Duration
	for range warm + pings {
		began := time.Now()
		if err := conn.Ping(ctx); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return stats.Percentile(times[warm:], 0.5), nil
}

// serverOf a connection string, as it is dialled from here.
func serverOf(dsn string) (dial func(context.Context) (net.Conn, error), err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read connection string: %w", err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	return func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}, nil
}

// ListenWithin lets the server of an own cluster listen in networks, too: for programs there it is on another machine.
func (o *OwnCluster) ListenWithin(networks ...*delay.Network) (options cluster.StartOptions, err error) {
	rules, err := os.OpenFile(filepath.Join(o.DataDir(), "pg_hba.conf"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return options, err
	}
	_, err = fmt.Fprintf(rules, "host all all %s scram-sha-256\n", delay.Addresses)
	var addresses []string
	for _, n := range networks {
		addresses = append(addresses, n.Here().String())
	}
	options.Settings = []profile.Setting{{Name: "listen_addresses", Value: strings.Join(addresses, ",")}}
	return options, errors.Join(err, rules.Close())
}

// Within is the way to a server for programs in a network where it listens, and the median round trip of an empty query
// from there.
func Within(ctx context.Context, n *delay.Network, dsn string) (within string, took time.Duration, err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", 0, fmt.Errorf("read connection string: %w", err)
	}
	address := net.JoinHostPort(n.Here().String(), strconv.Itoa(int(config.Port)))
	if within, err = WithCache(dsn, address); err != nil {
		return "", 0, err
	}
	if config, err = pgx.ParseConfig(within); err != nil {
		return "", 0, fmt.Errorf("read connection string: %w", err)
	}
	config.DialFunc = n.Dial
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", 0, fmt.Errorf("connect through a network of its own: %w", err)
	}
	took, err = pinged(ctx, conn)
	return within, took, errors.Join(err, conn.Close(ctx))
}

// Delayed is a path to the same server with a delay; without one there is no proxy.
func Delayed(dsn string, d time.Duration) (string, *delay.Proxy, error) {
	if d == 0 {
		return dsn, nil, nil
	}
	server, err := serverOf(dsn)
	if err != nil {
		return "", nil, err
	}
	proxy, err := delay.Listen(d, server)
	if err != nil {
		return "", nil, err
	}
	if dsn, err = WithCache(dsn, proxy.Address()); err != nil {
		return "", nil, errors.Join(err, proxy.Close())
	}
	return dsn, proxy, nil
}
