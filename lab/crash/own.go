package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"syscall"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
)

// ownName is how a cluster of a test is called: with the process that made it.
var ownName = regexp.MustCompile(`^crash-([0-9]+)-[0-9]+$`)

// OwnCluster makes a cluster that is removed with its test. The holder of its load lock is using it.
func OwnCluster(ctx context.Context, clusters *cluster.Store, spec cluster.Spec) (c *cluster.Cluster, load *lock.Lock,
	err error) {
	if err := sweep(ctx, clusters); err != nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("crash-%d-%d", os.Getpid(), rand.IntN(1e6))
	if c, err = clusters.Create(ctx, name, spec); err != nil {
		return nil, nil, err
	}
	if load, err = c.TakeForLoad(ctx); err != nil {
		return nil, nil, errors.Join(err, clusters.Destroy(context.WithoutCancel(ctx), name))
	}
	return c, load, nil
}

// sweep removes clusters of tests that were killed. Their lock is free, and the process in their name is gone.
func sweep(ctx context.Context, clusters *cluster.Store) error {
	all, err := clusters.List()
	if err != nil {
		return err
	}
	for _, c := range all {
		found := ownName.FindStringSubmatch(c.Name())
		if found == nil {
			continue
		}
		pid, err := strconv.Atoi(found[1])
		if err != nil || pid == os.Getpid() || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		load, err := c.TakeForLoad(ctx)
		if err != nil {
			continue // another process is at it
		}
		err = remove(ctx, clusters, c)
		_ = load.Release()
		if err != nil {
			return fmt.Errorf("remove the cluster of a killed test: %w", err)
		}
	}
	return nil
}

// remove a cluster of a killed test, whose servers may still be ending; its standbys first.
func remove(ctx context.Context, clusters *cluster.Store, c *cluster.Cluster) error {
	all, err := clusters.List()
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Follows() == c.Name() {
			if err := remove(ctx, clusters, r); err != nil {
				return err
			}
		}
	}
	if _, err := clusters.Find(c.Name()); errors.Is(err, fs.ErrNotExist) {
		return nil // it followed one that was removed before
	}
	if err := clusters.Down(ctx, c.Name(), cluster.Immediate); err != nil {
		return err
	}
	return clusters.Destroy(ctx, c.Name())
}
