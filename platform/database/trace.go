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

// Trace is what one operation did with the database, step by step. Operations that are not traced pay nothing for it; one
// that is pays four more round trips for each of its units of work.
type Trace struct {
	// Acquire is how long the operation waited for connections.
	Acquire time.Duration
	Trips   []Trip
	// WALBytes that the server's backends wrote, and BackendCPU, the processor time that they used. Nil means that it cannot be
	// told: statistics of a backend's WAL need PostgreSQL 18, processor time a server on the same machine.
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

// WithTrace makes a context whose units of work are traced in the result.
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

// usage of a backend so far; nil is not known.
type usage struct {
	wal *int64
	cpu *time.Duration
}

// usageOf asks the server. A backend reports its own statistics late, unless it is told to at the end of a transaction.
func usageOf(ctx context.Context, conn *pgx.Conn) (u usage) {
	var version int
	if _, err := fmt.Sscanf(conn.PgConn().ParameterStatus("server_version"), "%d", &version); err == nil && version >= 18 {
		var bytes int64
		_, err := conn.Exec(ctx, "SELECT pg_stat_force_next_flush()", pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT wal_bytes::bigint FROM pg_stat_get_backend_wal(pg_backend_pid())", pgx.QueryExecModeSimpleProtocol).Scan(&bytes)
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

// processorTime reads what the kernel knows of the backend, if it is a process of this machine.
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

// add puts what one unit of work used to the rest. Once a part is not known, the sum is not.
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
