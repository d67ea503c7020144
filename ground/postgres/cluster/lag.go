package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
	"plimsoll/ground/problem"
)

// Replication is a cluster's part in a replication. Unknown values are left out.
type Replication struct {
	Role     string    `json:"role"`         // primary, standby
	Of       string    `json:"of,omitempty"` // a standby's primary
	Standbys []Standby `json:"standbys,omitempty"`
	Standby            // of a standby: what its primary says, or itself if that does not run
}

// Roles.
const (
	RolePrimary = "primary"
	RoleStandby = "standby"
)

// Standby is one that follows.
type Standby struct {
	Name string `json:"name,omitempty"`
	// streaming, catchup, …: of the connection; away: there is none
	State string `json:"state,omitempty"`
	// sync, async, potential, quorum
	Sync string `json:"sync,omitempty"`
	// what it has not applied yet
	LagBytes *int64   `json:"lag_bytes,omitempty"`
	LagMS    *float64 `json:"lag_ms,omitempty"`
	// reserved, extended, unreserved, lost: whether the primary still has the log that it needs
	Log string `json:"log,omitempty"`

	// positions in the log: what there is, and what it has applied; zero: unknown
	written, applied int64
}

// Away is the state of a standby that is not connected.
const Away = "away"

// standbysSQL: a lag in time is unknown where nothing was written for a while; then nothing is missing either. A lost
// connection may stay in the view for a while, in addition to the new one.
const standbysSQL = `SELECT $1::text, coalesce(r.state, '` + Away + `'), coalesce(r.sync_state, ''),
	pg_wal_lsn_diff(pg_current_wal_insert_lsn(), r.replay_lsn)::bigint,
	CASE WHEN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), r.replay_lsn) <= 0 THEN 0
		ELSE extract(epoch FROM r.replay_lag)::float8 * 1000 END,
	coalesce((SELECT wal_status FROM pg_replication_slots WHERE slot_name = $2), ''),
	pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
	coalesce(pg_wal_lsn_diff(r.replay_lsn, '0/0')::bigint, 0)
	FROM (SELECT) one LEFT JOIN pg_stat_replication r ON r.application_name = $1
	ORDER BY r.backend_start DESC LIMIT 1`

// ownLagSQL is what a standby knows alone: what it has received and not applied. After a restart it has applied more
// than it has received since.
const ownLagSQL = `SELECT coalesce((SELECT status FROM pg_stat_wal_receiver), '` + Away + `'),
	greatest(0, pg_wal_lsn_diff(coalesce(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()),
		pg_last_wal_replay_lsn()))::bigint,
	coalesce(pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint, 0),
	coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint, 0)`

func (c *Cluster) replicationRole() *Replication {
	if c.ReplicaOf != "" {
		return &Replication{Role: RoleStandby, Of: c.ReplicaOf}
	}
	if len(c.replicas()) > 0 {
		return &Replication{Role: RolePrimary}
	}
	return nil
}

// readReplication reads the replication state from a running server.
func (c *Cluster) readReplication(ctx context.Context, conn *pgx.Conn, st *Status) {
	r := st.Replication
	switch {
	case r == nil:
	case r.Role == RoleStandby:
		if s, err := c.lag(ctx); err == nil {
			s.Name = ""
			r.Standby = s
		}
	default:
		for _, replica := range c.replicas() {
			if s, err := standbyOf(ctx, conn, replica.Name()); err == nil {
				r.Standbys = append(r.Standbys, s)
			}
		}
	}
}

func standbyOf(ctx context.Context, conn *pgx.Conn, name string) (s Standby, err error) {
	err = conn.QueryRow(ctx, standbysSQL, name, slotName(name)).Scan(&s.Name, &s.State, &s.Sync, &s.LagBytes, &s.LagMS,
		&s.Log, &s.written, &s.applied)
	return s, err
}

// lag of a standby as its primary reports it, or, if that does not run, as the standby does.
func (c *Cluster) lag(ctx context.Context) (s Standby, err error) {
	primary, err := c.store.Find(c.ReplicaOf)
	if err == nil && primary.stateNow() == Running {
		conn, err := primary.connect(ctx)
		if err != nil {
			return s, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		return standbyOf(ctx, conn, c.Name())
	}
	conn, err := c.connect(ctx)
	if err != nil {
		return s, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, ownLagSQL).Scan(&s.State, &s.LagBytes, &s.written, &s.applied)
	return s, err
}

// LagLimit is how far behind a standby may be when it is read. Zero: not at all.
type LagLimit struct {
	Bytes int64
	// Age, if not zero, takes precedence over Bytes: everything that was written longer ago must be applied.
	Age  time.Duration
	Wait time.Duration // how long it may take to come so close
}

func (l LagLimit) String() string {
	if l.Age > 0 {
		return l.Age.String()
	}
	return profile.Bytes(l.Bytes)
}

// lagWatch remembers which position the log had when. PostgreSQL's lag in time is that of the last report, and stays
// the same while a standby applies nothing.
type lagWatch struct {
	limit LagLimit
	seen  []lagPoint
}

type lagPoint struct {
	at      time.Time
	written int64
}

// near says that a standby is within the limit.
func (w *lagWatch) near(s Standby, now time.Time) bool {
	if s.LagBytes == nil {
		return false
	}
	if w.limit.Age == 0 {
		return *s.LagBytes <= w.limit.Bytes
	}
	w.seen = append(w.seen, lagPoint{now, s.written})
	for len(w.seen) > 0 && now.Sub(w.seen[0].at) > w.limit.Age {
		w.seen = w.seen[1:]
	}
	return len(w.seen) > 0 && s.applied >= w.seen[0].written
}

// AwaitLag waits until a standby is no further behind its primary than the limit. Any other cluster is never behind.
func (c *Cluster) AwaitLag(ctx context.Context, limit LagLimit) error {
	if c.ReplicaOf == "" {
		return nil
	}
	limit.Wait = max(limit.Wait, limit.Age) // it takes so long to know
	var last Standby
	watch := lagWatch{limit: limit}
	waiting, cancel := context.WithTimeout(ctx, limit.Wait)
	defer cancel()
	err := c.await(waiting, "catch up with its primary", func() (near bool, err error) {
		asked := time.Now()
		if last, err = c.lag(ctx); err != nil {
			return false, err
		}
		return watch.near(last, asked), nil
	})
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return c.wrap(err)
	}
	if last.LagBytes == nil {
		return problem.New(problem.Environment, c.wrap(fmt.Errorf("it does not follow its primary %s", c.ReplicaOf)),
			"see "+c.LogFile()+"; or use "+c.ReplicaOf)
	}
	return problem.New(problem.Environment,
		c.wrap(fmt.Errorf("it is more than %s behind its primary %s after %s: it has not applied %s of log", limit,
			c.ReplicaOf, limit.Wait, human.Bytes(*last.LagBytes))),
		"raise --wait or --max-lag, or use "+c.ReplicaOf)
}
