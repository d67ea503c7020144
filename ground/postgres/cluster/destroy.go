package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/problem"
)

// Destroy removes a cluster and everything in it. A running one is refused.
func (s *Store) Destroy(ctx context.Context, name string) error {
	c, err := s.Find(name)
	if err != nil {
		return err
	}
	if st := c.Status(ctx); st.State.live() {
		return problem.New(problem.Usage, c.wrap(fmt.Errorf("is running (pid %d)", st.PID)),
			"stop it first: plimsoll down "+name)
	}
	l, err := s.lock(ctx, name, "destroy")
	if err != nil {
		return err
	}
	return s.destroyLocked(ctx, name, l)
}

func (s *Store) destroyLocked(ctx context.Context, name string, l *lock.Lock) error {
	defer s.unlock(l, name)
	// It may have been started or destroyed while we waited for the lock.
	c, err := s.Find(name)
	if err != nil {
		return err
	}
	if pm, err := c.postmaster(); err != nil || pm.PID != 0 {
		return errors.Join(err, problem.New(problem.Usage, c.wrap(fmt.Errorf("is running (pid %d)", pm.PID)),
			"stop it first: plimsoll down "+name))
	}
	if err := c.withoutReplicas(); err != nil {
		return err
	}
	account, err := c.account()
	if err != nil {
		return c.wrap(err)
	}
	going, err := os.MkdirTemp(s.dir(), leftoverPrefix(name)+"*")
	if err != nil {
		return environment(fmt.Errorf("destroy cluster %s: %w", name, err))
	}
	// A rename replaces an empty folder atomically: from here on the cluster is gone, whatever happens next.
	if err := syscall.Rename(c.dir, going); err != nil { // os.Rename refuses to replace a folder
		return environment(fmt.Errorf("destroy cluster %s: %w", name, errors.Join(err, os.Remove(going))))
	}
	_ = os.Remove(s.loadPath(name)) // left by a killed load
	if err := c.missingOutside(); err != nil {
		s.say("note: %v; it is not removed", err)
	}
	if err := errors.Join(removeCluster(going), c.removeSocketDir(account)); err != nil {
		return fmt.Errorf("destroy cluster %s: %w", name, err)
	}
	c.leavePrimary(ctx)
	s.sweep(ctx, name)
	return nil
}

// removeSocketDir removes a socket folder outside the cluster.
func (c *Cluster) removeSocketDir(account *process.Account) error {
	if strings.HasPrefix(c.SocketDir, c.dir+string(filepath.Separator)) {
		return nil
	}
	err := checkSocketDir(c.SocketDir, account)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	account.WithPermissions(func() { err = os.RemoveAll(c.SocketDir) }) // the folder may have been swapped since
	return environment(err)
}
