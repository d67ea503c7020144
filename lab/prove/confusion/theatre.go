package confusion

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/postgres"
	"plimsoll/ground/postgres/cluster"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/postgres/installation"
	"plimsoll/lab/prove/confusion/incident"
	"plimsoll/lab/system"
)

const (
	// usualFlush is what a flush takes at least, as on a disk of a cloud: on one that takes none, a queue of commits
	// would cost nothing.
	usualFlush = time.Millisecond
	// shop is the database that incidents get copies of.
	shop = "incident_base"
)

// theatre is a server of one engine on which incidents are played, and its standby once one is needed.
type theatre struct {
	Options
	engine  string
	cluster *cluster.Cluster
	server  *cluster.Postmaster
	remove  func() error
	dir     string // for links, files and the pooler's socket

	standby       *cluster.Cluster
	standbyServer *cluster.Postmaster
	removeStandby func() error
}

// limits of the server that only a start can change; a standby must have them, too.
var limits = []profile.Setting{
	{Name: "max_prepared_transactions", Value: "20"}, {Name: "max_connections", Value: "200"},
	{Name: "shared_preload_libraries", Value: "pg_stat_statements"},
}

func openTheatre(ctx context.Context, o Options, engine string) (t *theatre, err error) {
	t = &theatre{Options: o, engine: engine}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	spec := o.Spec
	spec.Engine, spec.Log = engine, cluster.ReplicaLog
	if t.cluster, t.remove, err = system.Temporary(ctx, o.Clusters, "prove-incidents", spec); err != nil {
		return t, err
	}
	if t.dir, err = os.MkdirTemp("", "plimsoll-incidents-"); err != nil {
		return t, err
	}
	start := cluster.StartOptions{Settings: limits}
	if !spec.Unsafe {
		start.FlushLatency = usualFlush
	}
	if t.server, err = t.cluster.Start(ctx, start); err != nil {
		return t, err
	}
	if err := postgres.Execute(ctx, t.owner(""), "CREATE DATABASE "+shop); err != nil {
		return t, err
	}
	return t, postgres.Execute(ctx, t.owner(shop), incident.Base(), "VACUUM ANALYZE")
}

// owner of a database, on the primary. Its commits wait for no standby: it must be able to undo what was planted.
func (t *theatre) owner(database string) string {
	return withParameter(t.cluster.DSN(database).Secret(), "synchronous_commit", "local")
}

func withParameter(dsn, name, value string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn // the cluster wrote it
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = postgres.Parameters(q)
	return u.String()
}

// follow starts the standby, unless it is there.
func (t *theatre) follow(ctx context.Context) (err error) {
	if t.standbyServer != nil {
		return nil
	}
	spec := cluster.Spec{ReplicaOf: t.cluster, SocketOnly: true}
	if t.standby, t.removeStandby, err = system.Temporary(ctx, t.Clusters, "prove-incidents-standby",
		spec); err != nil {
		return err
	}
	if t.standbyServer, err = t.standby.Start(ctx, cluster.StartOptions{Settings: limits}); err != nil {
		return err
	}
	return t.standby.Join(ctx)
}

// caughtUp returns when the standby has applied what the primary has written.
func (t *theatre) caughtUp(ctx context.Context) error {
	to, err := postgres.Value[string](ctx, t.owner(""), "SELECT pg_current_wal_flush_lsn()::text")
	if err != nil {
		return err
	}
	return postgres.With(ctx, t.standby.DSN("postgres").Secret(), func(conn *pgx.Conn) error {
		for deadline := time.Now().Add(downWithin); ; sleep(ctx, 20*time.Millisecond) {
			var there bool
			if err := conn.QueryRow(ctx, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn",
				to).Scan(&there); err != nil {
				return err
			}
			if there {
				return nil
			}
			if time.Now().After(deadline) {
				return errors.New("the standby does not catch up")
			}
		}
	})
}

// processes whose descendants are the trial's own.
func (t *theatre) own() []int {
	pids := []int{os.Getpid(), t.server.PID()}
	if t.standbyServer != nil {
		pids = append(pids, t.standbyServer.PID())
	}
	return pids
}

// close leaves nothing behind: the standby first, which needs the other.
func (t *theatre) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), downWithin)
	defer cancel()
	var errs []error
	for _, one := range []struct {
		server *cluster.Postmaster
		remove func() error
	}{{t.standbyServer, t.removeStandby}, {t.server, t.remove}} {
		if one.server != nil {
			errs = append(errs, one.server.Stop(ctx, cluster.Immediate))
		}
		if one.remove != nil {
			errs = append(errs, one.remove())
		}
	}
	if t.dir != "" {
		errs = append(errs, os.RemoveAll(t.dir))
	}
	return errors.Join(errs...)
}

// engines that trials of incidents are drawn from: the one that was asked for, or all that are here.
func (o Options) engines(ctx context.Context) (map[string]installation.Server, error) {
	all := map[string]installation.Server{}
	if o.Spec.Engine != "" {
		server, err := installation.Find(ctx, o.Spec.Engine)
		all[o.Spec.Engine] = server
		return all, err
	}
	var err error
	for _, engine := range installation.Flavours {
		server, wrong := installation.Find(ctx, engine)
		if wrong != nil {
			err = wrong
			continue
		}
		all[engine] = server
	}
	if len(all) == 0 {
		return nil, err
	}
	return all, nil
}

// hasLibrary says whether an installation has one.
func hasLibrary(server installation.Server, name string) bool {
	for _, folder := range []string{"lib", "lib/postgresql", "lib64"} {
		if exists(filepath.Join(server.Prefix, folder, name+".so")) {
			return true
		}
	}
	return name == ""
}

func (t *theatre) String() string { return fmt.Sprint(t.cluster.Server()) }
