package database

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Label names the operation that a unit of work belongs to. Client is the client's name for it.
type Label struct{ Operation, User, Organisation, Client string }

type labelKey struct{}

// WithLabel labels the units of work of a context.
func WithLabel(ctx context.Context, l Label) context.Context {
	return context.WithValue(ctx, labelKey{}, l)
}

// Running is a unit of work that has a connection.
type Running struct {
	Backend uint32
	Since   time.Time
	Label   Label
}

// running are the units of work by backend, known to this process only.
type running struct {
	mutex sync.Mutex
	units map[uint32]Running
}

func (r *running) begin(ctx context.Context, backend uint32) {
	label, _ := ctx.Value(labelKey{}).(Label)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.units == nil {
		r.units = map[uint32]Running{}
	}
	r.units[backend] = Running{backend, time.Now(), label}
}

func (r *running) end(backend uint32) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.units, backend)
}

// Longer are the units of work that have been running for longer than that.
func (db *Database) Longer(than time.Duration) (units []Running) {
	limit := time.Now().Add(-than)
	db.running.mutex.Lock()
	defer db.running.mutex.Unlock()
	for _, u := range db.running.units {
		if u.Since.Before(limit) {
			units = append(units, u)
		}
	}
	return units
}

// Working are the operations by backend that have a connection now: by the client's name, or else by ours.
func (db *Database) Working() map[uint32]string {
	db.running.mutex.Lock()
	defer db.running.mutex.Unlock()
	working := make(map[uint32]string, len(db.running.units))
	for backend, u := range db.running.units {
		if name := cmp.Or(u.Label.Client, u.Label.Operation); name != "" {
			working[backend] = name
		}
	}
	return working
}

// LockTimeout names the backend whose wait for a lock timed out.
type LockTimeout struct {
	Backend uint32
	Err     error
}

func (e *LockTimeout) Error() string { return e.Err.Error() }
func (e *LockTimeout) Unwrap() error { return e.Err }

// Apart makes a connection outside the pool, for what must work when the pool is exhausted.
func (db *Database) Apart(ctx context.Context, application string) (*pgx.Conn, error) {
	config := db.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = application
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	return conn, nil
}

// Pool figures.
type Pool struct {
	Max, Total, Idle, Acquired int32
	Acquires, Waits            int64
	WaitTime                   time.Duration
	Opened, EndedByAge         int64
}

// Pool says how the connections are used.
func (db *Database) Pool() Pool {
	s := db.pool.Stat()
	return Pool{
		Max: s.MaxConns(), Total: s.TotalConns(), Idle: s.IdleConns(), Acquired: s.AcquiredConns(),
		Acquires: s.AcquireCount(),
		Waits:    s.EmptyAcquireCount(), WaitTime: s.EmptyAcquireWaitTime(), Opened: s.NewConnsCount(),
		EndedByAge: s.MaxLifetimeDestroyCount(),
	}
}
