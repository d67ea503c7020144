package line

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"plimsoll/lab/own"
	"plimsoll/lab/postgres"
	"plimsoll/lab/scenario"
	"plimsoll/platform/problem"
)

// Reset is how the database comes to the same state before each trial.
type Reset string

const (
	ResetAuto Reset = "auto"     // the scenario's SQL if it has some, else a copy
	ResetCopy Reset = "template" // a copy of the database, made anew for each trial
	ResetSQL  Reset = "sql"      // the scenario's reset
	ResetNone Reset = "none"     // none: what a trial wrote is there in the next
)

// trialSuffix of the database that trials work on; the one that is copied is not touched.
const trialSuffix = "_line"

// choose settles what auto means.
func (r Reset) choose(s *scenario.Scenario, dsn string, foreignWorkers bool) (Reset, error) {
	has := s.Own.Reset != ""
	switch {
	case r == ResetSQL && !has:
		return r, problem.New(problem.Usage, errors.New("the scenario has no reset"), "give it one in [sql], or choose another --reset")
	case r == ResetCopy && (dsn == "" || foreignWorkers):
		return r, problem.New(problem.Usage, errors.New("workers that run already stay on their database: it cannot be copied under them"), "choose --reset none")
	case r != ResetAuto:
		return r, nil
	case has:
		return ResetSQL, nil
	case dsn == "" || foreignWorkers:
		return ResetNone, nil
	}
	return ResetCopy, nil
}

// before puts the database into its first state and gives the one to work on.
func (r Reset) before(ctx context.Context, dsn string, s *scenario.Scenario) (string, error) {
	switch r {
	case ResetSQL:
		return dsn, own.Reset(ctx, dsn, s.Own.Reset)
	case ResetCopy:
		return copied(ctx, dsn)
	}
	return dsn, nil
}

// copied makes the copy anew, file by file, and a checkpoint, so that no trial pays for
// the writing of its own beginning.
func copied(ctx context.Context, dsn string) (string, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "", fmt.Errorf("connection string: %w", err)
	}
	from, to := config.Database, config.Database+trialSuffix
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", fmt.Errorf("copy the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := ownCopy(ctx, conn, to); err != nil {
		return "", err
	}
	if err := postgres.CopyDatabase(ctx, conn, from, to); err != nil {
		return "", copyProblem(err, from)
	}
	if _, err := conn.Exec(ctx, "COMMENT ON DATABASE "+pgx.Identifier{to}.Sanitize()+" IS '"+copyMark+"'"); err != nil {
		return "", copyProblem(err, from)
	}
	_, _ = conn.Exec(ctx, "CHECKPOINT") // needs a right that the owner of a database may lack; the copy itself ended with one
	return withDatabase(dsn, to), nil
}

// copyMark tells a copy of ours from a database that only has its name.
const copyMark = "made by plimsoll line, which drops it again"

// ownCopy refuses to touch a database that somebody else made.
func ownCopy(ctx context.Context, conn *pgx.Conn, name string) error {
	const sql = "SELECT count(*) FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') IS DISTINCT FROM $2"
	var foreign int
	if err := conn.QueryRow(ctx, sql, name, copyMark).Scan(&foreign); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if foreign > 0 {
		return problem.New(problem.Environment, fmt.Errorf("there is a database %s already, which is no copy of ours", name), "rename or drop it, or choose --reset none")
	}
	return nil
}

// Errors of a copy.
const (
	objectInUse           = "55006"
	insufficientPrivilege = "42501"
)

func copyProblem(err error, from string) error {
	var pg *pgconn.PgError
	hint := ""
	if errors.As(err, &pg) {
		switch pg.Code {
		case objectInUse:
			hint = "others are connected to database " + from + ": let them leave, or choose --reset none"
		case insufficientPrivilege:
			hint = "the user needs the right CREATEDB, or choose --reset none"
		}
	}
	return problem.New(problem.Environment, fmt.Errorf("copy the database: %w", err), hint)
}

// drop removes the copy at the end.
func (r Reset) drop(ctx context.Context, dsn string) error {
	if r != ResetCopy {
		return nil
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	to := config.Database + trialSuffix
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("drop the copy: %w", err)
	}
	defer conn.Close(ctx)
	if err := ownCopy(ctx, conn, to); err != nil {
		return err
	}
	if _, err = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{to}.Sanitize()+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop the copy: %w", err)
	}
	return nil
}

// withDatabase is the connection string for another database of the same server.
func withDatabase(dsn, name string) string {
	if u, err := url.Parse(dsn); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		query := u.Query()
		query.Del("dbname")
		query.Del("database")
		u.Path, u.RawQuery = "/"+name, query.Encode()
		return u.String()
	}
	return dsn + " dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name) + "'"
}
