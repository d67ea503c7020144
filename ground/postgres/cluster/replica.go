package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"

	"github.com/jackc/pgx/v5"
)

// replicas are the clusters of the store that follow this one.
func (c *Cluster) replicas() (all []*Cluster) {
	clusters, _ := c.store.List() // what cannot be listed follows nobody
	for _, r := range clusters {
		if r.ReplicaOf == c.Name() {
			all = append(all, r)
		}
	}
	return all
}

// follow makes m the marker of a standby. Its server must have the primary's limits: with fewer connections or locks it
// would refuse to follow.
func (m *marker) follow(primary *Cluster, sync bool) {
	m.ReplicaOf, m.Sync, m.Log = primary.Name(), sync, ReplicaLog
	m.Profile, m.Memory, m.Unsafe = primary.Profile, primary.Memory, primary.Unsafe
	m.Settings = primary.marker.Settings
	m.Engine = primary.Engine
}

// server of a new cluster.
func (s Spec) server(ctx context.Context) (installation.Server, error) {
	if s.ReplicaOf != nil {
		return installation.FindMajor(ctx, s.ReplicaOf.Engine, s.ReplicaOf.Server().Major())
	}
	if s.restore != nil {
		return installation.FindMajor(ctx, s.Engine, s.restore.Major)
	}
	if s.clone != nil {
		return installation.FindMajor(ctx, s.Engine, s.clone.major)
	}
	return installation.Find(ctx, s.Engine)
}

// slotName is a standby's slot on its primary; slots are not called as clusters may be.
func slotName(replica string) string { return "replica_" + strings.ReplaceAll(replica, "-", "__") }

// standbySignal makes a server follow.
const standbySignal = "standby.signal"

// streamPass is the password file of the standby's server. The cluster's own belongs to its creator.
const streamPass = "stream.pgpass"

// fillReplica copies the primary, which runs, and makes the copy a standby.
func (s *Store) fillReplica(ctx context.Context, dir string, srv installation.Server, account *process.Account,
	spec Spec, m marker, copied []space) error {
	primary := spec.ReplicaOf
	name := replicaName(dir)
	slot := slotName(name)
	for _, r := range primary.replicas() {
		if slotName(r.Name()) == slot { // a-b and a__b
			return problem.New(problem.Usage, fmt.Errorf("the standby %s has the slot %s", r.Name(), slot),
				"choose another name")
		}
	}
	if err := primary.MayStream(ctx); err != nil {
		return err
	}
	pass := filepath.Join(dir, streamPass)
	if err := writeFile(pass, []byte(passLine+primary.password()+"\n"), 0o600); err != nil {
		return err
	}
	if err := account.Own(pass); err != nil {
		return environment(err)
	}
	// We hold the lock of a name that no cluster has: a slot of this name was left by a killed command.
	primary.dropSlot(ctx, slot)
	args, err := mapped(copied, account, func(t Tablespace) string { return m.location(dir, t) })
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	args = append(args, "--create-slot", "--slot", slot)
	err = primary.copyRunning(ctx, srv, account, data, pass, args)
	for _, t := range copied {
		if err == nil {
			err = relink(data, account, t.OID, m.location(s.path(name), t.Tablespace))
		}
	}
	if err == nil {
		err = errors.Join(primary.copyUserConf(dir), signalFile(filepath.Join(dir, "data", standbySignal), account))
	}
	if err != nil {
		primary.dropSlot(context.WithoutCancel(ctx), slot)
	}
	return err
}

// replicaName is the name that a folder under creation will have.
func replicaName(dir string) string {
	if found := leftoverName.FindStringSubmatch(filepath.Base(dir)); found != nil {
		return found[1]
	}
	return filepath.Base(dir)
}

// copyUserConf: what the user has set of the primary's numbers holds for the copy, too.
func (c *Cluster) copyUserConf(dir string) error {
	text, err := os.ReadFile(c.UserConf())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return environment(err)
	}
	return writeFile(filepath.Join(dir, userConf), text, 0o644)
}

// signalFile tells a server how to start. O_EXCL follows no link.
func signalFile(path string, account *process.Account) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return environment(err)
	}
	return environment(errors.Join(account.OwnOpen(f), f.Sync(), f.Close()))
}

// MayStream says what keeps a running cluster from being copied.
func (c *Cluster) MayStream(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return problem.New(problem.Environment, c.wrap(fmt.Errorf("connect: %w", err)),
			"it must run: plimsoll up "+c.Name())
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var level string
	var senders int
	if err := conn.QueryRow(ctx, `SELECT current_setting('wal_level'), current_setting('max_wal_senders')::int`).
		Scan(&level, &senders); err != nil {
		return c.wrap(err)
	}
	if level == "minimal" || senders == 0 {
		return problem.New(problem.Environment,
			c.wrap(fmt.Errorf("it runs with wal_level=%s and max_wal_senders=%d: its log is not enough for a copy of "+
				"the running server", level, senders)),
			fmt.Sprintf("restart it with more: plimsoll down %s && plimsoll up %s --log replica", c.Name(), c.Name()))
	}
	return nil
}

// roomSpare is for the log that comes while the data are copied.
const roomSpare = 256 << 20

// checkRoom says whether a folder has room for a copy.
func (c *Cluster) checkRoom(ctx context.Context, dir string) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var bytes int64
	if err := conn.QueryRow(ctx, "SELECT sum(pg_database_size(oid))::bigint FROM pg_database").
		Scan(&bytes); err != nil {
		return c.wrap(err)
	}
	return Room(dir, bytes)
}

// Room says whether a folder has room for so many bytes, and some to spare.
func Room(dir string, bytes int64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return environment(fmt.Errorf("free space of %s: %w", dir, err))
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < bytes+roomSpare {
		return problem.New(problem.Environment,
			fmt.Errorf("too little room in %s: %s free, it takes %s", dir, human.Bytes(free),
				human.Bytes(bytes+roomSpare)),
			"free some, or set PLIMSOLL_STATE to a folder on another disk")
	}
	return nil
}

// copyRunning copies a running server's data with pg_basebackup, with the log that it takes to start the copy.
func (c *Cluster) copyRunning(ctx context.Context, srv installation.Server, account *process.Account, data,
	passfile string, more []string) error {
	program, err := srv.Program("pg_basebackup")
	if err != nil {
		return err
	}
	if err := c.checkRoom(ctx, filepath.Dir(data)); err != nil {
		return err
	}
	application := "plimsoll-copy-" + newPassword()
	cmd := exec.Command(program, append([]string{"--pgdata", data, "--format", "plain", "--wal-method", "stream",
		"--checkpoint", "fast", "--no-password", "--host", c.SocketDir, "--port", strconv.Itoa(c.socketPort()),
		"--username", Superuser}, more...)...)
	if c.Unsafe {
		cmd.Args = append(cmd.Args, "--no-sync")
	}
	cmd.Env = []string{"PGPASSFILE=" + passfile, "PGAPPNAME=" + application}
	err = c.store.copyWatched(ctx, c.connect, application, func() error {
		return fillData(ctx, srv, account, data, cmd)
	})
	if err != nil {
		c.endCopy(context.WithoutCancel(ctx), application)
	}
	return err
}

// endCopy ends what the server does for a copy that has failed. It may still carry out the last request, such as
// creating a slot, after the program that sent it has ended.
func (c *Cluster) endCopy(ctx context.Context, application string) {
	conn, err := c.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close(ctx)
	_, _ = conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1",
		application)
}

// leavePrimary removes a destroyed standby's slot from its primary; if that does not run, its next clean-up removes
// the slot.
func (c *Cluster) leavePrimary(ctx context.Context) {
	if c.ReplicaOf == "" {
		return
	}
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil {
		return
	}
	primary.dropSlot(ctx, slotName(c.Name()))
	if c.Sync {
		_ = primary.applySettings(ctx) // its next start applies them
	}
}

// dropSlot releases the log that a slot keeps. Errors are ignored: the slot is bounded, and the next use of its name
// reports that it exists.
func (c *Cluster) dropSlot(ctx context.Context, slot string) {
	conn, err := c.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close(ctx)
	_, _ = conn.Exec(ctx, `SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots
		WHERE slot_name = $1 AND active_pid IS NOT NULL`, slot)
	_, _ = conn.Exec(ctx, `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
		WHERE slot_name = $1 AND NOT active`, slot)
}

// applySettings gives a running server the settings that it would start with.
func (c *Cluster) applySettings(ctx context.Context) error {
	if c.stateNow() != Running {
		return nil
	}
	quiet := *c.store // the user requested what changes
	quiet.Say = nil
	silent := *c
	silent.store = &quiet
	if err := silent.writeSettings(ctx, c.Server()); err != nil {
		return c.wrap(err)
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "SELECT pg_reload_conf()")
	return c.wrap(err)
}

// followSettings are those of a standby: where its primary is now.
func (c *Cluster) followSettings() ([]profile.Setting, error) {
	if c.ReplicaOf == "" {
		return nil, nil
	}
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("its primary %s is gone: %w", c.ReplicaOf, err),
			"plimsoll destroy "+c.Name())
	}
	info := fmt.Sprintf("%s port=%d user=%s %s %s", postgres.Parameter("host", primary.SocketDir),
		primary.socketPort(), Superuser, postgres.Parameter("passfile", filepath.Join(c.dir, streamPass)),
		postgres.Parameter("application_name", c.Name()))
	return []profile.Setting{
		{Name: "hot_standby", Value: "on", Reason: "the standby answers read-only queries"},
		{Name: "primary_conninfo", Value: info, Reason: "the primary; the password is in a file of the server's user"},
		{Name: "primary_slot_name", Value: slotName(c.Name()), Reason: "the primary keeps the log that this needs"},
	}, nil
}

// Replica creates and starts a standby of a running cluster, or starts it if it exists.
func (s *Store) Replica(ctx context.Context, name string, primary *Cluster, spec Spec) (*Cluster, error) {
	if c, err := s.Find(name); err == nil && c.ReplicaOf != primary.Name() {
		return nil, problem.New(problem.Usage, c.wrap(fmt.Errorf("it is not a standby of %s", primary.Name())),
			"choose another name")
	}
	if _, err := s.Find(primary.Name()); err != nil {
		return nil, err
	}
	spec.ReplicaOf, spec.Engine = primary, ""
	c, err := s.Up(ctx, name, spec)
	if err != nil {
		return nil, err
	}
	return c, c.Join(ctx)
}

// Join returns when a standby that runs follows its primary, and has commits wait for it if it is synchronous. Not
// before: commits would wait for a standby that is not there yet.
func (c *Cluster) Join(ctx context.Context) error {
	if err := c.awaitStreaming(ctx); err != nil || !c.Sync {
		return err
	}
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil {
		return err
	}
	if err := primary.applySettings(ctx); err != nil {
		return err
	}
	return c.awaitOnPrimary(ctx, "be a synchronous standby", func(conn *pgx.Conn) (bool, error) {
		s, err := standbyOf(ctx, conn, c.Name())
		return s.Sync == "sync" || s.Sync == "potential", err
	})
}

// awaitStreaming returns when the primary sends its log.
func (c *Cluster) awaitStreaming(ctx context.Context) error {
	return c.awaitOnPrimary(ctx, "connect to its primary", func(conn *pgx.Conn) (streams bool, err error) {
		err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE application_name = $1
			AND state = 'streaming')`, c.Name()).Scan(&streams)
		return streams, err
	})
}

// awaitOnPrimary returns when a condition holds on the standby's primary.
func (c *Cluster) awaitOnPrimary(ctx context.Context, what string, holds func(*pgx.Conn) (bool, error)) error {
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil {
		return err
	}
	conn, err := primary.connect(ctx)
	if err != nil {
		return c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return c.wrap(c.await(ctx, what, func() (bool, error) { return holds(conn) }))
}

// withoutReplicas refuses to remove a cluster that others follow.
func (c *Cluster) withoutReplicas() error {
	var names []string
	for _, r := range c.replicas() {
		names = append(names, r.Name())
	}
	if len(names) == 0 {
		return nil
	}
	return problem.New(problem.Usage, c.wrap(fmt.Errorf("it has the standby %s", strings.Join(names, ", "))),
		"promote or destroy that first: plimsoll promote "+names[0])
}

// NeededBy is the running primary whose commits wait for this standby; empty: none.
func (c *Cluster) NeededBy() string {
	if c.ReplicaOf == "" || !c.Sync {
		return ""
	}
	primary, err := c.store.Find(c.ReplicaOf)
	if err != nil || primary.stateNow() != Running {
		return ""
	}
	for _, r := range primary.replicas() {
		if r.Sync && r.Name() != c.Name() && r.stateNow() == Running {
			return "" // another one is enough
		}
	}
	return primary.Name()
}

// Follows is the primary of a standby; empty for any other cluster.
func (c *Cluster) Follows() string { return c.ReplicaOf }
