package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/ground/problem"
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
	// Tablespaces are those that the copy carries, WalDir where the cluster had its log.
	Tablespaces []Tablespace `json:"tablespaces,omitempty"`
	WalDir      string       `json:"wal_dir,omitempty"`
	// Compression of the log, which a server that restores it must have been built with; unknown in older backups.
	Compression string `json:"wal_compression,omitempty"`
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
	b := Base{Engine: c.Engine, Server: c.Server(), Profile: c.Profile, Memory: c.Memory,
		Settings: c.marker.Settings, Unsafe: c.Unsafe, Standby: c.ReplicaOf != "", SocketOnly: c.SocketOnly,
		Compression: c.logCompression(), WalDir: c.WalDir}
	// The folder is remembered also where nothing is archived any more; a standby archives nothing.
	if c.Log == ArchiveLog && c.ReplicaOf == "" {
		b.Archive = c.Archive
	}
	return b
}

// CopyTo copies the running cluster's data, its password and the user's settings to a folder, where the data and each
// tablespace get a folder of their own; the data find them wherever that folder is moved.
func (c *Cluster) CopyTo(ctx context.Context, dir string) (data string, spaces []Tablespace, err error) {
	if err := c.MayStream(ctx); err != nil {
		return "", nil, err
	}
	account, err := c.account()
	if err != nil {
		return "", nil, err
	}
	copied, err := c.spaces(ctx)
	if err != nil {
		return "", nil, err
	}
	number := func(t Tablespace) string { return strconv.FormatUint(uint64(t.OID), 10) }
	args, err := mapped(copied, account, func(t Tablespace) string { return filepath.Join(dir, ownSpaces, number(t)) })
	if err != nil {
		return "", nil, err
	}
	data = filepath.Join(dir, "data")
	if err := errors.Join(os.Mkdir(data, 0o700), account.Own(data)); err != nil {
		return "", nil, environment(err)
	}
	password := c.password()
	handed := filepath.Join(dir, streamPass)
	if err := writeFile(handed, []byte(passLine+password+"\n"), 0o600); err != nil {
		return "", nil, err
	}
	defer os.Remove(handed)
	if err := errors.Join(account.Own(handed), writePassword(dir, password), c.copyUserConf(dir)); err != nil {
		return "", nil, err
	}
	if err := c.copyRunning(ctx, c.Server(), account, data, handed, args); err != nil {
		return "", nil, err
	}
	for _, t := range copied {
		to := filepath.Join("..", "..", ownSpaces, number(t.Tablespace)) // from data/pg_tblspc
		if err := relink(data, account, t.OID, to); err != nil {
			return "", nil, err
		}
		spaces = append(spaces, t.Tablespace)
	}
	return data, spaces, nil
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
		return string(out), fmt.Errorf("%s: %w: %s", program, err, human.LastLines(string(out), 5))
	}
	return string(out), nil
}

const copySQL = `SELECT coalesce(p.backup_streamed, 0), coalesce(p.backup_total, 0)
	FROM pg_stat_progress_basebackup p JOIN pg_stat_activity a USING (pid) WHERE a.application_name = $1`

const copyLookEvery = 200 * time.Millisecond

// copyWatched copies a running server and reports meanwhile how much it has sent.
func (s *Store) copyWatched(ctx context.Context, open func(context.Context) (*pgx.Conn, error), application string,
	makeCopy func() error) error {
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		s.watchCopy(watching, open, application)
	}()
	err := makeCopy()
	stop()
	<-watched
	return err
}

// watchCopy reports how much has been copied, until ctx ends. It ignores errors.
func (s *Store) watchCopy(ctx context.Context, open func(context.Context) (*pgx.Conn, error), application string) {
	if s.Copied == nil {
		return
	}
	conn, err := open(ctx)
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
			s.Copied(done, all)
		}
	}
}

// ArchiveNow ends the current segment of a running cluster's log, and returns when it is in the archive. The log of a
// cluster that has crashed stays where it is, which a note reports.
func (c *Cluster) ArchiveNow(ctx context.Context) error {
	if c.Base().Archive == "" {
		return nil
	}
	if c.stateNow() != Running {
		// A shutdown archives everything, and removes the file.
		if f, err := c.readPidFile(); err != nil || f.pid != 0 {
			c.store.say("note: cluster %s does not run and was not shut down: what it wrote last is not in the "+
				"archive and is not restored; 'plimsoll up %s' archives it", c.Name(), c.Name())
		}
		return nil
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return c.wrap(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// A new commit: recovery knows that it has reached a time only by a later commit. It waits for no standby.
	if _, err := conn.Exec(ctx, "SET synchronous_commit = local; SELECT pg_current_xact_id()"); err != nil {
		return c.wrap(err)
	}
	// The byte before: if the segment has ended since, this is that segment in every version.
	var last string
	if err := conn.QueryRow(ctx, "SELECT pg_walfile_name(pg_switch_wal() - 1::numeric)").Scan(&last); err != nil {
		return c.wrap(err)
	}
	var failed int64 = -1
	return c.await(ctx, "archive its log", func() (done bool, err error) {
		// The segment itself: last_archived_wal goes back to an older one when a backup's label is archived.
		if _, err := os.Lstat(filepath.Join(c.store.ArchiveDir(c.Archive), last)); err == nil {
			return true, nil
		}
		var failures int64
		err = conn.QueryRow(ctx, "SELECT failed_count FROM pg_stat_archiver").Scan(&failures)
		if failed < 0 {
			failed = failures
		}
		if err == nil && failures > failed+1 {
			return false, problem.New(problem.Environment, errors.New("its log cannot be archived"), "see "+c.LogFile())
		}
		return false, err
	})
}
