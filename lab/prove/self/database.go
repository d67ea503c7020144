package self

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
)

// clusterName of the server that exists for the time of a test.
const clusterName = "prove-self"

// downWithin bounds its end, also after Ctrl-C.
const downWithin = time.Minute

// Temporary makes a server of an engine for the time of a test.
func Temporary(clusters *cluster.Store, engine string) func(context.Context) (string, func() error, error) {
	return func(ctx context.Context) (dsn string, down func() error, err error) {
		// One is there after a test that was killed.
		if err := clusters.Destroy(ctx, clusterName); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("remove the server of an earlier test: %w", err)
		}
		c, err := clusters.Create(ctx, clusterName, cluster.Spec{Engine: engine, Memory: "512MB", SocketOnly: true})
		if err != nil {
			return "", nil, fmt.Errorf("create a server for the test: %w", err)
		}
		t := temporary{clusters: clusters}
		if t.load, err = c.TakeForLoad(ctx); err != nil {
			return "", nil, errors.Join(err, t.down())
		}
		if t.server, err = c.Start(ctx, cluster.StartOptions{}); err != nil {
			return "", nil, errors.Join(err, t.down())
		}
		if err := postgres.Execute(ctx, c.DSN("").Secret(), "CREATE DATABASE "+databaseName); err != nil {
			return "", nil, errors.Join(err, t.down())
		}
		return c.DSN(databaseName).Secret(), t.down, nil
	}
}

// databaseName in it.
const databaseName = "self"

type temporary struct {
	clusters *cluster.Store
	load     *lock.Lock
	server   *cluster.Postmaster
}

func (t temporary) down() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	if t.server != nil {
		err = t.server.Stop(ctx, cluster.Immediate)
	}
	if t.load != nil {
		err = errors.Join(err, t.load.Remove())
	}
	return errors.Join(err, t.clusters.Destroy(ctx, clusterName))
}
