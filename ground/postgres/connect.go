package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
)

// Setting of one connection.
type Setting struct{ Name, Value string }

// Reading are the settings of a connection that only reads: it writes nothing, blocks no other session for long, and no
// statement takes longer than this.
func Reading(statement string) []Setting {
	return []Setting{{"default_transaction_read_only", "on"}, {"lock_timeout", "200ms"},
		{"statement_timeout", statement}, {"idle_session_timeout", "0"}, {"jit", "off"},
		{"max_parallel_workers_per_gather", "0"}}
}

// trusted is the search_path of all our connections to somebody's server. On the usual one our statements would find
// what anybody made who may create objects there, such as a function now(), and run it with our rights.
var trusted = Setting{"search_path", "pg_catalog, pg_temp"}

// ours names the lab's connections in pg_stat_activity: sessions without a name would count as those of others.
const ours = "plimsoll"

// Connect to a database that a user named by --dsn, as Open does. The application is the connection's name in
// pg_stat_activity; empty: that of the DSN, or else our own.
func Connect(ctx context.Context, dsn, application string, settings ...Setting) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, problem.New(problem.Usage, fmt.Errorf("read --dsn: %w", err), "postgres://user@host:5432/database")
	}
	if application == "" {
		application = cmp.Or(config.RuntimeParams["application_name"], ours)
	}
	config.RuntimeParams["application_name"] = application
	conn, err := Open(ctx, config, settings...)
	if err != nil {
		return nil, problem.New(problem.Environment, fmt.Errorf("connect to the database: %w", err),
			"check host, port, user and password of --dsn")
	}
	return conn, nil
}

// Open connects to somebody's server. Our statements find nothing there but the server's own objects: what an extension
// made must be named with its schema. Behind a pooler that shares processes the settings hold for each statement alone:
// set for the session, they would stay for the clients that have the process next.
func Open(ctx context.Context, config *pgx.ConnConfig, settings ...Setting) (*pgx.Conn, error) {
	settings = append([]Setting{trusted}, settings...)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	own, err := hasOwnProcess(ctx, conn)
	if err == nil && own {
		_, err = conn.PgConn().Exec(ctx, assignments("SET", settings)).ReadAll()
	}
	if err == nil && own {
		return conn, nil
	}
	conn.Close(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("prepare the connection: %w", err)
	}
	return openShared(ctx, config, settings)
}

// hasOwnProcess compares the process that the other side named at the start with the one that answers: a pooler names
// one that it made up. The statement is safe on any search_path.
func hasOwnProcess(ctx context.Context, conn *pgx.Conn) (bool, error) {
	results, err := conn.PgConn().Exec(ctx, "SELECT pg_catalog.pg_backend_pid()").ReadAll()
	if err != nil {
		return false, err
	}
	pid, err := strconv.ParseUint(string(results[0].Rows[0][0]), 10, 32)
	return err == nil && uint32(pid) == conn.PgConn().PID(), nil
}

// assignments of settings, by SET or SET LOCAL. A value is a literal, or a list of names.
func assignments(set string, settings []Setting) string {
	var all []string
	for _, s := range settings {
		value := s.Value
		if s.Name != trusted.Name {
			value = literal(value)
		}
		all = append(all, set+" "+s.Name+" = "+value)
	}
	return strings.Join(all, "; ")
}
