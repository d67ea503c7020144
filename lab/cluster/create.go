package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/lab/cluster/profile"
	"plimsoll/lab/lock"
	"plimsoll/lab/process"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

// Create makes a stopped cluster. It is there whole or not at all: it grows
// under another name, and what a killed Create left is removed by the next one.
func (s *Store) Create(ctx context.Context, name string, spec Spec) (*Cluster, error) {
	if err := errors.Join(CheckName(name), spec.check()); err != nil {
		return nil, err
	}
	if err := s.makeDir(); err != nil {
		return nil, fmt.Errorf("create cluster %s: %w", name, err)
	}
	l, err := s.lockVacant(ctx, name)
	if err != nil {
		return nil, err
	}
	defer s.unlock(l, name)
	s.sweep(ctx, name)
	if err := s.create(ctx, name, spec); err != nil {
		return nil, fmt.Errorf("create cluster %s: %w", name, err)
	}
	return s.Find(name)
}

// lockVacant takes the lock of a cluster that there is not. Who holds the lock
// may be making that very cluster, and then keep it locked by running it: so
// what we wait for is looked at again and again.
func (s *Store) lockVacant(ctx context.Context, name string) (*lock.Lock, error) {
	hasty := *s
	hasty.LockWait = min(hastyWait, s.LockWait)
	for deadline := time.Now().Add(s.LockWait); ; {
		l, err := hasty.lock(ctx, name, "create")
		if taken := s.vacant(name); taken != nil {
			if err == nil {
				s.unlock(l, name)
			}
			return nil, taken
		}
		if err == nil || ctx.Err() != nil || !errors.As(err, new(*lock.HeldError)) || time.Now().After(deadline) {
			return l, err
		}
	}
}

// makeDir makes the folder of clusters. A folder that root makes can be entered
// by the server's user whatever root's umask; one that was there stays as it is.
func (s *Store) makeDir() error {
	var made []string
	for _, dir := range []string{s.state, s.dir()} {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			made = append(made, dir)
		}
	}
	if err := os.MkdirAll(s.dir(), 0o755); err != nil {
		return environment(err)
	}
	if os.Geteuid() != 0 {
		return nil
	}
	for _, dir := range made {
		if err := os.Chmod(dir, 0o755); err != nil {
			return environment(err)
		}
	}
	return nil
}

// ErrExists says that there is such a cluster already.
var ErrExists = errors.New("exists already")

func (s *Store) vacant(name string) error {
	if _, err := os.Lstat(s.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := readMarker(s.path(name)); err != nil {
		return err
	}
	return problem.New(problem.Usage, fmt.Errorf("cluster %s %w", name, ErrExists), "start it with plimsoll up, or choose another name")
}

func (s *Store) create(ctx context.Context, name string, spec Spec) (err error) {
	srv, err := server.Find(ctx, spec.Engine)
	if err != nil {
		return err
	}
	account, err := process.ServerAccount()
	if err != nil {
		return err
	}
	if spec.Port != 0 {
		if err := s.checkPort(name, spec.Port); err != nil {
			return err
		}
	}
	growing, err := os.MkdirTemp(s.dir(), leftoverPrefix(name)+"*")
	if err != nil {
		return environment(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeCluster(growing))
		}
	}()
	if err := s.marker(name, spec, srv).write(growing); err != nil {
		return err
	}
	if err := s.fill(ctx, growing, srv, account, spec); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(growing, s.path(name)); err != nil {
		return environment(err)
	}
	return syncDir(s.dir())
}

func (s *Store) marker(name string, spec Spec, srv server.Server) marker {
	m := marker{
		Format: markerFormat, Name: name, Engine: engineOf(spec.Engine, srv), Server: srv,
		Profile: spec.Profile, Memory: spec.Memory, Port: spec.Port, PortFixed: spec.Port != 0,
		SocketOnly: spec.SocketOnly, SocketDir: socketDirFor(s.path(name)),
		Settings: spec.Settings, Unsafe: spec.Unsafe, CreatedAt: time.Now().UTC().Truncate(time.Second),
	}
	if m.Profile == "" {
		m.Profile = profile.Tuned
	}
	return m
}

// engineOf remembers a default as what it came to, a prefix as the folder.
func engineOf(asked string, found server.Server) string {
	switch {
	case asked == "" && found.Flavour == server.System:
		return server.System
	case asked == "":
		return server.Plimsoll
	case asked == server.System || asked == server.Plimsoll || asked == server.Vanilla:
		return asked
	}
	return found.Prefix
}

// fill makes what belongs into the folder. All but the data and the socket
// belongs to who runs us: the server may not change what we trust.
func (s *Store) fill(ctx context.Context, dir string, srv server.Server, account *process.Account, spec Spec) error {
	if account != nil { // who has to pass through it
		if err := os.Chmod(dir, 0o755); err != nil {
			return environment(err)
		}
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return environment(err)
	}
	if err := account.Own(data); err != nil {
		return environment(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "log"), 0o700); err != nil {
		return environment(err)
	}
	password := newPassword()
	if err := writePassword(dir, password); err != nil {
		return err
	}
	handed, err := passwordFile(dir, password, account.Own)
	if err != nil {
		return err
	}
	defer os.Remove(handed)
	if err := initdb(ctx, srv, account, data, handed, spec.Unsafe); err != nil {
		return err
	}
	return includeSettings(data)
}
