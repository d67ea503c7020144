package users

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// LogInParallel is how many users log in at the same time: enough to be quick,
// few enough not to be the load test.
const LogInParallel = 32

// LogIn logs in the users [from, to) of a segment. It stops at the first that cannot. done, if not
// nil, is raised by one for each that is in.
func LogIn(ctx context.Context, from, to int, segment Segment, player Player, done *atomic.Int64) error {
	group, entering := errgroup.WithContext(ctx)
	group.SetLimit(LogInParallel)
	segment.Each(from, to, func(user int) {
		if entering.Err() != nil {
			return
		}
		group.Go(func() error {
			if err := player.LogIn(entering, user); err != nil {
				return fmt.Errorf("log in user %d: %w", user+1, err)
			}
			if done != nil {
				done.Add(1)
			}
			return nil
		})
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
