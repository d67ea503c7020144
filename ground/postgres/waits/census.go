package waits

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Census counts the server's client processes.
type Census struct {
	PIDs       []int
	All, Idle  int
	AllAllowed int // max_connections
	Remote     int // of clients on other machines
	Port       int // of the server
	// From where clients of other machines are connected that work, or have just worked, as ADDRESS PORT.
	From []string
	// Own are those of this database.
	Own      []int
	Database string
	// Talking are idle sessions whose last statement ended a moment ago.
	Talking int
	// Background are the server's own processes.
	Background []Process
	// Users have them, those with most connections.
	Users []User
}

// User is who has connections: an application as it calls itself, with its role and database.
type User struct {
	Application string  `json:"application"`
	User        string  `json:"user"`
	Database    string  `json:"database"`
	All         int     `json:"all"`
	Idle        int     `json:"idle"`
	ForS        float64 `json:"for_s"` // of its oldest transaction
}

// Process of the server that serves no client.
type Process struct {
	PID      int     `json:"pid"`
	Kind     string  `json:"kind"` // as pg_stat_activity names it
	Database string  `json:"database"`
	Type     string  `json:"type"` // of its wait event
	Event    string  `json:"event"`
	Query    string  `json:"query"` // what an autovacuum worker does, without values of users
	ForS     float64 `json:"for_s"` // of its transaction
}

// Wait is what it waits for.
func (p Process) Wait() Event { return Event{p.Type, p.Event} }

// Idle: it waits for work.
func (p Process) Idle() bool { return p.Wait().Class() == Idle }

//go:embed census.sql
var censusSQL string

// TakeCensus counts all but this connection and one application.
func TakeCensus(ctx context.Context, conn *pgx.Conn, without string) (c Census, err error) {
	err = conn.QueryRow(ctx, censusSQL, without).Scan(&c.PIDs, &c.All, &c.Idle, &c.AllAllowed, &c.Remote, &c.From,
		&c.Port, &c.Own, &c.Database, &c.Talking, &c.Background, &c.Users)
	if err != nil {
		err = fmt.Errorf("count the sessions: %w", err)
	}
	return c, err
}

// Holder holds back the horizon that limits what vacuum may remove.
type Holder struct {
	Kind        string // session, prepared transaction, replication slot, standby
	Name        string // pid, or name
	Application string
	State       string
	XIDs        int64 // transactions started since
	For         time.Duration
	Query       string
	User        string
	Backend     string // kind of process, as pg_stat_activity names it
	// Catalogs: it holds back the catalogs alone, and no table of a user.
	Catalogs bool
}

//go:embed horizon.sql
var horizonSQL string

// Holders returns the oldest of each kind, the oldest first. VACUUM and other databases hold back nothing here.
func Holders(ctx context.Context, conn *pgx.Conn, without string) ([]Holder, error) {
	rows, err := conn.Query(ctx, horizonSQL, without)
	if err != nil {
		return nil, fmt.Errorf("read the xmin horizon: %w", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h Holder, err error) {
		var held float64
		err = row.Scan(&h.Kind, &h.Name, &h.Application, &h.State, &h.XIDs, &held, &h.Query, &h.User, &h.Backend,
			&h.Catalogs)
		h.For = seconds(held)
		return h, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the xmin horizon: %w", err)
	}
	return all, nil
}
