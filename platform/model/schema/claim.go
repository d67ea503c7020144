package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
)

var (
	// ErrForeign: the database holds tables that are not ours.
	ErrForeign = errors.New("the database holds tables that are not Plimsoll's")
	// ErrUnclaimed: the database is empty, and nobody has allowed Plimsoll to use it.
	ErrUnclaimed = errors.New("the database is empty and was not made by Plimsoll")
)

const (
	foreignHint   = "use a database of its own: createdb NAME, then --dsn with that name and --create"
	besideHint    = "move these tables to another database, or drop them"
	unclaimedHint = "if it is the right one, --create creates the ERP's tables in it"
)

// markerSQL creates the marker of our databases: the table that records the application's version.
const markerSQL = `CREATE TABLE IF NOT EXISTS plimsoll_schema (
	application text PRIMARY KEY, version integer NOT NULL,
	platform integer NOT NULL, digest text NOT NULL, migrated_at timestamptz NOT NULL DEFAULT now())`

// Claim marks an empty database as ours, so that Migrate creates tables in it. It refuses one that holds anything, and
// leaves a marked one as it is.
func Claim(ctx context.Context, db *database.Database) error {
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			m := migration{tx: tx}
			if err := m.lock(ctx); err != nil {
				return err
			}
			marked, err := m.marked(ctx)
			if err != nil || marked {
				return err
			}
			if err := m.refuseForeign(ctx, marked); err != nil {
				return err
			}
			return m.exec(ctx, markerSQL)
		})
	})
}

// markedSQL checks the marker's columns too: a table of that name may be somebody else's.
const markedSQL = `SELECT count(*) = 4 FROM pg_attribute WHERE attrelid = to_regclass('plimsoll_schema') AND attnum > 0
	AND NOT attisdropped AND attname IN ('application', 'version', 'platform', 'digest')`

// foreignSQL lists what belongs neither to PostgreSQL, nor to an extension, nor to us; $1 are the tables of the
// application.
const foreignSQL = `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
		AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
		AND NOT ($2 AND (n.nspname = current_schema() AND (c.relname = ANY ($1) OR c.relname ~ '^plimsoll_')
			OR n.nspname = ANY ($3)))
		AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
			AND d.deptype = 'e')
	ORDER BY 1`

// ownSchemas are our other schemas: the jobs', and the one that a killed comparison with a raw COPY leaves.
// killed.
var ownSchemas = []string{"river", "plimsoll_raw"}

// admit refuses a database that is not ours, before anything is written.
func (m migration) admit(ctx context.Context) error {
	marked, err := m.marked(ctx)
	if err == nil && !marked {
		err = m.refuseForeign(ctx, marked)
	}
	if err == nil && !marked {
		err = problem.New(problem.Usage, ErrUnclaimed, unclaimedHint)
	}
	return err
}

func (m migration) marked(ctx context.Context) (marked bool, err error) {
	if err = m.tx.QueryRow(ctx, markedSQL).Scan(&marked); err != nil {
		err = fmt.Errorf("look for the marker of our databases: %w", err)
	}
	return marked, err
}

// foreignShown is how many foreign tables are named.
const foreignShown = 3

// refuseForeign names foreign tables. Without the marker every table is foreign, whatever its name.
func (m migration) refuseForeign(ctx context.Context, marked bool) error {
	own := []string{}
	if m.app != nil {
		for _, t := range Tables(m.app) {
			own = append(own, t.Name)
		}
	}
	rows, err := m.tx.Query(ctx, foreignSQL, own, marked, ownSchemas)
	if err != nil {
		return fmt.Errorf("look for foreign tables: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	switch {
	case err != nil:
		return fmt.Errorf("look for foreign tables: %w", err)
	case len(found) == 0:
		return nil
	}
	names := strings.Join(found[:min(len(found), foreignShown)], ", ")
	if more := len(found) - foreignShown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	hint := foreignHint
	if marked {
		hint = besideHint
	}
	return problem.New(problem.Usage, fmt.Errorf("%w: %s; nothing was written", ErrForeign, names), hint)
}
