package cluster

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// Down stops a running cluster, whatever process keeps it, and returns when it has stopped. A stopped cluster stays as
// it is.
func (s *Store) Down(ctx context.Context, name string, mode StopMode) error {
	c, err := s.Find(name)
	if err != nil {
		return err
	}
	owner, held, err := lock.HeldBy(s.lockPath(name))
	if err != nil {
		return environment(c.wrap(err))
	}
	if held && owner.What == ownerKeeper {
		return c.wrap(c.downKeeper(ctx, owner, mode))
	}
	return c.wrap(c.downServer(ctx, mode))
}

// downKeeper signals the keeper, which may still be starting the server.
func (c *Cluster) downKeeper(ctx context.Context, keeper lock.Owner, mode StopMode) error {
	sig := syscall.SIGTERM
	if mode == Immediate {
		sig = syscall.SIGQUIT
	}
	// The process that holds the lock is not visible: a keeper in another container.
	if err := keeper.Signal(sig); err != nil && !errors.Is(err, process.ErrGone) {
		return environment(err)
	}
	if err := c.awaitSaying(ctx, keeper.ID); err != nil {
		return err
	}
	// The server of a killed keeper ends too, but not at once.
	return c.downServer(ctx, mode)
}

// downServer signals the server itself: its parent is gone, or is a test or an experiment, which we must not end.
func (c *Cluster) downServer(ctx context.Context, mode StopMode) error {
	pm, err := c.postmaster()
	if err != nil || pm.PID == 0 {
		return err
	}
	if err := pm.Signal(mode.signal()); err != nil && !errors.Is(err, process.ErrGone) {
		return environment(err)
	}
	return c.awaitSaying(ctx, pm)
}

// The last checkpoint may take minutes.
const downSayEvery = 5 * time.Second

func (c *Cluster) awaitSaying(ctx context.Context, id process.ID) error {
	for {
		slice, cancel := context.WithTimeout(ctx, downSayEvery)
		err := id.AwaitEnd(slice)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return problem.WithHint(fmt.Errorf("still stopping (pid %d): %w", id.PID, ctx.Err()),
				"it continues to stop; see "+c.LogFile())
		}
		c.store.say("still stopping %s: the server writes its last checkpoint", c.Name())
	}
}
