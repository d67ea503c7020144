// Package presence owns the mark of a database under load, by which loads detect each other.
package presence

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Mark says that a database is under load, and detects other users of it. It is an advisory lock in shared mode:
// whoever reaches the database sees it, by whatever DSN.
type Mark struct {
	conn *pgx.Conn
	own  string // application_name of the system's sessions
}

// OtherUsers lists who else uses the database at one moment.
type OtherUsers struct {
	Loads  []string       `json:"loads"`   // other marks, by application
	AtWork map[string]int `json:"at_work"` // active sessions that are none of ours, by application
}

// class is the first half of the lock's key: "load". The application servers have locks of two halves as well, of other
// classes (platform/data/durability, platform/worker/jobs).
const class = 0x6c6f6164

// Dial connects and marks the database for a load of this name.
func Dial(ctx context.Context, dsn, name string) (*Mark, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("mark the database as under load: %w", err)
	}
	own := config.RuntimeParams["application_name"]
	config.RuntimeParams["application_name"] = name
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("mark the database as under load: %w", err)
	}
	return On(ctx, conn, own)
}

// On marks the database of a connection, which belongs to the mark from then on. Sessions whose application_name is own
// are those of the measured system.
func On(ctx context.Context, conn *pgx.Conn, own string) (*Mark, error) {
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1::int, 0)", class); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("mark the database as under load: %w", err)
	}
	return &Mark{conn, own}, nil
}

const loadsSQL = `select coalesce(nullif(a.application_name, ''), 'process ' || l.pid)
	from pg_locks l left join pg_stat_activity a using (pid)
	where l.locktype = 'advisory' and l.classid = $1::int::oid and l.objid = 0 and l.objsubid = 2
		and l.pid <> pg_backend_pid()
		and l.database = (select oid from pg_database where datname = current_database())
	order by 1`

// The sessions of the lab and of application servers are called plimsoll. Only sessions whose state is visible count as
// active.
const atWorkSQL = `select coalesce(nullif(application_name, ''), nullif(usename::text, ''), '?'), count(*)
	from pg_stat_activity
	where datname = current_database() and backend_type = 'client backend' and state = 'active'
		and pid <> pg_backend_pid() and application_name not like 'plimsoll%'
		and application_name is distinct from nullif($1, '')
	group by 1`

// Look for others.
func (m *Mark) Look(ctx context.Context) (c OtherUsers, err error) {
	rows, err := m.conn.Query(ctx, loadsSQL, class)
	if err != nil {
		return c, err
	}
	if c.Loads, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return c, err
	}
	if rows, err = m.conn.Query(ctx, atWorkSQL, m.own); err != nil {
		return c, err
	}
	c.AtWork = map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { c.AtWork[name] = n; return nil })
	return c, err
}

// Close removes the mark.
func (m *Mark) Close(ctx context.Context) { _ = m.conn.Close(ctx) }
