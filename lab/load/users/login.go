package users

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// LogInParallel is how many users log in at the same time: enough to be quick,
	// few enough not to be the load test.
	LogInParallel = 32
	// logInTries for each user; between two rounds of them is logInPause. A connection that is lost once among
	// thousands must not end a run.
	logInTries = 3
	logInPause = time.Second
	// LateMost is the share of users who may begin without a session. They log in when they act, and fail if they
	// cannot: as many would not change a score by more than this.
	LateMost = 0.01
	// hopeless is how many failures end a round at once, when those who are in are not four times as many.
	hopeless = 20
)

// Late are users who could not log in before the load; each tries again when it acts.
type Late struct {
	Users int
	Err   error // of one of them
}

// LogIn logs in the users [from, to) of a segment. Who cannot is tried again; a few may remain late. done, if not nil,
// is raised by one for each that is in.
func LogIn(ctx context.Context, from, to int, segment Segment, player Player, done *atomic.Int64) (Late, error) {
	var left []int
	segment.Each(from, to, func(user int) { left = append(left, user) })
	all := len(left)
	door := &door{player: player, done: done}
	for try := range logInTries {
		if try > 0 {
			select {
			case <-time.After(logInPause):
			case <-ctx.Done():
			}
		}
		if left = door.admit(ctx, left); ctx.Err() != nil {
			return Late{}, ctx.Err()
		}
		if len(left) == 0 {
			return Late{}, nil
		}
		if door.in == 0 || door.closed() {
			break
		}
	}
	if len(left) > int(LateMost*float64(all)) {
		return Late{}, fmt.Errorf("%d of %d users are logged in: %w", door.in, all, door.err)
	}
	return Late{len(left), door.err}, nil
}

// door is where users come in.
type door struct {
	player Player
	done   *atomic.Int64
	mu     sync.Mutex
	in     int
	failed int // of this round
	err    error
}

func (d *door) closed() bool { return d.failed >= hopeless && 4*d.failed > d.in }

// admit logs users in; those who could not are returned, in order.
func (d *door) admit(ctx context.Context, users []int) (outside []int) {
	d.failed, d.err = 0, nil
	var group errgroup.Group
	group.SetLimit(LogInParallel)
	first := -1
	for i, user := range users {
		d.mu.Lock()
		closed := d.closed()
		d.mu.Unlock()
		if ctx.Err() != nil || closed {
			d.mu.Lock()
			outside = append(outside, users[i:]...)
			d.mu.Unlock()
			break
		}
		group.Go(func() error {
			err := d.player.LogIn(ctx, user)
			d.mu.Lock()
			defer d.mu.Unlock()
			if err == nil {
				d.in++
				if d.done != nil {
					d.done.Add(1)
				}
				return nil
			}
			d.failed++
			if outside = append(outside, user); first < 0 || user < first {
				first, d.err = user, fmt.Errorf("log in user %d: %w", user+1, err)
			}
			return nil
		})
	}
	_ = group.Wait() // the functions give no error
	slices.Sort(outside)
	return outside
}
