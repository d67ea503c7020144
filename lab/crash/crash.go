// Package crash ends a PostgreSQL server under load by a simulated power cut, a kill or a stop, lets it recover, and
// counts what it had acknowledged and lost. It works on a cluster that it creates for this and removes.
package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"plimsoll/ground/host/kept"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
	"plimsoll/lab/crash/image"
	"plimsoll/lab/session"
	"plimsoll/platform/worker/shape"
)

// Ending is how a server ends.
type Ending string

const (
	PowerCut  Ending = "power-cut"
	Backend   Ending = "kill-backend"
	All       Ending = "kill-all"
	Worker    Ending = "kill-worker" // a worker of the ERP; the server lives
	Immediate Ending = "stop-immediate"
	// Planned stops lose nothing, whatever the mode of commit.
	Orderly    Ending = "stop-orderly" // pg_ctl stop -m fast
	Smart      Ending = "stop-smart"   // when all sessions have ended
	Down       Ending = "stop-down"    // plimsoll down
	StopWorker Ending = "stop-worker"  // SIGTERM to a worker of the ERP; the server lives
)

// planned says that nothing may be lost by it.
func (w Ending) planned() bool {
	switch w {
	case Orderly, Smart, Down, StopWorker:
		return true
	}
	return false
}

// leavesServer says that the server lives on.
func (w Ending) leavesServer() bool { return w == Worker || w == StopWorker }

// Durability is how commits are made.
type Durability string

const (
	Sync       Durability = "sync"        // flushed before they are acknowledged
	Group      Durability = "group"       // the same, several at once; of the ERP's workers
	DurableAck Durability = "durable-ack" // flushed before the acknowledgement, after the locks are released; the same
	Async      Durability = "async"       // acknowledged before they are flushed: what is lost is counted
	Unsafe     Durability = "unsafe"      // fsync=off
)

// Load is what runs on the server.
type Load string

const (
	SQL Load = "sql" // sessions that write small documents of our own
	ERP Load = "erp" // the ERP's operations: users of application-server processes, over HTTP
)

const (
	SeedsDefault    = 20
	SessionsDefault = 30
	DurationDefault = 3 * time.Second
	WorkersDefault  = 2
	// PerLoadDefault is how many power cuts share a load.
	PerLoadDefault = 50
)

// Options of a crash test.
type Options struct {
	Clusters   *cluster.Store
	Spec       cluster.Spec // engine, profile, memory and further settings
	Ending     Ending
	Durability Durability
	Load       Load
	Sessions   int
	Duration   time.Duration // of a load
	Seeds      int           // power cuts, each with a recovery; rounds of any other way
	PerLoad    int           // power cuts of one load. Defaults to PerLoadDefault
	Recoveries int           // of power cuts at the same time. Defaults to one per core
	Seed       uint64        // the first
	Model      image.Model   // Defaults to image.Strict
	// FlushLatency is the minimum time of a flush.
	FlushLatency time.Duration
	// Broken plants a fault in the library that records the journal: the test must notice it.
	Broken storage.Broken
	// Serve starts a worker of the ERP, with Shape; there are Workers of them.
	Serve   []string
	Shape   shape.Name
	Workers int
	// Kept is a file with the result of each seed, from which a later run continues with the next seed. Empty: none.
	Kept string
	// Promote ends the primary for good: its standby is promoted, and its content is checked.
	Promote bool
	// Asynchronous makes the primary's commits not wait for the standby.
	Asynchronous bool
	// For ends the run after a while, though seeds are left; zero: never.
	For time.Duration
	// Progress is called before each cut.
	Progress func(Progress)
}

// Progress of a test.
type Progress struct {
	Done, All int // seeds
	Left      time.Duration
	What      string
}

// check rejects options that exclude each other.
func (o Options) check() error {
	usage := func(text, hint string) error { return problem.New(problem.Usage, errors.New(text), hint) }
	switch {
	case o.Load == SQL && (o.Durability == DurableAck || o.Durability == Group):
		return usage(string(o.Durability)+" is a mode of the application server, which the load sql does not use",
			"use the load erp")
	case o.Promote && (o.Ending.leavesServer() || o.Ending == Backend || o.Ending == Smart || o.Ending == Down):
		return usage(string(o.Ending)+" leaves the primary running, so its standby cannot take over",
			"use --power-cut, --kill all, --stop orderly or --stop immediate")
	case o.Load == SQL && o.Ending.leavesServer():
		return usage("the load sql has no worker to end", "use the load erp")
	case o.Load == ERP && o.Ending == Smart:
		return usage("a smart stop waits for all sessions, but the ERP's workers keep theirs", "use the load sql")
	}
	return nil
}

// settings of the server: small, so that a load of seconds reaches table files and checkpoints.
func (o Options) settings() []profile.Setting {
	const why = "a test of crashes"
	commit, fsync := "on", "on"
	switch o.Durability {
	case Async:
		commit = "off"
	case Unsafe:
		fsync = "off"
	}
	buffers := "4MB"
	if o.Load == ERP {
		buffers = "16MB"
	}
	return append([]profile.Setting{
		{Name: "synchronous_commit", Value: commit, Reason: why}, {Name: "fsync", Value: fsync, Reason: why},
		{Name: "full_page_writes", Value: "on", Reason: why}, {Name: "shared_buffers", Value: buffers, Reason: why},
		{Name: "wal_recycle", Value: "on", Reason: why}, {Name: "max_wal_size", Value: "256MB", Reason: why},
	}, o.Spec.Settings...)
}

// workload is what loads the server, and what it knows must be there afterwards.
type workload interface {
	// prepare a server that runs.
	prepare(ctx context.Context) error
	// load the server; see lab.load.
	load(ctx context.Context, last func() uint64, end func(backends []int) error) (*loaded, error)
	// stock compares the content with what was acknowledged.
	stock(ctx context.Context, in *cluster.Cluster, one *Cut, acks []ack, at time.Time) error
	// database that it works on.
	database() string
}

// lab is the cluster of one test.
type lab struct {
	Options
	workload
	cluster  *cluster.Cluster
	standby  *cluster.Cluster // nil: there is none
	follows  *cluster.Postmaster
	promoted bool               // the standby serves
	places   []*cluster.Cluster // where power cuts are examined
	report   *Report
	kept     *kept.File
	began    time.Time
	first    int // seeds that were done before
}

// Run makes the cluster, tests, and removes it again. When ctx ends it returns what was seen until then, and the error.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Model == "" {
		o.Model = image.Strict
	}
	if o.PerLoad < 1 {
		o.PerLoad = PerLoadDefault
	}
	if o.Recoveries < 1 {
		o.Recoveries = runtime.NumCPU()
	}
	l := &lab{Options: o, report: o.report()}
	if o.Kept != "" {
		if l.kept, err = openKept(ctx, o.Kept, l.report); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.kept.Close()) }()
	}
	l.first = len(l.report.Cuts)
	if l.first < l.Seeds {
		err = l.run(ctx)
	}
	l.report.Left = l.Seeds - len(l.report.Cuts)
	if ctx.Err() != nil {
		err = problem.New(problem.Interrupted, fmt.Errorf("interrupted after %d of "+
			"%d rounds; the cluster was removed", len(l.report.Cuts), l.Seeds), l.hintInterrupted())
	}
	return l.report, err
}

func (l *lab) hintInterrupted() string {
	if l.kept != nil {
		return "the same command continues with the next seed"
	}
	return "--keep FILE stores the results, so that the same command continues with the next seed"
}

func (l *lab) run(ctx context.Context) (err error) {
	l.began = time.Now()
	l.step("creating a cluster")
	l.Spec.Settings, l.Spec.SocketOnly = l.settings(), true
	if l.Promote {
		l.Spec.Log = cluster.ReplicaLog
	}
	var load *lock.Lock
	if l.cluster, load, err = OwnCluster(ctx, l.Clusters, l.Spec); err != nil {
		return err
	}
	defer func() {
		_ = load.Release() // its file goes with the cluster
		err = errors.Join(err, l.destroy(context.WithoutCancel(ctx)))
	}()
	l.report.Engine = l.cluster.Server().String()
	l.workload = &documents{l}
	if l.Load == ERP {
		l.workload = &erpWork{lab: l}
	}
	if err := l.prepare(ctx); err != nil {
		return err
	}
	switch {
	case l.Ending == PowerCut:
		return l.powerCuts(ctx)
	case l.Load == ERP:
		return l.erpEnds(ctx, l.workload.(*erpWork))
	}
	return l.ends(ctx)
}

// step says what is being done, and how long the rest will take by the pace so far.
func (l *lab) step(what string) {
	p := Progress{Done: len(l.report.Cuts), All: l.Seeds, What: what}
	if here := p.Done - l.first; here > 0 {
		p.Left = time.Since(l.began) / time.Duration(here) * time.Duration(p.All-p.Done)
	}
	l.Progress(p)
}

// finished says that no further seed is to be begun.
func (l *lab) finished() bool {
	return len(l.report.Cuts) >= l.Seeds || l.overtime()
}

func (l *lab) overtime() bool { return l.For > 0 && time.Since(l.began) >= l.For }

// turns are made until no further seed is to be begun.
func (l *lab) turns(ctx context.Context, play func(ctx context.Context, turn int) error) error {
	made := 0
	_, err := session.Session[int]{
		Next: func() (int, bool) { return made, !l.finished() },
		Make: func(ctx context.Context, turn int) error {
			made++
			return play(ctx, turn)
		},
	}.All(ctx)
	return cmp.Or(err, ctx.Err())
}

// keepCut keeps what a seed showed.
func (l *lab) keepCut(one Cut) error {
	l.report.Cuts = append(l.report.Cuts, one)
	return l.kept.Add(line{Cut: &one})
}

// loadDone counts a load.
func (l *lab) loadDone(one loadLine) error {
	l.report.count(one)
	return l.kept.Add(line{Load: &one})
}

// prepare makes the tables, and a copy of the data that were cleanly shut down.
func (l *lab) prepare(ctx context.Context) error {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{})
	if err != nil {
		return err
	}
	err = l.workload.prepare(ctx)
	if err := errors.Join(err, p.Stop(context.WithoutCancel(ctx), cluster.Fast)); err != nil {
		return err
	}
	if l.Promote {
		if err := l.makeStandby(ctx); err != nil {
			return err
		}
	}
	return l.cluster.KeepData(ctx)
}

// ends loads the server and ends it, once for each seed.
func (l *lab) ends(ctx context.Context) error {
	return l.turns(ctx, func(ctx context.Context, turn int) error {
		l.step(string(l.Ending))
		if turn > 0 {
			if err := l.rewind(ctx); err != nil {
				return err
			}
		}
		one := Cut{Seed: l.Seed + uint64(len(l.report.Cuts))}
		acks, at, err := l.loadAndEnd(ctx)
		if err == nil {
			err = l.loadDone(loadLine{Operations: len(acks)})
		}
		if err == nil {
			err = l.recover(ctx, l.cluster, &one, acks, at)
		}
		if err == nil {
			err = l.keepCut(one)
		}
		return err
	})
}

func (l *lab) loadAndEnd(ctx context.Context) (acks []ack, at time.Time, err error) {
	p, err := l.cluster.Start(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency})
	if err != nil {
		return nil, at, err
	}
	after := context.WithoutCancel(ctx)
	if err := l.startStandby(ctx, cluster.StartOptions{FlushLatency: l.FlushLatency}); err != nil {
		return nil, at, errors.Join(err, p.Kill(after))
	}
	end := func(backends []int) error {
		at = time.Now()
		switch l.Ending {
		case Backend:
			return syscall.Kill(backends[0], syscall.SIGKILL) // a session that we hold, so the pid is its own
		case Smart:
			return l.stopSmart(ctx, p)
		}
		return l.stop(after, p)
	}
	loaded, err := l.workload.load(ctx, func() uint64 { return 0 }, end)
	if err == nil && l.Ending == Smart {
		err = awaitExit(ctx, p) // its sessions have ended
	}
	if err != nil {
		return nil, at, errors.Join(err, p.Kill(after))
	}
	if l.Ending == Backend {
		// The postmaster survives, ends the other sessions and recovers by itself; how it stops now makes no
		// difference.
		if err := l.awaitRecovery(ctx); err != nil {
			return nil, at, errors.Join(err, p.Kill(after))
		}
		if err := p.Stop(after, cluster.Fast); err != nil {
			return nil, at, err
		}
	}
	return loaded.acks, at, nil
}

// recover starts the server without the library and checks its content.
func (l *lab) recover(ctx context.Context, in *cluster.Cluster, one *Cut, acks []ack, at time.Time) error {
	if l.standby != nil {
		return l.takeOver(ctx, one, acks, at)
	}
	began := time.Now()
	p, err := in.Start(ctx, recovering)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if problem.ClassOf(err) == problem.Environment {
			return err
		}
		one.Damage = append(one.Damage, "the server does not recover: "+err.Error())
		one.Acknowledged, one.Lost = len(acks), len(acks)
		return nil
	}
	one.RecoveryS = time.Since(began).Seconds()
	if one.Damage, err = leftovers(in.DataDir()); err == nil {
		err = l.takeStock(ctx, in, one, acks, at)
	}
	return errors.Join(err, p.Kill(context.WithoutCancel(ctx)))
}

// recovering is the start after an end. What it makes is checked and thrown away, and the power is not cut again, so
// nothing needs to reach the disk: a recovery begins by flushing every file of the data.
var recovering = cluster.StartOptions{Settings: []profile.Setting{{Name: "fsync", Value: "off"}}}
