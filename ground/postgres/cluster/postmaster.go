package cluster

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
)

// Postmaster is a running server whose parent is this process.
type Postmaster struct {
	cluster *Cluster
	child   *process.Child
	lock    *lock.Lock
	exited  chan struct{}
	err     error
}

// StopMode is how a server is stopped.
type StopMode int

const (
	Fast      StopMode = iota // ends sessions, flushes the data
	Immediate                 // like a crash: the next start recovers
	Smart                     // waits until all sessions have ended, and flushes the data
)

func (m StopMode) signal() syscall.Signal {
	switch m {
	case Immediate:
		return syscall.SIGQUIT
	case Smart:
		return syscall.SIGTERM
	}
	return syscall.SIGINT
}

// Cluster is what the server runs.
func (p *Postmaster) Cluster() *Cluster { return p.cluster }

// PID of the postmaster.
func (p *Postmaster) PID() int { return p.child.ID().PID }

// Exited is closed when the postmaster has ended and is reaped, and the cluster's lock is free again.
func (p *Postmaster) Exited() <-chan struct{} { return p.exited }

// Err says how it ended; nil while it runs and after a clean shutdown.
func (p *Postmaster) Err() error {
	select {
	case <-p.exited:
		return p.err
	default:
		return nil
	}
}

func (p *Postmaster) watch() {
	<-p.child.Exited()
	p.err = p.child.Err()
	p.cluster.recordExit(p.err)
	p.lock.Release()
	close(p.exited)
}

// Stop shuts the server down and returns when it has ended. If ctx ends first, the shutdown goes on.
func (p *Postmaster) Stop(ctx context.Context, mode StopMode) error {
	if err := p.child.Signal(mode.signal()); err != nil && !errors.Is(err, process.ErrGone) {
		return p.cluster.wrap(err)
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return p.cluster.wrap(fmt.Errorf("still shutting down (pid %d): %w", p.PID(), ctx.Err()))
	}
}

// Kill crashes the whole server: SIGKILL to the postmaster and all its children. It returns when the postmaster is
// reaped.
func (p *Postmaster) Kill(ctx context.Context) error {
	if err := p.child.ID().KillTree(ctx); err != nil && !errors.Is(err, process.ErrGone) {
		return p.cluster.wrap(err)
	}
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// How long a server whose start was cancelled may take to shut down by itself.
const quitMax = 10 * time.Second

// stopCancelled ends a server whose start was cancelled, and leaves the lock to the caller.
func (p *Postmaster) stopCancelled() {
	_ = p.child.Signal(syscall.SIGINT) // it may have ended already
	select {
	case <-p.child.Exited():
		return
	case <-time.After(quitMax):
	}
	_ = p.child.ID().KillTree(context.Background())
	<-p.child.Exited()
}

// abandon ends a server that is up but cannot be kept.
func (p *Postmaster) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), quitMax)
	defer cancel()
	return p.Stop(ctx, Fast)
}
