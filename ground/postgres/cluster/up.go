package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"syscall"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/problem"
)

const ownerKeeper = "keeper"

// hastyWait is the wait for a lock that was free a moment ago: its holder only checks it, or was faster than we are.
const hastyWait = 300 * time.Millisecond

// Up creates the cluster if it is missing, starts it under a detached keeper if it does not run, and returns when it
// accepts connections. The keeper is this program run as 'keep NAME'. A cancelled ctx stops the start.
func (s *Store) Up(ctx context.Context, name string, spec Spec) (*Cluster, error) {
	if err := errors.Join(CheckName(name), spec.check()); err != nil {
		return nil, err
	}
	c, err := s.findOrCreate(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	for {
		running, err := s.awaitOther(ctx, c)
		if err != nil {
			return nil, err
		}
		if running {
			return s.useRunning(ctx, name, spec)
		}
		err = s.startUnderKeeper(ctx, c, spec)
		if err == nil {
			return c.reread()
		}
		if !errors.As(err, new(*lock.HeldError)) {
			return nil, err
		}
		// Another command was faster: see what it does with the cluster.
	}
}

// useRunning handles a cluster that runs already.
func (s *Store) useRunning(ctx context.Context, name string, spec Spec) (*Cluster, error) {
	c, err := s.Find(name)
	if err != nil {
		return nil, err
	}
	if err := c.checkUnchanged(ctx, spec); err != nil {
		return nil, err
	}
	return c, nil
}

func (s *Store) startUnderKeeper(ctx context.Context, c *Cluster, spec Spec) error {
	hasty := *s
	hasty.LockWait = hastyWait
	if err := hasty.applySpec(ctx, c, spec); err != nil {
		return err
	}
	return s.spawnKeeper(ctx, c)
}

func (s *Store) findOrCreate(ctx context.Context, name string, spec Spec) (*Cluster, error) {
	c, err := s.Find(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	s.say("creating cluster %s", name)
	c, err = s.Create(ctx, name, spec)
	if errors.Is(err, ErrExists) { // by another Up, while we waited
		return s.Find(name)
	}
	return c, err
}

// awaitOther says whether the cluster runs; if another command works on it, after that has finished, or after a bounded
// wait.
func (s *Store) awaitOther(ctx context.Context, c *Cluster) (running bool, err error) {
	for deadline := time.Now().Add(s.LockWait); ; {
		state := c.stateNow()
		owner, held, err := lock.HeldBy(s.lockPath(c.Name()))
		switch {
		case err != nil:
			return false, environment(c.wrap(err))
		case !held: // it does not run, or its keeper died and it will end soon
			return false, nil
		case state == Running && c.isReachable(ctx):
			return true, nil
		case time.Now().After(deadline):
			return false, problem.New(problem.Environment,
				c.wrap(&lock.HeldError{Path: s.lockPath(c.Name()), Owner: owner}),
				"wait until it has finished, or stop it: plimsoll down "+c.Name())
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// isReachable connects to the cluster's current port, which the other command may have chosen after we read it.
func (c *Cluster) isReachable(ctx context.Context) bool {
	now, err := c.reread()
	return err == nil && now.answers(ctx) == nil
}

// stateNow is the state alone, without connecting or computing sizes.
func (c *Cluster) stateNow() State {
	f, err := c.readPidFile()
	if err != nil {
		state, _ := unreadable(err)
		return state
	}
	if pm, err := c.postmaster(); err != nil || pm.PID == 0 {
		return Stopped
	}
	return stateOf(f.status)
}

// applySpec changes a stopped cluster as requested.
func (s *Store) applySpec(ctx context.Context, c *Cluster, spec Spec) error {
	if err := c.SameEngine(ctx, spec.Engine); err != nil {
		return err
	}
	m, err := spec.outside(spec.overlay(c.marker))
	if err != nil {
		return err
	}
	if m.Port != c.Port && m.PortFixed {
		if err := s.checkPort(c.Name(), m.Port); err != nil {
			return c.wrap(err)
		}
	}
	if reflect.DeepEqual(m, c.marker) {
		return nil
	}
	if m.Log == MinimalLog && (m.ReplicaOf != "" || len(c.replicas()) > 0) { // PostgreSQL would not start
		return problem.New(problem.Usage, c.wrap(errors.New("a primary and its standbys need more than a minimal log")),
			"--log replica; or promote or destroy the standbys first")
	}
	l, err := s.lock(ctx, c.Name(), "up")
	if err != nil {
		return err
	}
	defer l.Release()
	if m.newArchive(c.marker) {
		account, err := c.account()
		if err != nil {
			return err
		}
		if m.Archive, err = s.makeArchive(c.Name(), account); err != nil {
			return err
		}
	}
	if err := s.addOutside(c, &m); err != nil {
		return err
	}
	c.marker = m
	return c.marker.write(c.dir)
}

// addOutside makes folders of a cluster on other disks that it did not have before.
func (s *Store) addOutside(c *Cluster, m *marker) error {
	if len(m.Tablespaces) == len(c.Tablespaces) {
		return nil
	}
	if m.ReplicaOf != "" {
		return problem.New(problem.Usage, c.wrap(errors.New("a standby has its primary's tablespaces")),
			"--tablespace applies to the primary "+m.ReplicaOf)
	}
	account, err := c.account()
	if err != nil {
		return err
	}
	if m.OutsideID == "" { // from before there were any: known before the first folder has it
		m.OutsideID = newPassword()
		c.marker.OutsideID = m.OutsideID
		if err := c.marker.write(c.dir); err != nil {
			return err
		}
	}
	added := marker{Name: m.Name, OutsideID: m.OutsideID, Tablespaces: m.Tablespaces[len(c.Tablespaces):]}
	return c.wrap(s.makeOutside(added, account, added.outsides()))
}

// spawnKeeper starts the keeper in its own session and waits for its report.
func (s *Store) spawnKeeper(ctx context.Context, c *Cluster) error {
	cmd, log, err := s.keeperCommand(c)
	if err != nil {
		return err
	}
	defer log.Close()
	read, write, err := os.Pipe()
	if err != nil {
		return environment(c.wrap(err))
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	cmd.Env = append(cmd.Env, keeperPipe+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	err = cmd.Start()
	write.Close()
	if err != nil {
		return environment(c.wrap(fmt.Errorf("start keeper: %w", err)))
	}
	ended := make(chan struct{})
	go func() { // reaps the keeper, should it end before us
		_ = cmd.Wait()
		close(ended)
	}()
	return s.awaitKeeper(ctx, c, cmd.Process.Pid, read, ended)
}

func (s *Store) keeperCommand(c *Cluster) (*exec.Cmd, *os.File, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	log, err := openServerLog(c.keeperLog())
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, "keep", c.Name())
	cmd.Stdout, cmd.Stderr = log.File, log.File
	cmd.Env = append(os.Environ(), "PLIMSOLL_STATE="+s.state)
	cmd.Dir = "/" // keeps no file system busy
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, log.File, nil
}

// awaitKeeper relays the keeper's reports until it is ready or has failed.
func (s *Store) awaitKeeper(ctx context.Context, c *Cluster, pid int, pipe io.Reader, ended <-chan struct{}) error {
	lines := make(chan report)
	go readReports(pipe, lines)
	defer func() { // to the end of the pipe, which the keeper closes after its last report
		for range lines {
		}
	}()
	cancelled := ctx.Done()
	for {
		select {
		case r, ok := <-lines:
			if ok && !r.last() {
				s.say("%s", r.Say)
				continue
			}
			if r.Ready && ctx.Err() == nil {
				return nil
			}
			if r.Ready && cancelled != nil { // cancelled since, and it does not know
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
			<-ended
			return c.keeperFailure(ctx, r)
		case <-cancelled: // it stops the start, and then its pipe ends
			cancelled = nil
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

func readReports(pipe io.Reader, lines chan<- report) {
	defer close(lines)
	scan := bufio.NewScanner(pipe)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var r report
		if json.Unmarshal(scan.Bytes(), &r) == nil {
			lines <- r
		}
	}
}

// keeperFailure says why there is no server; r is zero if the keeper could not report.
func (c *Cluster) keeperFailure(ctx context.Context, r report) error {
	switch {
	case ctx.Err() != nil:
		return c.wrap(ctx.Err())
	case r.Busy:
		return &lock.HeldError{Path: c.store.lockPath(c.Name())}
	case r.Error != "":
		return r.problem()
	}
	return problem.WithHint(c.wrap(errors.New("its keeper process ended without an error message")), "see "+
		""+c.keeperLog())
}
