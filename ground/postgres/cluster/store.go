package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/problem"
)

// LockWaitDefault is how long a command waits for another command on the same cluster before it fails and names the
// holder.
const LockWaitDefault = 15 * time.Second

// StatusWaitDefault is how long status waits for the answer of one server, and for the size of its data.
const StatusWaitDefault = 2 * time.Second

// Store is the folder that holds the clusters of one state directory.
type Store struct {
	state string
	// Say receives messages for the user while something goes on, such as a new port or a removed stale pid file.
	// Defaults to silence.
	Say func(message string)
	// LockWait defaults to LockWaitDefault.
	LockWait time.Duration
	// StatusWait defaults to StatusWaitDefault.
	StatusWait time.Duration
	// Copied receives how much of a running server's data has been copied. Defaults to silence.
	Copied func(done, all int64)
}

// Open opens the clusters of a state directory; empty means dirs.State(). The first Create makes the folder.
func Open(state string) *Store {
	if state == "" {
		state = dirs.State()
	}
	if abs, err := filepath.Abs(state); err == nil {
		state = abs
	}
	return &Store{state: state, LockWait: LockWaitDefault, StatusWait: StatusWaitDefault}
}

func (s *Store) dir() string                 { return filepath.Join(s.state, "clusters") }
func (s *Store) path(name string) string     { return filepath.Join(s.dir(), name) }
func (s *Store) lockPath(name string) string { return filepath.Join(s.dir(), "."+name+".lock") }
func (s *Store) loadPath(name string) string { return filepath.Join(s.dir(), "."+name+".load") }

func (s *Store) say(format string, args ...any) {
	if s.Say != nil {
		s.Say(fmt.Sprintf(format, args...))
	}
}

// TakeForLoad keeps every other load off the cluster until the lock is removed: two loads would disturb each other's
// measurement, and the first to end might stop the server under the second. A command that only checks for a
// load holds the lock for a moment.
func (c *Cluster) TakeForLoad(ctx context.Context) (*lock.Lock, error) {
	l, err := lock.Acquire(ctx, c.store.loadPath(c.Name()), "load", hastyWait)
	if errors.As(err, new(*lock.HeldError)) {
		return nil, problem.New(problem.Environment, c.wrap(fmt.Errorf("it is %w", err)),
			"wait until that run has finished, or use another cluster: --cluster NAME")
	}
	if err != nil {
		return nil, environment(c.wrap(err))
	}
	return l, nil
}

// Load is the holder of the cluster's load lock; false: it is free.
func (c *Cluster) Load() (lock.Owner, bool, error) {
	owner, held, err := lock.HeldBy(c.store.loadPath(c.Name()))
	if err != nil {
		return owner, held, environment(c.wrap(err))
	}
	return owner, held, nil
}

// lock keeps every other command off the cluster.
func (s *Store) lock(ctx context.Context, name, what string) (*lock.Lock, error) {
	l, err := lock.Acquire(ctx, s.lockPath(name), what, s.LockWait)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, ctx.Err())
	}
	if errors.As(err, new(*lock.HeldError)) {
		return nil, problem.New(problem.Environment, fmt.Errorf("cluster %s is %w", name, err),
			"wait until it has finished, or stop it")
	}
	if err != nil {
		return nil, environment(fmt.Errorf("cluster %s: %w", name, err))
	}
	return l, nil
}

// unlock releases the lock, and removes its file if the cluster does not exist: it was not created after all, or is
// gone.
func (s *Store) unlock(l *lock.Lock, name string) {
	if _, err := os.Lstat(s.path(name)); errors.Is(err, fs.ErrNotExist) {
		_ = l.Remove() // it is free in any case
		return
	}
	_ = l.Release()
}

// Find returns an existing cluster.
func (s *Store) Find(name string) (*Cluster, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := dirs.Guard(s.dir()); err != nil {
		return nil, err
	}
	dir := s.path(name)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, problem.New(problem.Usage, missing(fmt.Sprintf("no cluster %q in %s", name, s.dir())),
			"plimsoll status lists them, plimsoll up creates one")
	}
	m, err := s.markerOf(name)
	if err != nil {
		return nil, err
	}
	return &Cluster{store: s, dir: dir, marker: m}, nil
}

// missing is an fs.ErrNotExist that names what is not there.
type missing string

func (m missing) Error() string { return string(m) }
func (missing) Unwrap() error   { return fs.ErrNotExist }

// names lists every folder in the store that is not a leftover of ours.
func (s *Store) names() ([]string, error) {
	if err := dirs.Guard(s.dir()); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, environment(fmt.Errorf("list clusters: %w", err))
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// List returns our clusters, by name.
func (s *Store) List() ([]*Cluster, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var found []*Cluster
	for _, name := range names {
		if c, err := s.Find(name); err == nil {
			found = append(found, c)
		}
	}
	return found, nil
}
