package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/ground/problem"
)

// Copy is a kind of database that we copy from another one. It is named after the original, and a comment marks it as
// ours: a database of that name without the mark is never touched. Until it is complete it has a name that says so;
// what a killed command leaves under that name goes with the next copy.
type Copy struct {
	Suffix string // of the name
	Mark   string // the comment
	// Otherwise is an alternative for the user when no copy can be made.
	Otherwise string
}

// Make copies the database of dsn, file by file, and returns the copy's connection string. Nobody may be connected to
// the original.
func (c Copy) Make(ctx context.Context, dsn string) (string, error) { return c.MakeFrom(ctx, dsn, dsn) }

// MakeFrom is Make with the content of another database of the same server.
func (c Copy) MakeFrom(ctx context.Context, dsn, content string) (string, error) {
	from, err := databaseOf(content)
	if err != nil {
		return "", err
	}
	name := ""
	err = c.admin(ctx, dsn, func(conn *pgx.Conn, original string) error {
		name = original + c.Suffix
		if err := c.checkMark(ctx, conn, name); err != nil {
			return err
		}
		return c.problem(c.copyAs(ctx, conn, from, name), from)
	})
	if err != nil {
		return "", err
	}
	return WithDatabase(dsn, name), nil
}

// copyAs makes the copy under another name, marks it, and gives it its own name last. The old copy goes first: there
// may be no room for both.
func (c Copy) copyAs(ctx context.Context, conn *pgx.Conn, from, name string) error {
	partial, quoted := partialName(name), pgx.Identifier{name}.Sanitize()
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+quoted+" WITH (FORCE)"); err != nil {
		return err
	}
	err := CopyDatabase(ctx, conn, from, partial)
	pg := (*pgconn.PgError)(nil)
	if errors.As(err, &pg) && (pg.Code == uniqueViolation || pg.Code == duplicateDatabase) {
		err = CopyDatabase(ctx, conn, from, partial) // the server had gone on with the copy of a killed command
	}
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"COMMENT ON DATABASE " + pgx.Identifier{partial}.Sanitize() + " IS " + literal(c.Mark),
		"ALTER DATABASE " + pgx.Identifier{partial}.Sanitize() + " RENAME TO " + quoted,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// partialName is what a copy is called until it is complete. A database has no comment before it is there, so the name
// is the mark. It is cut where PostgreSQL would cut it with what tells it from others.
func partialName(name string) string {
	const longest = 63 - len(partialPrefix)
	if len(name) > longest {
		name = strings.ToValidUTF8(name[:longest], "")
	}
	return partialPrefix + name
}

const partialPrefix = "plimsoll_copying_"

// Of is the connection string of the copy, whether it exists or not.
func (c Copy) Of(dsn string) string {
	name, err := databaseOf(dsn)
	if err != nil {
		return dsn // connecting will report the error
	}
	return WithDatabase(dsn, name+c.Suffix)
}

// Find is the connection string of the copy, if it exists.
func (c Copy) Find(ctx context.Context, dsn string) (found string, there bool, err error) {
	err = c.admin(ctx, dsn, func(conn *pgx.Conn, original string) error {
		found = WithDatabase(dsn, original+c.Suffix)
		const sql = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND " +
			"shobj_description(oid, 'pg_database') = $2)"
		return conn.QueryRow(ctx, sql, original+c.Suffix, c.Mark).Scan(&there)
	})
	return found, there, err
}

// Drop removes the copy, if it exists, and what a killed command left of one.
func (c Copy) Drop(ctx context.Context, dsn string) error {
	return c.admin(ctx, dsn, func(conn *pgx.Conn, original string) error {
		name := original + c.Suffix
		if err := c.checkMark(ctx, conn, name); err != nil {
			return err
		}
		for _, each := range []string{name, partialName(name)} {
			_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{each}.Sanitize()+" WITH (FORCE)")
			if err != nil {
				return fmt.Errorf("drop the copy: %w", err)
			}
		}
		return nil
	})
}

// admin connects to the server of dsn, but to another database.
func (c Copy) admin(ctx context.Context, dsn string, do func(conn *pgx.Conn, original string) error) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("connection string: %w", err)
	}
	original := config.Database
	config.Database = "postgres"
	conn, err := Open(ctx, config)
	if err != nil {
		return problem.New(problem.Environment, fmt.Errorf("connect to database: %w", err),
			"check host, port, user and password; 'plimsoll status' shows the local servers")
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := Direct(conn); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	return do(conn, original)
}

// checkMark refuses to touch a database that somebody else made.
func (c Copy) checkMark(ctx context.Context, conn *pgx.Conn, name string) error {
	const sql = "SELECT count(*) FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') IS " +
		"DISTINCT FROM $2"
	var foreign int
	if err := conn.QueryRow(ctx, sql, name, c.Mark).Scan(&foreign); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if foreign > 0 {
		return problem.New(problem.Environment,
			fmt.Errorf("a database %s exists that is not our copy", name),
			"rename or drop it"+c.otherwiseHint())
	}
	return nil
}

func (c Copy) otherwiseHint() string {
	if c.Otherwise == "" {
		return ""
	}
	return ", or " + c.Otherwise
}

// Errors of a copy.
const (
	objectInUse           = "55006"
	insufficientPrivilege = "42501"
	uniqueViolation       = "23505"
	duplicateDatabase     = "42P04"
)

func (c Copy) problem(err error, from string) error {
	if err == nil {
		return nil
	}
	hint := ""
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		switch pg.Code {
		case objectInUse:
			hint = "other sessions are connected to database " + from + ": close them" + c.otherwiseHint()
		case insufficientPrivilege:
			hint = "grant it with ALTER ROLE … CREATEDB" + c.otherwiseHint()
		}
	}
	return problem.New(problem.Environment, fmt.Errorf("copy the database: %w", err), hint)
}

// cloneSQL lets the kernel copy the files if PostgreSQL can ask for it (18): on a file system with reflinks a copy
// takes no time and no room.
const cloneSQL = `SELECT set_config('file_copy_method', 'clone', false)
	FROM pg_settings WHERE name = 'file_copy_method' AND 'clone' = ANY (enumvals)`

// CopyDatabase creates database to as a copy of another one on conn's server, which must have no connections. It
// copies files, which writes far less log than copying blocks, and ends with a checkpoint, so that no measurement pays
// for writing the copy.
func CopyDatabase(ctx context.Context, conn *pgx.Conn, from, to string) error {
	from, to = pgx.Identifier{from}.Sanitize(), pgx.Identifier{to}.Sanitize()
	for _, statement := range []string{
		cloneSQL,
		"DROP DATABASE IF EXISTS " + to + " WITH (FORCE)",
		"CREATE DATABASE " + to + " TEMPLATE " + from + " STRATEGY file_copy",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	// it needs a right that the owner of a database may lack; the copy itself ended with one
	_, err := conn.Exec(ctx, "CHECKPOINT")
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == insufficientPrivilege {
		return nil
	}
	return err
}

// Parameters of a connection string that is a URL, encoded: to PostgreSQL and its drivers a + is no blank.
func Parameters(v url.Values) string { return strings.ReplaceAll(v.Encode(), "+", "%20") }

var inQuotes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// Parameter of a connection string that is no URL: its value in quotes, as libpq reads it.
func Parameter(name, value string) string { return name + "='" + inQuotes.Replace(value) + "'" }

// WithOptions adds command-line options of the server (-c name=value …) to a connection string that is a URL with other
// parameters.
func WithOptions(dsn, options string) string {
	if options == "" {
		return dsn
	}
	return dsn + "&" + Parameters(url.Values{"options": {options}})
}

// WithDatabase is the connection string for another database of the same server.
func WithDatabase(dsn, name string) string {
	if u, err := url.Parse(dsn); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		query := u.Query()
		query.Del("dbname")
		query.Del("database")
		u.Path, u.RawQuery = "/"+name, Parameters(query)
		return u.String()
	}
	return dsn + " " + Parameter("dbname", name)
}

func databaseOf(dsn string) (string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("connection string: %w", err)
	}
	return config.Database, nil
}

// literal quotes a text for statements that take no parameters.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
