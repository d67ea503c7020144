package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/problem"
)

// serving is the cluster that serves the load, or whose content is checked.
func (l *lab) serving() *cluster.Cluster {
	if l.promoted {
		return l.standby
	}
	return l.cluster
}

// survivor is the cluster whose disk is left after a power cut.
func (l *lab) survivor() *cluster.Cluster {
	if l.standby != nil {
		return l.standby
	}
	return l.cluster
}

func (l *lab) standbySpec() cluster.Spec {
	return cluster.Spec{ReplicaOf: l.cluster, Sync: !l.Asynchronous, SocketOnly: true}
}

// makeStandby of the stopped primary, and keeps its data as they are when both have been stopped in order.
func (l *lab) makeStandby(ctx context.Context) error {
	l.step("creating a standby")
	p, err := l.cluster.Start(ctx, cluster.StartOptions{})
	if err != nil {
		return err
	}
	after := context.WithoutCancel(ctx)
	name := fmt.Sprintf("crash-%d-%d", os.Getpid(), rand.IntN(1e6))
	l.standby, err = l.Clusters.Create(ctx, name, l.standbySpec())
	if err != nil {
		return errors.Join(err, p.Stop(after, cluster.Fast))
	}
	if err := l.startStandby(ctx, cluster.StartOptions{}); err != nil {
		return errors.Join(err, p.Kill(after))
	}
	// The primary first: it sends all that it has written.
	err = errors.Join(p.Stop(after, cluster.Fast), l.follows.Stop(after, cluster.Fast))
	l.follows = nil
	if err != nil {
		return err
	}
	return l.standby.KeepData(ctx)
}

// startStandby starts it, if there is one, and returns when it follows.
func (l *lab) startStandby(ctx context.Context, options cluster.StartOptions) (err error) {
	if l.standby == nil {
		return nil
	}
	l.promoted = false
	if l.follows, err = l.standby.Start(ctx, options); err != nil {
		return err
	}
	return l.standby.Join(ctx)
}

func (l *lab) killStandby(ctx context.Context) error {
	if l.follows == nil {
		return nil
	}
	p := l.follows
	l.follows = nil
	return p.Kill(context.WithoutCancel(ctx))
}

// rewind both to what they were before the load.
func (l *lab) rewind(ctx context.Context) error {
	if l.standby != nil {
		if err := l.standby.Rewind(ctx, unchanged); err != nil {
			return err
		}
	}
	return l.cluster.Rewind(ctx, unchanged)
}

// destroy what the test made, the standby first.
func (l *lab) destroy(ctx context.Context) (err error) {
	err = l.killStandby(ctx) // an error may have left it
	if l.standby != nil {
		err = errors.Join(err, l.Clusters.Destroy(ctx, l.standby.Name()))
	}
	for _, place := range l.places {
		if place != l.cluster && place != l.standby {
			err = errors.Join(err, l.Clusters.Destroy(ctx, place.Name()))
		}
	}
	return errors.Join(err, l.Clusters.Destroy(ctx, l.cluster.Name()))
}

// takeOver promotes the standby, which may have to recover first, and checks its content. The primary is gone.
func (l *lab) takeOver(ctx context.Context, one *Cut, acks []ack, at time.Time) (err error) {
	began := time.Now()
	if l.follows == nil { // its power was cut, too
		if l.follows, err = l.standby.Start(ctx, cluster.StartOptions{}); err != nil {
			if ctx.Err() != nil || problem.ClassOf(err) == problem.Environment {
				return err
			}
			one.Damage = append(one.Damage, "the standby does not recover: "+err.Error())
			one.Acknowledged, one.Lost = len(acks), len(acks)
			return nil
		}
	}
	defer func() { err = errors.Join(err, l.killStandby(ctx)) }()
	l.promoted = true
	defer func() { l.promoted = false }()
	if err := l.promoteHere(ctx); err != nil {
		return err
	}
	one.RecoveryS = time.Since(began).Seconds()
	if one.Damage, err = leftovers(l.standby.DataDir()); err != nil {
		return err
	}
	return l.takeStock(ctx, l.standby, one, acks, at)
}

// promoteHere changes the data alone: the next round rewinds them, and the cluster is a standby again.
func (l *lab) promoteHere(ctx context.Context) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "SELECT pg_promote(false)"); err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	for {
		var standby bool
		err := conn.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby)
		if err != nil || !standby {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// succeed has the standby take the place of a primary that is gone while users go on, and makes a new standby in the
// old one's place: under the same names, so that workers find whichever accepts writes.
func (l *lab) succeed(ctx context.Context) (*cluster.Postmaster, error) {
	p, old := l.follows, l.cluster
	l.follows = nil
	if _, err := l.Clusters.Promote(ctx, l.standby.Name(), true); err != nil {
		return p, err
	}
	again, err := l.Clusters.Find(l.standby.Name())
	if err != nil {
		return p, err
	}
	l.cluster, l.standby = again, nil
	if err := l.Clusters.Destroy(context.WithoutCancel(ctx), old.Name()); err != nil {
		return p, err
	}
	if l.standby, err = l.Clusters.Create(ctx, old.Name(), l.standbySpec()); err != nil {
		return p, err
	}
	return p, l.startStandby(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency})
}

// workersDSN names both servers: a worker uses the one that accepts writes.
func (e *erpWork) workersDSN() string {
	if e.standby == nil {
		return e.dsn()
	}
	return e.cluster.SocketDSN(erpDatabase).Or(e.standby.SocketDSN(erpDatabase))
}
