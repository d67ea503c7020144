package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"plimsoll/ground/postgres/cluster"
)

// removeWithin bounds the removal of a temporary cluster, also after Ctrl-C: with millions of files it takes long.
const removeWithin = 10 * time.Minute

// Temporary creates a cluster for the time of a measurement: what is done to its server harms nobody. One that a killed
// measurement left is removed first. remove it when its server is down.
func Temporary(ctx context.Context, clusters *cluster.Store, name string, spec cluster.Spec) (c *cluster.Cluster,
	remove func() error, err error) {
	if err := removeLeft(ctx, clusters, name); err != nil {
		return nil, nil, fmt.Errorf("remove the cluster of an earlier measurement: %w", err)
	}
	if c, err = clusters.Create(ctx, name, spec); err != nil {
		return nil, nil, err
	}
	destroy := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), removeWithin)
		defer cancel()
		return clusters.Destroy(ctx, name)
	}
	load, err := c.TakeForLoad(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, destroy())
	}
	return c, func() error { return errors.Join(load.Remove(), destroy()) }, nil
}

// removeLeft removes a cluster that nobody works on any more.
func removeLeft(ctx context.Context, clusters *cluster.Store, name string) error {
	c, err := clusters.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	load, err := c.TakeForLoad(ctx)
	if err != nil {
		return err
	}
	return errors.Join(clusters.Destroy(ctx, name), load.Release()) // its file goes with the cluster
}
