// Package crash cuts the power of a PostgreSQL server, kills it or stops it under load, lets it recover, and counts
// what it had acknowledged and lost. It works on a cluster that it makes for that and removes.
package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"plimsoll/lab/crash/image"
	"plimsoll/lab/postgres/cluster"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/lab/postgres/storage"
	"plimsoll/platform/problem"
)

// Way in which a server ends.
type Way string

const (
	PowerCut  Way = "power-cut"
	Backend   Way = "kill-backend"
	All       Way = "kill-all"
	Immediate Way = "stop-immediate"
	Orderly   Way = "stop-orderly"
)

// Durability is how commits are made.
type Durability string

const (
	Sync   Durability = "sync"   // flushed before they are acknowledged
	Async  Durability = "async"  // acknowledged before they are flushed: what is lost is counted
	Unsafe Durability = "unsafe" // fsync=off
)

const (
	SeedsDefault    = 20
	SessionsDefault = 8
	DurationDefault = 3 * time.Second
)

// Options of a crash test.
type Options struct {
	Clusters   *cluster.Store
	Spec       cluster.Spec // engine, profile, memory and further settings
	Way        Way
	Durability Durability
	Sessions   int
	Duration   time.Duration // of the load
	Seeds      int           // power cuts, each with a recovery; rounds of any other way
	Seed       uint64        // the first
	Model      image.Model
	// FlushLatency is what a flush takes at least.
	FlushLatency time.Duration
	// Broken is a fault in the library that keeps the journal: the test must notice.
	Broken storage.Broken
	// Progress is called before each cut.
	Progress func(done, all int, what string)
}

// settings of the server: small, so that a load of seconds reaches the files of tables, and checkpoints.
func (o Options) settings() []profile.Setting {
	const why = "a test of crashes"
	commit, fsync := "on", "on"
	switch o.Durability {
	case Async:
		commit = "off"
	case Unsafe:
		fsync = "off"
	}
	return append([]profile.Setting{
		{Name: "synchronous_commit", Value: commit, Reason: why}, {Name: "fsync", Value: fsync, Reason: why},
		{Name: "full_page_writes", Value: "on", Reason: why}, {Name: "shared_buffers", Value: "4MB", Reason: why},
		{Name: "wal_recycle", Value: "on", Reason: why}, {Name: "max_wal_size", Value: "256MB", Reason: why},
	}, o.Spec.Settings...)
}

// lab is the cluster of one test.
type lab struct {
	Options
	cluster *cluster.Cluster
	report  *Report
}

// Run makes the cluster, tests, and removes it again.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	name := fmt.Sprintf("crash-%d-%d", os.Getpid(), rand.IntN(1e6))
	o.Spec.Settings, o.Spec.SocketOnly = o.settings(), true
	o.Progress(0, o.Seeds, "making a cluster")
	c, err := o.Clusters.Create(ctx, name, o.Spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.Clusters.Destroy(context.WithoutCancel(ctx), name)) }()
	l := &lab{Options: o, cluster: c, report: &Report{Schema: Schema, Way: o.Way, Durability: o.Durability,
		Model: o.Model, Sessions: o.Sessions, DurationS: o.Duration.Seconds(), Engine: c.Server().String(),
		FlushLatencyMS: float64(o.FlushLatency) / float64(time.Millisecond), Cuts: []Cut{}}}
	if o.Way != PowerCut {
		l.report.Model = ""
	}
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	if o.Way == PowerCut {
		err = l.powerCuts(ctx)
	} else {
		err = l.ends(ctx)
	}
	return l.report, err
}

// prepare makes the tables, and a copy of the data that were cleanly shut down.
func (l *lab) prepare(ctx context.Context) error {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{})
	if err != nil {
		return err
	}
	err = l.makeTables(ctx)
	if err := errors.Join(err, p.Stop(context.WithoutCancel(ctx), cluster.Fast)); err != nil {
		return err
	}
	return l.cluster.KeepData(ctx)
}

// powerCuts loads the server once, and cuts its journal at many moments.
func (l *lab) powerCuts(ctx context.Context) error {
	dir, err := l.cluster.JournalDir()
	if err != nil {
		return err
	}
	l.Progress(0, l.Seeds, "load")
	loaded, err := l.loadWithJournal(ctx, dir)
	if err != nil {
		return err
	}
	journal, err := storage.ReadJournal(dir)
	if err != nil {
		return err
	}
	defer journal.Close()
	end := min(loaded.end, uint64(len(journal.Records)))
	if end <= loaded.begin {
		return fmt.Errorf("the journal ends at record %d, before the load began", len(journal.Records))
	}
	l.report.Records, l.report.Operations = end, len(loaded.acks)
	for i := range l.Seeds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Progress(i, l.Seeds, "power cut")
		seed := l.Seed + uint64(i)
		at := loaded.begin + 1 + rand.New(rand.NewPCG(seed, 0)).Uint64N(end-loaded.begin)
		cut := image.Cut{At: at, Seed: seed, Model: l.Model}
		err := l.cluster.Rewind(ctx, func(data string, own func(string) error) error {
			return image.Build(l.cluster.KeptData(), data, journal.Records, cut, own)
		})
		if err != nil {
			return err
		}
		one := Cut{Seed: seed, Record: at}
		if err := l.recover(ctx, &one, loaded.until(at), journal.Records[at-1].At); err != nil {
			return err
		}
		l.report.Cuts = append(l.report.Cuts, one)
	}
	return nil
}

// loadWithJournal ends with a kill: the journal is cut before it.
func (l *lab) loadWithJournal(ctx context.Context, dir string) (loaded *loaded, err error) {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{Journal: dir, FlushLatency: l.FlushLatency, Broken: l.Broken})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Kill(context.WithoutCancel(ctx))) }()
	state, err := storage.OpenState(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, state.Err(), state.Close()) }()
	loaded, err = l.load(ctx, state.Last, nil)
	return loaded, err
}

// ends loads the server and ends it, once a seed.
func (l *lab) ends(ctx context.Context) error {
	for i := range l.Seeds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Progress(i, l.Seeds, string(l.Way))
		if i > 0 {
			nothing := func(string, func(string) error) error { return nil }
			if err := l.cluster.Rewind(ctx, nothing); err != nil {
				return err
			}
		}
		one := Cut{Seed: l.Seed + uint64(i)}
		acks, at, err := l.loadAndEnd(ctx)
		if err != nil {
			return err
		}
		l.report.Operations += len(acks)
		if err := l.recover(ctx, &one, acks, at); err != nil {
			return err
		}
		l.report.Cuts = append(l.report.Cuts, one)
	}
	return nil
}

func (l *lab) loadAndEnd(ctx context.Context) (acks []ack, at time.Time, err error) {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency})
	if err != nil {
		return nil, at, err
	}
	after := context.WithoutCancel(ctx)
	end := func(backends []int) error {
		at = time.Now()
		switch l.Way {
		case Backend:
			return syscall.Kill(backends[0], syscall.SIGKILL) // of a session that we hold: the pid is its own
		case All:
			return p.Kill(after)
		case Immediate:
			return p.Stop(after, cluster.Immediate)
		default:
			return p.Stop(after, cluster.Fast)
		}
	}
	loaded, err := l.load(ctx, func() uint64 { return 0 }, end)
	if err != nil {
		return nil, at, errors.Join(err, p.Kill(after))
	}
	if l.Way == Backend {
		// The postmaster lives, ends the other sessions and recovers by itself; how it stops now changes nothing.
		if err := l.awaitRecovery(ctx); err != nil {
			return nil, at, errors.Join(err, p.Kill(after))
		}
		if err := p.Stop(after, cluster.Fast); err != nil {
			return nil, at, err
		}
	}
	return loaded.acks, at, nil
}

// recover starts the server as it is installed, without the library, and takes stock.
func (l *lab) recover(ctx context.Context, one *Cut, acks []ack, at time.Time) error {
	began := time.Now()
	p, err := l.cluster.Start(ctx, cluster.StartOptions{})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if problem.ClassOf(err) == problem.Environment {
			return err
		}
		one.Damage = append(one.Damage, "it does not recover: "+err.Error())
		one.Acknowledged, one.Lost = len(acks), len(acks)
		return nil
	}
	one.RecoveryS = time.Since(began).Seconds()
	err = l.takeStock(ctx, one, acks, at)
	return errors.Join(err, p.Kill(context.WithoutCancel(ctx)))
}
