package layout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/host/probe"
	"plimsoll/ground/postgres"
)

// Server is how PostgreSQL uses the machine. Null is not known.
type Server struct {
	Version  string            `json:"version"`
	Here     bool              `json:"here"`
	Way      string            `json:"way"` // unix socket, loopback, network
	Settings map[string]string `json:"settings"`
	// Processors and MemoryNodes that its processes may use, as the kernel lists them; empty: not known.
	Processors  string `json:"processors"`
	MemoryNodes string `json:"memory_nodes"`
	// SharedByNode is where its shared memory lies; null: not known.
	SharedByNode map[string]int64 `json:"shared_bytes_by_node"`
}

// Settings that decide how memory and time are used, of the versions that have them.
const settingsSQL = `SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('shared_buffers',
	'shared_memory_size', 'huge_pages', 'huge_pages_status', 'huge_page_size', 'max_connections', 'io_method',
	'shared_memory_type', 'track_io_timing', 'wal_sync_method', 'fsync', 'server_version_num', 'block_size')`

const (
	tripsMost   = 300
	tripsWithin = 3 * time.Second
	// sharedWithin bounds the look at shared memory by node, which touches each page.
	sharedWithin = "5s"
)

func (r *Report) look(ctx context.Context, o Options, until time.Time) error {
	conn, err := postgres.Connect(ctx, o.DSN, "plimsoll topology")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	s := &Server{Settings: map[string]string{}}
	r.Server = s
	look, err := postgres.Inspect(ctx, o.DSN)
	if err != nil {
		return err
	}
	s.Version, s.Here = look.Version, look.Here
	switch address := conn.PgConn().Conn().RemoteAddr(); {
	case address.Network() == "unix":
		s.Way = "unix socket"
	case s.Here:
		s.Way = "loopback"
	default:
		s.Way = "network"
	}
	rows, err := conn.Query(ctx, settingsSQL)
	if err != nil {
		return fmt.Errorf("read the server's settings: %w", err)
	}
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		s.Settings[name] = value
		return nil
	}); err != nil {
		return fmt.Errorf("read the server's settings: %w", err)
	}
	if look.Postmaster > 0 {
		r.allowed(o.Root, look.Postmaster)
	} else {
		r.miss("processors of the server", "its processes are not visible from here")
	}
	r.trips(ctx, conn, minTime(until, time.Now().Add(tripsWithin)))
	return r.sharedByNode(ctx, conn)
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// allowed reads what the kernel lets the server's processes use.
func (r *Report) allowed(root string, pid int) {
	text, err := os.ReadFile(filepath.Join(root, "proc", strconv.Itoa(pid), "status"))
	if err != nil {
		r.miss("processors of the server", err.Error())
		return
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "Cpus_allowed_list":
			r.Server.Processors = value
		case "Mems_allowed_list":
			r.Server.MemoryNodes = value
		}
	}
}

// trips of an empty statement.
func (r *Report) trips(ctx context.Context, conn *pgx.Conn, until time.Time) {
	var all []float64
	for ctx.Err() == nil && len(all) < tripsMost && (time.Now().Before(until) || len(all) == 0) {
		began := time.Now()
		if err := conn.Ping(ctx); err != nil {
			r.miss("round trip", err.Error())
			return
		}
		all = append(all, float64(time.Since(began)))
	}
	times, err := probe.TimesOf(all)
	if err != nil {
		r.miss("round trip", err.Error())
		return
	}
	r.Probes.Trip = &times
}

const sharedSQL = `SELECT numa_node::text, sum(size)::bigint FROM pg_shmem_allocations_numa GROUP BY 1`

// sharedByNode asks a server that was built with libnuma. Without a second node there is nothing to ask.
func (r *Report) sharedByNode(ctx context.Context, conn *pgx.Conn) error {
	const name, firstWith = "shared memory by node", 180000
	if version, _ := strconv.Atoi(r.Server.Settings["server_version_num"]); version < firstWith {
		r.miss(name, "PostgreSQL has pg_shmem_allocations_numa from 18 on")
		return nil
	}
	if len(r.Topology.Nodes) < 2 {
		r.miss(name, "this machine has one node")
		return nil
	}
	var built bool
	if err := conn.QueryRow(ctx, "SELECT pg_numa_available()").Scan(&built); err != nil || !built {
		r.miss(name, "the server was built without libnuma, or the kernel lets it use none (pg_numa_available)")
		return nil
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = '"+sharedWithin+"'"); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sharedSQL)
	if err != nil {
		return err
	}
	found := map[string]int64{}
	var node *string
	var bytes int64
	_, err = pgx.ForEachRow(rows, []any{&node, &bytes}, func() error {
		key := "not touched yet"
		if node != nil && !strings.HasPrefix(*node, "-") {
			key = *node
		}
		found[key] += bytes
		return nil
	})
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		r.miss(name, refused.Message)
		return nil
	}
	if err == nil {
		r.Server.SharedByNode = found
	}
	return err
}
