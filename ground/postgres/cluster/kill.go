package cluster

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// Kill ends the postmaster and all its children with SIGKILL, as a crash would, and returns when they have ended. The
// parent reaps them.
func (c *Cluster) Kill(ctx context.Context) error {
	pm, err := c.postmaster()
	if err != nil {
		return c.wrap(err)
	}
	if pm.PID == 0 {
		return problem.New(problem.Usage, c.wrap(errNotRunning), "start it: plimsoll up "+c.Name())
	}
	family, err := pm.Descendants()
	if err != nil {
		return c.wrap(err)
	}
	if err := pm.KillTree(ctx); err != nil && !errors.Is(err, process.ErrGone) {
		return c.wrap(environment(err))
	}
	for _, id := range append(family, pm) {
		if err := id.AwaitEnd(ctx); err != nil {
			return c.wrap(fmt.Errorf("wait for process %d to end: %w", id.PID, err))
		}
	}
	return nil
}
