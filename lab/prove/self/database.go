package self

import (
	"context"
	"errors"
	"time"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/lab/system"
)

// downWithin bounds its end, also after Ctrl-C.
const downWithin = time.Minute

// Temporary makes a server of an engine for the time of a test.
func Temporary(clusters *cluster.Store, engine string) func(context.Context) (string, func() error, error) {
	return func(ctx context.Context) (dsn string, down func() error, err error) {
		c, remove, err := system.Temporary(ctx, clusters, "prove-self",
			cluster.Spec{Engine: engine, Memory: "512MB", SocketOnly: true})
		if err != nil {
			return "", nil, err
		}
		server, err := c.Start(ctx, cluster.StartOptions{})
		if err != nil {
			return "", nil, errors.Join(err, remove())
		}
		down = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), downWithin)
			defer cancel()
			return errors.Join(server.Stop(ctx, cluster.Immediate), remove())
		}
		if err := postgres.Execute(ctx, c.DSN("").Secret(), "CREATE DATABASE "+databaseName); err != nil {
			return "", nil, errors.Join(err, down())
		}
		return c.DSN(databaseName).Secret(), down, nil
	}
}

// databaseName in it.
const databaseName = "self"
