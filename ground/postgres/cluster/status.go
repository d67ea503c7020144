package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/ground/host/lock"
	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
)

// State of a cluster.
type State string

const (
	Running  State = "running"
	Starting State = "starting" // or recovering
	Stopping State = "stopping"
	Stopped  State = "stopped"
	Crashed  State = "crashed" // ended without a shutdown; the next start recovers
	Foreign  State = "foreign" // a folder without our marker: never touched
	Broken   State = "broken"  // our marker, but unreadable or from a newer Plimsoll
	Hidden   State = "hidden"  // of another user, whose files this one may not read
)

// unreadable is the state of a cluster one of whose files could not be read, and why.
func unreadable(err error) (State, string) {
	if errors.Is(err, fs.ErrPermission) {
		return Hidden, "this user may not read its files; run the command as the user who created it: " + err.Error()
	}
	return Broken, err.Error()
}

func (s State) live() bool { return s == Running || s == Starting || s == Stopping }

// Status is one line of 'plimsoll status'. Unknown values are left out, never zero.
type Status struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	Flavour string `json:"flavour,omitempty"`
	Version string `json:"version,omitempty"`
	// 0 is stock; from the running server, else from its engine's build
	Patchset *int         `json:"patchset,omitempty"`
	Profile  profile.Name `json:"profile,omitempty"`
	Memory   string       `json:"memory,omitempty"` // share of the machine's; empty: all
	// what a flush takes at least; empty: what the disk takes
	FlushLatency string      `json:"flush_latency,omitempty"`
	Port         int         `json:"port,omitempty"` // absent: socket only, or not chosen yet
	SocketDir    string      `json:"socket_dir,omitempty"`
	PID          int         `json:"pid,omitempty"`
	Owner        *lock.Owner `json:"owner,omitempty"` // the lock's holder: keeper, process, create, …
	StartedAt    *time.Time  `json:"started_at,omitempty"`
	UptimeS      *float64    `json:"uptime_s,omitempty"`
	DataBytes    *int64      `json:"data_bytes,omitempty"` // on disk; absent if counting took too long
	Dir          string      `json:"dir"`
	// folders on other disks that the user named
	Tablespaces []Tablespace `json:"tablespaces,omitempty"`
	WalDir      string       `json:"wal_dir,omitempty"`
	DSN         *DSN         `json:"dsn,omitempty"` // redacted
	LastExit    string       `json:"last_exit,omitempty"`
	CreatedAt   *time.Time   `json:"created_at,omitempty"`
	Problem     string       `json:"problem,omitempty"` // why it is broken, or what is unknown
	// who follows it, or whom it follows; absent for a cluster alone
	Replication *Replication `json:"replication,omitempty"`
	// of a running server that archives its log
	Archiving *Archiving `json:"archiving,omitempty"`
}

// Status describes every folder in the store, including foreign ones, by name.
func (s *Store) Status(ctx context.Context) ([]Status, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	all := []Status{}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, s.statusOf(ctx, name))
	}
	return all, nil
}

func (s *Store) statusOf(ctx context.Context, name string) Status {
	m, err := s.markerOf(name)
	switch {
	case errors.Is(err, errForeign):
		return Status{Name: name, Dir: s.path(name), State: Foreign,
			Problem: "no " + MarkerFile + " in it: not a Plimsoll cluster, left alone"}
	case err != nil:
		state, why := unreadable(err)
		return Status{Name: name, Dir: s.path(name), State: state, Problem: why}
	}
	return (&Cluster{store: s, dir: s.path(name), marker: m}).Status(ctx)
}

// Status describes the cluster.
func (c *Cluster) Status(ctx context.Context) Status {
	m := c.marker
	dsn := c.DSN("")
	st := Status{
		Name: c.Name(), Dir: c.dir, State: Stopped, Flavour: m.Server.Flavour, Version: m.Server.Version,
		Patchset: &m.Server.Patchset,
		Profile:  m.Profile, Memory: m.Memory, FlushLatency: m.FlushLatency,
		Port: m.Port, SocketDir: m.SocketDir, DSN: &dsn, LastExit: c.lastExit(),
		CreatedAt: &m.CreatedAt, Tablespaces: m.Tablespaces, WalDir: m.WalDir,
	}
	if owner, held, err := lock.HeldBy(c.store.lockPath(c.Name())); err == nil && held {
		st.Owner = &owner
	}
	st.Replication = c.replicationRole()
	c.look(ctx, &st)
	_ = process.WithOwnerPermissions(c.DataDir(), func() {
		st.DataBytes = usage(ctx, c.store.StatusWait, append(c.outsideFolders(), c.DataDir())...)
	})
	return st
}

// look fills in what the running server reports.
func (c *Cluster) look(ctx context.Context, st *Status) {
	f, err := c.readPidFile()
	if err != nil {
		st.State, st.Problem = unreadable(err)
		return
	}
	pm, err := c.postmaster()
	if err != nil {
		st.Problem = err.Error()
		return
	}
	if pm.PID == 0 {
		if f.pid != 0 {
			st.State = Crashed // a shutdown removes the file
		}
		return
	}
	st.State, st.PID = stateOf(f.status), pm.PID
	if !f.startedAt.IsZero() {
		up := time.Since(f.startedAt).Seconds()
		st.StartedAt, st.UptimeS = &f.startedAt, &up
	}
	if st.State == Running {
		c.queryServer(ctx, st)
	}
}

func stateOf(line string) State {
	switch line {
	case "ready", "standby":
		return Running
	case "stopping":
		return Stopping
	}
	return Starting
}

// queryServer connects; a running server that refuses is reported all the same.
func (c *Cluster) queryServer(ctx context.Context, st *Status) {
	ctx, cancel := context.WithTimeout(ctx, c.store.StatusWait)
	defer cancel()
	conn, err := c.connect(ctx)
	if err != nil {
		st.Problem = "does not accept connections: " + err.Error()
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	c.readReplication(ctx, conn, st)
	c.readArchiving(ctx, conn, st)
	p := installation.PatchsetOf(conn.PgConn())
	st.Patchset = &p.Number
	st.Version, _, _ = strings.Cut(p.Version, " ")
}

var errTooLong = errors.New("measuring its size takes too long")

// usage is the size of folders on disk; nil if it cannot be computed in time.
func usage(ctx context.Context, within time.Duration, dirs ...string) *int64 {
	deadline := time.Now().Add(within)
	var all int64
	for _, dir := range dirs {
		bytes, err := usageOf(ctx, dir, deadline)
		if err != nil {
			return nil
		}
		all += bytes
	}
	return &all
}

func usageOf(ctx context.Context, dir string, deadline time.Time) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server removes files all the time
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return errTooLong
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			bytes += stat.Blocks * 512
		}
		return nil
	})
	return bytes, err
}
