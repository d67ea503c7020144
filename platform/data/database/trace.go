package database

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Trace records what one operation did with the database, step by step. Untraced operations cost nothing extra; a
// traced one takes four more round trips per unit of work.
type Trace struct {
	// Acquire is how long the operation waited for connections.
	Acquire time.Duration
	Trips   []Trip
	// WALBytes is the log written by the server's backends, BackendCPU their processor time. Nil means unknown: a
	// backend's WAL statistics need PostgreSQL 18, processor time a server on the same machine.
	WALBytes   *int64
	BackendCPU *time.Duration
	units      int
}

// Trip is one round trip.
type Trip struct {
	Took       time.Duration
	Statements []string // by name
}

type traceKey struct{}

// WithTrace returns a context whose units of work are traced.
func WithTrace(ctx context.Context) (context.Context, *Trace) {
	t := &Trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

func (t *Trace) trip(begun time.Time, chain []*Statement) {
	trip := Trip{Took: time.Since(begun)}
	for _, s := range chain {
		trip.Statements = append(trip.Statements, s.name)
	}
	t.Trips = append(t.Trips, trip)
}

// usage of a backend so far; nil: unknown.
type usage struct {
	wal *int64
	cpu *time.Duration
}

// usageOf asks the server. A backend reports its statistics with delay, unless it is told to at the end of a
// transaction.
func usageOf(ctx context.Context, conn *pgx.Conn) (u usage) {
	var version int
	if _, err := fmt.Sscanf(conn.PgConn().ParameterStatus("server_version"), "%d", &version); err == nil &&
		version >= 18 {
		var bytes int64
		_, err := conn.Exec(ctx, "SELECT pg_stat_force_next_flush()", pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT wal_bytes::bigint FROM pg_stat_get_backend_wal(pg_backend_pid())",
				pgx.QueryExecModeSimpleProtocol).Scan(&bytes)
		}
		if err == nil {
			u.wal = &bytes
		}
	}
	if cpu, err := processorTime(conn); err == nil {
		u.cpu = &cpu
	}
	return u
}

// processorTime reads the kernel's figures of the backend, if it runs on this machine.
func processorTime(conn *pgx.Conn) (time.Duration, error) {
	switch address := conn.PgConn().Conn().RemoteAddr().(type) {
	case *net.UnixAddr:
	case *net.TCPAddr:
		if !address.IP.IsLoopback() {
			return 0, fmt.Errorf("the server is elsewhere")
		}
	}
	folder := fmt.Sprintf("/proc/%d/", conn.PgConn().PID())
	name, err := os.ReadFile(folder + "cmdline")
	if err != nil || !strings.HasPrefix(string(name), "postgres:") {
		return 0, fmt.Errorf("%s is not the backend", folder) // behind a proxy or in another container
	}
	text, err := os.ReadFile(folder + "schedstat") // nanoseconds on a processor, waiting for one, slices
	if err != nil {
		return 0, err
	}
	var nanoseconds int64
	_, err = fmt.Sscan(string(text), &nanoseconds)
	return time.Duration(nanoseconds), err
}

// add adds the usage of one unit of work. If any part is unknown, the sum is.
func (t *Trace) add(before, after usage) {
	first := t.units == 0
	t.units++
	t.WALBytes = sum(first, t.WALBytes, before.wal, after.wal)
	t.BackendCPU = sum(first, t.BackendCPU, before.cpu, after.cpu)
}

func sum[T int64 | time.Duration](first bool, so, before, after *T) *T {
	if before == nil || after == nil || !first && so == nil {
		return nil
	}
	total := *after - *before
	if so != nil {
		total += *so
	}
	return &total
}
