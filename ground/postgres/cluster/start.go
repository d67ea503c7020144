package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/postgres/storage"
	"plimsoll/ground/problem"
)

// StartOptions apply to one start only.
type StartOptions struct {
	Settings []profile.Setting // on the command line: they override every file
	Env      []string          // added to the server's environment
	// FlushLatency is what a flush takes at least, if that is more than the cluster's own.
	FlushLatency time.Duration
	// Journal is a folder for the journal of everything that the server writes and flushes; empty: none is kept.
	Journal string
	// Broken is a fault planted in the library that keeps the journal.
	Broken storage.Broken
	// restore allows the start that recovers a backup.
	restore bool
}

// Start runs the postmaster as a child of this process, for tests and experiments, and returns when it accepts
// connections. It dies with this process. A cancelled ctx ends a start under way, but not a running server.
func (c *Cluster) Start(ctx context.Context, opts StartOptions) (*Postmaster, error) {
	return c.startAs(ctx, "process", opts)
}

func (c *Cluster) startAs(ctx context.Context, owner string, opts StartOptions) (*Postmaster, error) {
	l, err := c.store.lock(ctx, c.Name(), owner)
	if err != nil {
		return nil, err
	}
	p, err := c.startLocked(ctx, opts, l)
	if err != nil {
		c.store.unlock(l, c.Name())
		return nil, fmt.Errorf("start cluster %s: %w", c.Name(), err)
	}
	return p, nil
}

func (c *Cluster) startLocked(ctx context.Context, opts StartOptions, l *lock.Lock) (*Postmaster, error) {
	// The cluster may have changed while we waited for the lock.
	now, err := c.reread()
	if err != nil {
		return nil, err
	}
	c.marker = now.marker
	if c.Restoring && !opts.restore {
		return nil, problem.New(problem.Environment, errors.New("its restore from a backup did not finish"),
			"destroy it and restore again: plimsoll destroy "+c.Name())
	}
	c.sayPromoted()
	if err := c.clearLeftovers(ctx); err != nil {
		return nil, err
	}
	srv, err := c.findServer(ctx)
	if err != nil {
		return nil, err
	}
	if before := c.marker.Server; before.Prefix != srv.Prefix {
		c.store.say("engine is now %s, was %s", srv, before)
	}
	if err := c.readsItsLog(ctx, srv); err != nil { // before the settings of the last start are overwritten
		return nil, err
	}
	if err := c.missingOutside(); err != nil {
		return nil, err
	}
	if err := c.writeSettings(ctx, srv); err != nil {
		return nil, err
	}
	if err := c.preload(ctx, srv, &opts); err != nil {
		return nil, err
	}
	p, err := c.launchOnPort(ctx, srv, opts, l)
	if err != nil {
		return nil, err
	}
	c.marker.Server = srv
	err = errors.Join(c.marker.write(c.dir), c.forgetExit())
	if err == nil {
		err = c.prepare(ctx, opts)
	}
	if err != nil {
		return nil, errors.Join(err, p.abandon())
	}
	return p, nil
}

// findServer finds the engine asked for at creation, in the major version of the data.
func (c *Cluster) findServer(ctx context.Context) (installation.Server, error) {
	text, err := c.readData("PG_VERSION")
	if err != nil {
		return installation.Server{}, environment(fmt.Errorf("read version of the data: %w", err))
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return installation.Server{}, fmt.Errorf("read version of the data: %w", err)
	}
	return installation.FindMajor(ctx, c.Engine, major)
}

// ServerNow is the engine that runs the cluster, or that would run it if it were started now.
func (c *Cluster) ServerNow(ctx context.Context) (installation.Server, error) {
	if c.Status(ctx).State == Running {
		return c.marker.Server, nil
	}
	return c.findServer(ctx)
}

// A port may be taken between our check and the server's start. A session of a killed server may let go of its memory
// only after its process has disappeared from the data folder.
const (
	portTries     = 5
	attachedTries = 50
	attachedPause = 100 * time.Millisecond
)

// launchOnPort starts the server on the remembered port, or on another one unless the user asked for that very port.
func (c *Cluster) launchOnPort(ctx context.Context, srv installation.Server, opts StartOptions,
	l *lock.Lock) (*Postmaster, error) {
	for try := 1; ; try++ {
		from := portFirst
		if try > 1 { // servers that start together see the same free port: choose another
			from += rand.IntN(ports)
		}
		if err := c.takePort(from); err != nil {
			return nil, err
		}
		p, err := c.launchDetached(ctx, srv, opts, l)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) || try == portTries {
			return p, err
		}
	}
}

// launchDetached waits until the memory of a killed server is free.
func (c *Cluster) launchDetached(ctx context.Context, srv installation.Server, opts StartOptions,
	l *lock.Lock) (*Postmaster, error) {
	for try := 1; ; try++ {
		p, err := c.launch(ctx, srv, opts, l)
		if err == nil || !errors.Is(err, errAttached) || try == attachedTries {
			return p, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(attachedPause):
		}
	}
}

// takePort keeps the current port, or chooses one from there on.
func (c *Cluster) takePort(from int) error {
	switch {
	case c.SocketOnly:
		return nil
	case c.PortFixed:
		return c.store.checkPort(c.Name(), c.Port)
	case c.Port != 0 && portFree(c.Port):
		return nil
	}
	port, err := c.store.choosePort(c.Name(), from)
	if err != nil {
		return err
	}
	if c.Port != 0 {
		c.store.say("port %d is taken by another process, using %d", c.Port, port)
	}
	c.Port = port
	return nil
}

// How long another server in our folder may take to end: its parent died, so it shuts down.
const dyingMax = time.Minute

// clearLeftovers removes whatever an earlier server left. We hold the lock, so no other Plimsoll works on this cluster.
func (c *Cluster) clearLeftovers(ctx context.Context) error {
	pm, err := c.postmaster()
	if err != nil {
		return err
	}
	if pm.PID != 0 {
		if err := c.awaitPreviousServer(ctx, pm); err != nil {
			return err
		}
	}
	if err := c.endOrphans(ctx); err != nil {
		return err
	}
	if err := c.removeStalePidFile(); err != nil {
		return err
	}
	account, err := c.account()
	if err != nil {
		return err
	}
	return prepareSocketDir(c.SocketDir, account)
}

// How long a server may take to notice that its parent died: on a busy machine it gets no processor for seconds. A user
// who has started a server in our folder manually waits that long for the error.
const noticeMax = 20 * time.Second

func (c *Cluster) awaitPreviousServer(ctx context.Context, pm process.ID) error {
	noticed, err := c.awaitStopping(ctx, pm)
	if err != nil {
		return err
	}
	if !noticed {
		return problem.New(problem.Environment, fmt.Errorf("a server that Plimsoll did not start already runs in its "+
			"folder (pid %d)", pm.PID),
			"stop it: plimsoll down "+c.Name())
	}
	c.store.say("waiting for the previous server (pid %d) to end", pm.PID)
	ctx, cancel := context.WithTimeout(ctx, dyingMax)
	defer cancel()
	if err := pm.AwaitEnd(ctx); err != nil {
		return fmt.Errorf("wait for the previous server (pid %d) to end: %w", pm.PID, err)
	}
	return nil
}

// awaitStopping says whether the server is shutting down or gone.
func (c *Cluster) awaitStopping(ctx context.Context, pm process.ID) (bool, error) {
	for deadline := time.Now().Add(noticeMax); ; {
		f, err := c.readPidFile()
		if err != nil {
			return false, err
		}
		if f.status == "stopping" || !pm.Alive() {
			return true, nil
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(readyLookEvery):
		}
	}
}

// How long a session may take to notice that its postmaster is gone.
const orphanMax = 5 * time.Second

// endOrphans ends sessions that outlived a killed postmaster: they still write to shared memory, so the server refuses
// to start while they run.
func (c *Cluster) endOrphans(ctx context.Context) error {
	orphans, err := c.processes()
	if err != nil || len(orphans) == 0 {
		return err
	}
	c.store.say("ending %d sessions of a killed server", len(orphans))
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		for _, o := range orphans {
			if err := o.Signal(sig); err != nil && !errors.Is(err, process.ErrGone) {
				return environment(err)
			}
		}
		if awaitAll(ctx, orphans, orphanMax) == nil {
			return nil
		}
	}
	return fmt.Errorf("the sessions of a killed server did not end")
}

func awaitAll(ctx context.Context, ids []process.ID, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, id := range ids {
		if err := id.AwaitEnd(ctx); err != nil {
			return err
		}
	}
	return nil
}

// removeStalePidFile removes a dead server's file whose pid another process has now: PostgreSQL would take that process
// for the server and refuse to start. It handles other stale files itself, since it knows its shared memory.
func (c *Cluster) removeStalePidFile() error {
	f, err := c.readPidFile()
	if err != nil || f.pid == 0 {
		return err
	}
	if _, err := process.Of(f.pid); err != nil {
		return nil
	}
	c.store.say("removing a stale pid file: process %d is not our server", f.pid)
	if err := os.Remove(c.pidPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return environment(fmt.Errorf("remove stale pid file: %w", err))
	}
	return nil
}
