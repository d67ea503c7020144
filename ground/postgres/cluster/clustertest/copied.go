package clustertest

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/test/patience"
)

// Copied is the spec of a cluster whose data are copied from what initdb made once on this machine for the engine of
// the tests. That takes a seventh of initdb's processor time. All such clusters have the same system identifier. Where
// there can be no such data, initdb makes new ones.
func Copied(s cluster.Spec) cluster.Spec {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Max)
	defer cancel()
	if s.Engine == Engine() {
		s.DataOf, _ = initialised(ctx)
	}
	return s
}

// initialised is a cluster in the user's cache that never runs. It is made whole or not at all, by one test binary
// while others wait.
func initialised(ctx context.Context) (*cluster.Cluster, error) {
	key, err := cluster.DataKey(ctx, Engine())
	if err != nil {
		return nil, err
	}
	store := cluster.Open(filepath.Join(dirs.Cache(), "test"))
	store.LockWait = patience.Max
	name := "data-" + key
	c, err := store.Find(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	c, err = store.Create(ctx, name, Spec())
	if errors.Is(err, cluster.ErrExists) {
		return store.Find(name)
	}
	return c, err
}
