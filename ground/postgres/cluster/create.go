package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"plimsoll/ground/host/dirs"
	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Create makes a stopped cluster, whole or not at all: it is built under a temporary name, and the next Create removes
// what a killed one left.
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

// lockVacant takes the lock of a name that has no cluster. The lock's holder may be creating that cluster and then run
// it, which keeps the lock taken; so each attempt checks again whether the name is still vacant.
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

// makeDir makes the folder of clusters.
func (s *Store) makeDir() error {
	if err := dirs.Guard(s.dir()); err != nil {
		return err
	}
	return makeDirs(s.state, s.dir())
}

// makeDirs makes folders, each below the one before. If root makes one, the server's user can enter it whatever root's
// umask; an existing folder stays as it is. A new one survives a power cut, as what is flushed in it later does.
func makeDirs(all ...string) error {
	for _, dir := range all {
		_, err := os.Stat(dir)
		made := errors.Is(err, fs.ErrNotExist)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return environment(err)
		}
		if !made {
			continue
		}
		if os.Geteuid() == 0 {
			if err := os.Chmod(dir, 0o755); err != nil {
				return environment(err)
			}
		}
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return nil
}

// ErrExists says that the cluster already exists.
var ErrExists = errors.New("already exists")

func (s *Store) vacant(name string) error {
	if _, err := os.Lstat(s.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := readMarker(s.path(name)); err != nil {
		return err
	}
	return problem.New(problem.Usage, fmt.Errorf("cluster %s %w", name, ErrExists),
		"start it with plimsoll up, or choose another name")
}

func (s *Store) create(ctx context.Context, name string, spec Spec) (err error) {
	srv, err := spec.server(ctx)
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
	var copied []space
	if spec.ReplicaOf != nil {
		if copied, err = spec.ReplicaOf.spaces(ctx); err != nil {
			return err
		}
		spec.WalDir = spec.ReplicaOf.WalDir
		for _, t := range copied {
			spec.Tablespaces = append(spec.Tablespaces, t.Tablespace)
		}
	}
	if spec.clone != nil {
		for _, t := range spec.clone.spaces {
			spec.Tablespaces = append(spec.Tablespaces, t.Tablespace)
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
	m := s.marker(name, spec, srv)
	if m.Log == ArchiveLog {
		if m.Archive, err = s.makeArchive(name, account); err != nil {
			return err
		}
	}
	if err := m.write(growing); err != nil {
		return err
	}
	if err := s.makeOutside(m, account, m.outsides()); err != nil {
		return err
	}
	if err := s.fill(ctx, growing, srv, account, spec, m, copied); err != nil {
		return err
	}
	if m.WalDir != "" {
		if err := moveLog(ctx, srv, account, filepath.Join(growing, "data"), m.outsideLog().files()); err != nil {
			return err
		}
	}
	if err := os.Rename(growing, s.path(name)); err != nil {
		return environment(err)
	}
	return syncDir(s.dir())
}

func (s *Store) marker(name string, spec Spec, srv installation.Server) marker {
	m := marker{
		Format: markerFormat, Name: name, Engine: engineOf(spec.Engine, srv), Server: srv,
		Profile: spec.Profile, Memory: spec.Memory, Port: spec.Port, PortFixed: spec.Port != 0,
		SocketOnly: spec.SocketOnly, SocketDir: socketDirFor(s.path(name)),
		Settings:     spec.Settings,
		FlushLatency: latencyText(spec.FlushLatency),
		Unsafe:       spec.Unsafe, CreatedAt: time.Now().UTC().Truncate(time.Second),
		Tablespaces: spec.Tablespaces, WalDir: spec.WalDir, OutsideID: newPassword(),
	}
	if m.Profile == "" {
		m.Profile = profile.Tuned
	}
	m.Log = spec.Log
	if spec.ReplicaOf != nil {
		m.follow(spec.ReplicaOf, spec.Sync)
	}
	m.Restoring = spec.restore != nil
	return m
}

// engineOf is the engine to remember: a default by the name it resolved to, a prefix by its folder.
func engineOf(asked string, found installation.Server) string {
	switch {
	case asked == "" && found.Flavour == installation.System:
		return installation.System
	case asked == "":
		return installation.Plimsoll
	case asked == installation.System || asked == installation.Plimsoll || asked == installation.Vanilla:
		return asked
	}
	return found.Prefix
}

// fill makes the folder's content. All but the data and the socket belongs to the user who runs us: the server must not
// change files that we trust.
func (s *Store) fill(ctx context.Context, dir string, srv installation.Server, account *process.Account,
	spec Spec, m marker, copied []space) error {
	if account != nil { // who must be able to pass through it
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
	switch {
	case spec.DataOf != nil:
		password = spec.DataOf.password()
	case spec.ReplicaOf != nil:
		password = spec.ReplicaOf.password()
	case spec.restore != nil:
		password = spec.restore.Password
	}
	if err := writePassword(dir, password); err != nil {
		return err
	}
	switch {
	case spec.DataOf != nil:
		return copyData(ctx, srv, account, spec.DataOf.DataDir(), data)
	case spec.ReplicaOf != nil:
		return s.fillReplica(ctx, dir, srv, account, spec, m, copied)
	case spec.restore != nil:
		return s.fillRestored(ctx, dir, srv, account, spec.restore, m)
	case spec.clone != nil:
		return s.fillClone(ctx, dir, srv, account, spec.clone, m, password)
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
