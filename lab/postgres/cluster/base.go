package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"plimsoll/lab/host/process"
	"plimsoll/lab/postgres/cluster/profile"
	"plimsoll/lab/postgres/installation"
	"plimsoll/platform/problem"
)

// Base describes the cluster that a base backup is taken of.
type Base struct {
	Engine   string              `json:"engine"`
	Server   installation.Server `json:"server"`
	Profile  profile.Name        `json:"profile"`
	Memory   string              `json:"memory,omitempty"`
	Settings []profile.Setting   `json:"settings,omitempty"`
	Unsafe   bool                `json:"unsafe,omitempty"`
	Archive  string              `json:"archive,omitempty"` // of the log
	Standby  bool                `json:"standby,omitempty"` // it was taken from a standby
	// SocketOnly: it had no port
	SocketOnly bool `json:"socket_only,omitempty"`
}

// Backup is what a new cluster is restored from.
type Backup struct {
	Data     string // the folder of the data
	Password string
	UserConf string // a file with the user's settings, perhaps
	Major    int
	Bytes    int64
}

// Base is what a restore has to know of the cluster.
func (c *Cluster) Base() Base {
	return Base{Engine: c.Engine, Server: c.Server(), Profile: c.Profile, Memory: c.Memory,
		Settings: c.marker.Settings, Unsafe: c.Unsafe, Archive: c.Archive, Standby: c.ReplicaOf != "",
		SocketOnly: c.SocketOnly}
}

// CopyTo copies the running cluster's data, its password and the user's settings to a folder, where the data get a
// folder of their own.
func (c *Cluster) CopyTo(ctx context.Context, dir string) (data string, err error) {
	if err := c.mayStream(ctx); err != nil {
		return "", err
	}
	account, err := c.account()
	if err != nil {
		return "", err
	}
	data = filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return "", environment(err)
	}
	if err := account.Own(data); err != nil {
		return "", environment(err)
	}
	password := c.password()
	handed := filepath.Join(dir, streamPass)
	if err := writeFile(handed, []byte(passLine+password+"\n"), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(handed)
	if err := errors.Join(account.Own(handed), writePassword(dir, password), c.copyUserConf(dir)); err != nil {
		return "", err
	}
	return data, c.copyRunning(ctx, c.Server(), account, data, handed, nil)
}

// Program runs a program of an installation on a data folder, as the owner of the data, and gives what it printed.
func Program(ctx context.Context, srv installation.Server, data, program string, args ...string) (string, error) {
	path, err := srv.Program(program)
	if err != nil {
		return "", err
	}
	account, err := process.OwnerOf(data)
	if err != nil {
		return "", environment(err)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = serverEnv(), "/"
	account.Run(cmd)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return string(out), fmt.Errorf("%s: %w: %s", program, err, lastLines(string(out), 5))
	}
	return string(out), nil
}

const copySQL = `SELECT coalesce(p.backup_streamed, 0), coalesce(p.backup_total, 0)
	FROM pg_stat_progress_basebackup p JOIN pg_stat_activity a USING (pid) WHERE a.application_name = $1`

const copyLookEvery = 200 * time.Millisecond

// watchCopy tells how much has been copied, until ctx ends. What cannot be told is no error.
func (c *Cluster) watchCopy(ctx context.Context, application string) {
	if c.store.Copied == nil {
		return
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(copyLookEvery):
		}
		var done, all int64
		if conn.QueryRow(ctx, copySQL, application).Scan(&done, &all) == nil && all > 0 {
			c.store.Copied(done, all)
		}
	}
}

// ArchiveNow ends the current segment of a running cluster's log, and returns when it is in the archive.
func (c *Cluster) ArchiveNow(ctx context.Context) error {
	if c.Archive == "" || c.stateNow() != Running {
		return nil
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// The byte before: if nothing was written since the last segment ended, this is that segment in every version.
	var last string
	if err := conn.QueryRow(ctx, "SELECT pg_walfile_name(pg_switch_wal() - 1::numeric)").Scan(&last); err != nil {
		return c.wrap(err)
	}
	var failed int64 = -1
	return c.await(ctx, "archive its log", func() (done bool, err error) {
		var failures int64
		err = conn.QueryRow(ctx, `SELECT coalesce(substr(last_archived_wal, 1, 24) >= $1, false), failed_count
			FROM pg_stat_archiver`, last).Scan(&done, &failures)
		if failed < 0 {
			failed = failures
		}
		if err == nil && !done && failures > failed+1 {
			return false, problem.New(problem.Environment, errors.New("its log cannot be archived"), "see "+c.LogFile())
		}
		return done, err
	})
}
