// Package presence owns the mark of a database under load, by which loads detect each other.
package presence

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Presence marks a database as under load and detects other users of it. The mark is an advisory lock in shared mode:
// whoever reaches the database sees it, by whatever DSN.
type Presence struct {
	conn *pgx.Conn
	own  string // application_name of the DSN: sessions of the system may have it
}

// OtherUsers lists who else uses the database at one moment.
type OtherUsers struct {
	Loads  []string       // other marks, by application
	AtWork map[string]int // active sessions that are none of ours, by application
}

// presenceClass is the first half of the lock's key: "load". The application servers have locks of two halves as well,
// of other classes (platform/durability, platform/jobs).
const presenceClass = 0x6c6f6164

// Mark marks the database for a load.
func Mark(ctx context.Context, dsn, name string) (*Presence, error) {
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
	if _, err := conn.Exec(ctx, "select pg_advisory_lock_shared($1::int, 0)", presenceClass); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("mark the database as under load: %w", err)
	}
	return &Presence{conn, own}, nil
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
func (p *Presence) Look(ctx context.Context) (c OtherUsers, err error) {
	rows, err := p.conn.Query(ctx, loadsSQL, presenceClass)
	if err != nil {
		return c, err
	}
	if c.Loads, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return c, err
	}
	if rows, err = p.conn.Query(ctx, atWorkSQL, p.own); err != nil {
		return c, err
	}
	c.AtWork = map[string]int{}
	var name string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&name, &n}, func() error { c.AtWork[name] = n; return nil })
	return c, err
}

// Close removes the mark.
func (p *Presence) Close(ctx context.Context) { _ = p.conn.Close(ctx) }
