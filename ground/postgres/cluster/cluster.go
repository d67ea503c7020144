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

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
)

// Cluster is one cluster of a store, running or not, as its marker was when it was found.
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

// LogFile is the server's log.
func (c *Cluster) LogFile() string { return filepath.Join(c.dir, "log", "postgres.log") }

// UserConf holds the user's own settings. The server reads it last; we never write it.
func (c *Cluster) UserConf() string { return filepath.Join(c.dir, userConf) }

// Server is the engine that the cluster runs or ran last.
func (c *Cluster) Server() installation.Server { return c.marker.Server }

func (c *Cluster) passFile() string  { return filepath.Join(c.dir, "pgpass") }
func (c *Cluster) keeperLog() string { return filepath.Join(c.dir, "log", "keeper.log") }

// account runs the server and owns the data. The rest of the folder belongs to the cluster's creator, and nobody else
// may work on it: the creator could not use files that root left there.
func (c *Cluster) account() (*process.Account, error) {
	maker, err := process.OwnerOf(c.dir)
	if err != nil {
		return nil, environment(err)
	}
	if maker != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("the cluster belongs to user %s", maker.Name),
			"run as that user, or choose another PLIMSOLL_STATE")
	}
	return process.OwnerOf(c.DataDir())
}

// socketPort numbers the socket. The folder is the cluster's own, so without TCP any number will do.
func (m marker) socketPort() int {
	if m.SocketOnly {
		return socketOnlyPort
	}
	return m.Port
}

// DSN connects to a database over TCP, or over the socket if the cluster has no port; empty means the database
// postgres.
func (c *Cluster) DSN(database string) DSN {
	d := c.SocketDSN(database)
	if !c.SocketOnly {
		d.host = loopback
	}
	return d
}

// SocketDSN connects to a database over the socket.
func (c *Cluster) SocketDSN(database string) DSN {
	if database == "" {
		database = "postgres"
	}
	return DSN{host: c.SocketDir, port: c.socketPort(), user: Superuser, password: c.password(), passFile: c.passFile(),
		database: database}
}

// Command prepares a program of the cluster's engine (psql, pgbench, …) with the environment for connecting; the
// caller's PG* variables are removed.
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

// withoutPG drops variables that would direct PostgreSQL's programs to another server.
func withoutPG(environ []string) []string {
	var kept []string
	for _, e := range environ {
		if !strings.HasPrefix(e, "PG") {
			kept = append(kept, e)
		}
	}
	return kept
}

// reread rereads the marker, which another process may have changed.
func (c *Cluster) reread() (*Cluster, error) { return c.store.Find(c.Name()) }

func (c *Cluster) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cluster %s: %w", c.Name(), err)
}

var errNotRunning = errors.New("is not running")
