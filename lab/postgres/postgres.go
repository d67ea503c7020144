// Package postgres owns what the lab knows of the database server it measures: what
// it is, how it is set, whether it is still the same incarnation, and which process
// of this machine it is.
package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"plimsoll/lab/process"
	"plimsoll/lab/server"
	"plimsoll/platform/database"
)

// Server is a look at a database server.
type Server struct {
	Version  string
	Flavour  string // plimsoll when it reports a patchset, else vanilla
	Patchset *int   // nil on a stock server
	Settings map[string]string
	Started  time.Time // of the postmaster: another one is another incarnation
	// Replayed is up to where the server read its log when it last recovered from a crash of one of its
	// processes, which the postmaster outlives; empty: never, and on a standby, which always reads.
	Replayed string
	// Cleared is when the server's statistics began; a recovery lets them begin anew.
	Cleared time.Time
	// Database is database.Database.Identity of the one that was looked at; empty where it may not be known.
	Database string
	// Postmaster is its process on this machine; 0 when it is elsewhere, or not known.
	Postmaster int
	// WAL is how many bytes of log it has written since it was made; nil on a standby.
	WAL *int64
}

//go:embed settings.sql
var settingsSQL string

// Look connects, looks and leaves.
func Look(ctx context.Context, dsn string) (*Server, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("look at the database server: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	patchset := server.PatchsetOf(conn.PgConn())
	s := &Server{Flavour: server.Vanilla, Version: patchset.Version}
	if !patchset.Stock() {
		s.Flavour, s.Patchset = server.Plimsoll, &patchset.Number
	}
	if err := s.look(ctx, conn); err != nil {
		return nil, fmt.Errorf("look at the database server: %w", err)
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
	s.Database = database.Identity(ctx, conn)
	if isHere(conn.PgConn().Conn().RemoteAddr()) {
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

func isHere(at net.Addr) bool {
	if tcp, ok := at.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	return at.Network() == "unix"
}

// startTolerance between what the server and the kernel say of the same start.
const startTolerance = 3 * time.Second

// postmaster is the parent of a backend. A server in a container, or behind a tunnel
// on loopback, has process numbers that mean something else here; so name and start
// must agree, else it is not known.
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
	if err != nil || at.Sub(started).Abs() > startTolerance {
		return 0
	}
	return parent.PID
}

// CopyDatabase makes database to anew as a copy of another of the server of conn, to which nobody may be connected. File by file, because that writes far less
// log than a copy of rows.
func CopyDatabase(ctx context.Context, conn *pgx.Conn, from, to string) error {
	from, to = pgx.Identifier{from}.Sanitize(), pgx.Identifier{to}.Sanitize()
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + to + " WITH (FORCE)",
		"CREATE DATABASE " + to + " TEMPLATE " + from + " STRATEGY file_copy",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
