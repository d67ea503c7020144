// Package postgres reads what the lab knows of the database server it measures: version, settings, whether it has
// restarted, and its process on this machine.
package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/host/process"
	"plimsoll/ground/postgres/installation"
)

// Server is a look at a database server.
type Server struct {
	Version  string
	Flavour  string // plimsoll if it reports a patchset, else vanilla
	Patchset *int   // nil on a stock server
	Settings map[string]string
	Started  time.Time // start of the postmaster: it differs after a restart
	// Replayed is the log position of the last recovery from a crash of one of the server's processes, which the
	// postmaster survives; empty: never, and on a standby, which always replays.
	Replayed string
	// Cleared is when the server's statistics were reset, which recovery does too.
	Cleared time.Time
	// Database is DatabaseID of the inspected one; empty if it may not be known.
	Database string
	// Here: the server answers on this machine, perhaps from a container.
	Here bool
	// Postmaster is its pid on this machine; 0 if it runs elsewhere or is not known.
	Postmaster int
	// WAL is the number of bytes of log written since the server was created; nil on a standby.
	WAL *int64
	// Checkpoints begun since the statistics were reset.
	Checkpoints int64
}

//go:embed settings.sql
var settingsSQL string

// Inspect connects, reads and disconnects.
func Inspect(ctx context.Context, dsn string) (*Server, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("inspect the database server: %w", err)
	}
	conn, err := Open(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("inspect the database server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return Look(ctx, conn)
}

// Look inspects the server of a connection.
func Look(ctx context.Context, conn *pgx.Conn) (*Server, error) {
	patchset := installation.PatchsetOf(conn.PgConn())
	s := &Server{Flavour: installation.Vanilla, Version: patchset.Version}
	if !patchset.Stock() {
		s.Flavour, s.Patchset = installation.Plimsoll, &patchset.Number
	}
	if err := s.look(ctx, conn); err != nil {
		return nil, fmt.Errorf("inspect the database server: %w", err)
	}
	return s, nil
}

func (s *Server) look(ctx context.Context, conn *pgx.Conn) error {
	var backend int
	const who = `select pg_postmaster_start_time(), pg_backend_pid(),
		case when not pg_is_in_recovery() then pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint end,
		case when not pg_is_in_recovery() then coalesce(pg_last_wal_replay_lsn()::text, '') else '' end,
		coalesce((select stats_reset from pg_stat_bgwriter), 'epoch')`
	if err := conn.QueryRow(ctx, who).Scan(&s.Started, &backend, &s.WAL, &s.Replayed, &s.Cleared); err != nil {
		return err
	}
	if err := s.countCheckpoints(ctx, conn); err != nil {
		return err
	}
	s.Database = DatabaseID(ctx, conn)
	if s.Here = isHere(conn.PgConn().Conn().RemoteAddr()); s.Here {
		s.Postmaster = postmaster(backend, s.Started)
	}
	rows, err := conn.Query(ctx, settingsSQL)
	if err != nil {
		return err
	}
	s.Settings = map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { s.Settings[name] = value; return nil })
	return err
}

// countCheckpoints in the view that the server's version has: PostgreSQL 17 moved them.
func (s *Server) countCheckpoints(ctx context.Context, conn *pgx.Conn) error {
	var moved bool
	if err := conn.QueryRow(ctx, "select to_regclass('pg_catalog.pg_stat_checkpointer') is not null").
		Scan(&moved); err != nil {
		return err
	}
	count := "select checkpoints_timed + checkpoints_req from pg_stat_bgwriter"
	if moved {
		count = "select num_timed + num_requested from pg_stat_checkpointer"
	}
	return conn.QueryRow(ctx, count).Scan(&s.Checkpoints)
}

func isHere(at net.Addr) bool {
	if tcp, ok := at.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	return at.Network() == "unix"
}

// The server's time of its start and the kernel's of the same process: the server takes its own once it is nearly up,
// which a busy machine delays. Both are rounded.
const (
	startRounding = 3 * time.Second
	startDelayMax = 2 * time.Minute
)

// postmaster is the parent of a backend. A server in a container, or behind a tunnel on loopback, reports pids that
// mean something else here; so name and start must agree, else it is not known.
func postmaster(backend int, started time.Time) int {
	child, err := process.Of(backend)
	if err != nil {
		return 0
	}
	parent, err := child.Parent()
	if err != nil || parent.Name() != "postgres" {
		return 0
	}
	at, err := parent.StartedAt()
	if delay := started.Sub(at); err != nil || delay < -startRounding || delay > startDelayMax {
		return 0
	}
	return parent.PID
}
