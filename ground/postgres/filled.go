package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
)

// Filled is the copy that a fill keeps of a base. 'reset' restores it; 'line' starts from it. Its mark is stored in
// databases, so its text stays.
var Filled = Copy{Suffix: "_filled", Mark: "the base as plimsoll fill made it; plimsoll reset puts it back"}

// incoming is the database that replaces the one that is reset.
var incoming = Copy{Suffix: "_reset", Mark: "made by plimsoll reset, which did not finish; it can be dropped"}

// ErrNothingKept says that there is no copy of the base as it was filled.
var ErrNothingKept = errors.New("no copy of the filled base is kept")

// stateSQL reads the properties that a copy does not inherit. Lists of names are stored ready for SQL.
const stateSQL = `SELECT pg_get_userbyid(datdba), coalesce(datacl::text, ''), datconnlimit,
	(SELECT count(*) FROM pg_stat_activity a WHERE a.datid = d.oid AND a.backend_type = 'client backend'),
	coalesce((SELECT array_agg(CASE WHEN r.setrole = 0 THEN 'ALTER DATABASE %1$I'
			ELSE 'ALTER ROLE ' || quote_ident(pg_get_userbyid(r.setrole)) || ' IN DATABASE %1$I' END
			|| ' SET ' || quote_ident(split_part(s, '=', 1)) || ' TO ' || CASE
				WHEN split_part(s, '=', 1) IN ('search_path', 'temp_tablespaces', 'session_preload_libraries',
					'local_preload_libraries') THEN substr(s, strpos(s, '=') + 1)
				ELSE quote_literal(substr(s, strpos(s, '=') + 1)) END)
		FROM pg_db_role_setting r, unnest(r.setconfig) s WHERE r.setdatabase = d.oid), '{}')
	FROM pg_database d WHERE datname = $1`

// Resettable says why a database cannot be reset.
func Resettable(ctx context.Context, dsn string) error {
	_, there, err := Filled.Find(ctx, dsn)
	if err == nil && !there {
		return problem.New(problem.Environment, ErrNothingKept,
			"'plimsoll fill' keeps one; to start over: plimsoll down, destroy, up, fill")
	}
	return err
}

// RestoreFilled replaces the database of dsn with its Filled copy; owner, settings and connection limit stay. The new
// database is complete before the old one goes: after Ctrl-C or a crash one of the two exists, and the next reset
// continues.
// Connected sessions make it fail, or with force are ended.
func RestoreFilled(ctx context.Context, dsn string, force bool) error {
	if err := Resettable(ctx, dsn); err != nil {
		return err
	}
	return Filled.admin(ctx, dsn, func(conn *pgx.Conn, name string) error {
		old, err := awaitLeaving(ctx, conn, name, force)
		if err != nil {
			return err
		}
		if old != nil && old.sessions > 0 && !force {
			return problem.New(problem.Environment, fmt.Errorf("%d sessions are connected to database %s",
				old.sessions, name), "end them (serve, run, psql), or --force disconnects them")
		}
		if _, err := incoming.MakeFrom(ctx, dsn, Filled.Of(dsn)); err != nil {
			return err
		}
		if err := old.carryTo(ctx, conn, name+incoming.Suffix); err != nil {
			return errors.Join(err, incoming.Drop(context.WithoutCancel(ctx), dsn))
		}
		// nothing is interrupted from here to the end: two statements that take no time
		return replace(context.WithoutCancel(ctx), conn, name, name+incoming.Suffix)
	})
}

func replace(ctx context.Context, conn *pgx.Conn, name, replacement string) error {
	name, replacement = pgx.Identifier{name}.Sanitize(), pgx.Identifier{replacement}.Sanitize()
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
		"ALTER DATABASE " + replacement + " RENAME TO " + name,
		"COMMENT ON DATABASE " + name + " IS NULL",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("restore the filled base: %w", err)
		}
	}
	return nil
}

type state struct {
	owner, privileges string
	limit             int
	sessions          int
	settings          []string // statements with %1$I for the database
}

// A session ends a moment after its client has closed it. PostgreSQL waits as long before it copies a database.
const (
	leaveWithin = 5 * time.Second
	leaveLook   = 100 * time.Millisecond
)

// awaitLeaving gives sessions that have just been closed time to end, unless they are ended anyway.
func awaitLeaving(ctx context.Context, conn *pgx.Conn, name string, force bool) (*state, error) {
	for deadline := time.Now().Add(leaveWithin); ; {
		s, err := stateOf(ctx, conn, name)
		if err != nil || s == nil || s.sessions == 0 || force || time.Now().After(deadline) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(leaveLook):
		}
	}
}

// stateOf is nil if the database does not exist: a reset was killed in its last step.
func stateOf(ctx context.Context, conn *pgx.Conn, name string) (*state, error) {
	var s state
	err := conn.QueryRow(ctx, stateSQL, name).Scan(&s.owner, &s.privileges, &s.limit, &s.sessions, &s.settings)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("inspect database %s: %w", name, err)
	}
	if s.privileges != "" {
		return nil, problem.New(problem.Environment,
			fmt.Errorf("database %s has privileges of its own (%s), which a reset would lose", name, s.privileges),
			"revoke them, reset, and grant them again")
	}
	return &s, nil
}

func (s *state) carryTo(ctx context.Context, conn *pgx.Conn, name string) error {
	if s == nil {
		return nil
	}
	statements := append([]string{
		"ALTER DATABASE %1$I OWNER TO " + pgx.Identifier{s.owner}.Sanitize(),
		fmt.Sprintf("ALTER DATABASE %%1$I CONNECTION LIMIT %d", s.limit),
	}, s.settings...)
	for _, statement := range statements {
		// the database comes first: a value may contain the same letters
		named := strings.Replace(statement, "%1$I", pgx.Identifier{name}.Sanitize(), 1)
		if _, err := conn.Exec(ctx, named); err != nil {
			return fmt.Errorf("restore the filled base: %w", err)
		}
	}
	return nil
}
