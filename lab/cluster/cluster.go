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

	"plimsoll/lab/process"
	"plimsoll/lab/server"
	"plimsoll/platform/problem"
)

// Cluster is one cluster of a store, running or not, as its marker had it when
// it was found.
type Cluster struct {
	store *Store
	dir   string
	marker
}

// Name is unique in the store.
func (c *Cluster) Name() string { return c.marker.Name }

// Dir is the cluster's folder.
func (c *Cluster) Dir() string { return c.dir }

// DataDir is its PGDATA.
func (c *Cluster) DataDir() string { return filepath.Join(c.dir, "data") }

// LogFile is where the server writes.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "log", "postgres.log") }

// UserConf holds the user's own settings: read last, never written by us.
func (c *Cluster) UserConf() string { return filepath.Join(c.dir, userConf) }

// Server is the engine that the cluster runs, or ran last.
func (c *Cluster) Server() server.Server { return c.marker.Server }

func (c *Cluster) passFile() string  { return filepath.Join(c.dir, "pgpass") }
func (c *Cluster) keeperLog() string { return filepath.Join(c.dir, "log", "keeper.log") }

// account is who runs the server: who owns the data. The rest of the folder
// belongs to whoever made the cluster, and nobody else may work on it: what
// root left there its owner could not use any more.
func (c *Cluster) account() (*process.Account, error) {
	maker, err := process.OwnerOf(c.dir)
	if err != nil {
		return nil, environment(err)
	}
	if maker != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("the cluster belongs to user %s", maker.Name), "run as that user, or choose another PLIMSOLL_STATE")
	}
	return process.OwnerOf(c.DataDir())
}

// socketPort numbers the socket; the folder is the cluster's own, so without
// TCP any number will do.
func (m marker) socketPort() int {
	if m.SocketOnly {
		return socketOnlyPort
	}
	return m.Port
}

// DSN reaches a database over TCP, or over the socket where the cluster has no
// port; empty means the database postgres.
func (c *Cluster) DSN(database string) DSN {
	d := c.SocketDSN(database)
	if !c.SocketOnly {
		d.host = loopback
	}
	return d
}

// SocketDSN reaches a database over the socket.
func (c *Cluster) SocketDSN(database string) DSN {
	if database == "" {
		database = "postgres"
	}
	return DSN{host: c.SocketDir, port: c.socketPort(), user: Superuser, password: c.password(), database: database}
}

// Command prepares a program of the cluster's engine (psql, pgbench, …) with
// the environment that connects it; nothing of the caller's PG* leaks in.
func (c *Cluster) Command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	path, err := c.Server().Program(program)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(withoutPG(os.Environ()),
		"PGHOST="+c.SocketDir,
		"PGPORT="+strconv.Itoa(c.socketPort()),
		"PGUSER="+Superuser,
		"PGDATABASE=postgres",
		"PGPASSFILE="+c.passFile(),
	)
	return cmd, nil
}

// withoutPG drops what would steer PostgreSQL's programs to another server.
func withoutPG(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "PG") {
			kept = append(kept, e)
		}
	}
	return kept
}

// again reads the marker anew: another process may have changed it.
func (c *Cluster) again() (*Cluster, error) { return c.store.Find(c.Name()) }

func (c *Cluster) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cluster %s: %w", c.Name(), err)
}

var errNotRunning = errors.New("does not run")
