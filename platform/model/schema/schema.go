// Package schema owns the tables behind the metadata: it creates them, upgrades older ones without loss, and refuses a
// database that a newer version has used. A migration only adds: tables, columns (with the zero value of their type),
// indexes, and columns of keys; only an index that nothing reads any more is dropped, after it.
package schema

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/problem"
	"plimsoll/platform/data/database"
	"plimsoll/platform/data/statement"
	"plimsoll/platform/model/metadata"
)

// PlatformVersion grows with every released change of the platform's own tables or of how tables are derived.
const PlatformVersion = 9

// migrationLock is the advisory lock that lets one worker migrate while the others wait.
const migrationLock = 0x506c696d736f6c6c // "Plimsoll"

// ErrNewer means that the database was made by a newer version.
var ErrNewer = errors.New("the database was made by a newer version")

// Digest identifies the tables of an application.
func Digest(app *metadata.Application) string {
	hash := sha256.New()
	for _, t := range Tables(app) {
		fmt.Fprintln(hash, t.create())
		for _, i := range t.Indexes {
			_, statement := t.index(i)
			fmt.Fprintln(hash, statement)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Migrate makes the database match the description, completely or, on an error, not at all. It refuses a database that
// nobody claimed, and one that holds foreign tables.
func Migrate(ctx context.Context, db *database.Database, app *metadata.Application) error {
	if err := app.Check(); err != nil {
		return err
	}
	return db.Borrow(ctx, func(conn *pgx.Conn) error {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			m := migration{tx: tx, app: app}
			return m.run(ctx)
		}); err != nil {
			return err
		}
		return dropRetiredIndexes(ctx, conn, app)
	})
}

// dropRetiredIndexes drops indexes that nothing reads, while others use the tables: within the migration each drop
// would wait for the longest reader of its table, and block everybody behind it until the COMMIT. What the pool's
// timeouts or a deadlock cut off is left, as not valid, for the next start.
func dropRetiredIndexes(ctx context.Context, conn *pgx.Conn, app *metadata.Application) error {
	var retired []string
	for _, t := range Tables(app) {
		for _, suffix := range t.Retired {
			retired = append(retired, t.Name+"_"+suffix)
		}
	}
	rows, err := conn.Query(ctx, `SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
		AND relkind = 'i' AND relname = ANY ($1) AND NOT pg_is_in_recovery() ORDER BY relname`, retired)
	if err != nil {
		return fmt.Errorf("look for retired indexes: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for retired indexes: %w", err)
	}
	for _, name := range found {
		_, err := conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+name, pgx.QueryExecModeSimpleProtocol)
		if database.IsLockTimeout(err) || database.IsStatementTimeout(err) || database.IsRetryable(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("drop index %s: %w", name, err)
		}
	}
	return nil
}

type migration struct {
	tx   pgx.Tx
	app  *metadata.Application
	from int // the platform version of the base; none is 0
}

func (m *migration) run(ctx context.Context) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	if err := m.admit(ctx); err != nil {
		return err
	}
	digest := Digest(m.app)
	current, err := m.current(ctx, digest)
	if err != nil {
		return err
	}
	if err := m.refuseForeign(ctx, true); err != nil || current {
		return err
	}
	if err := m.forward(ctx); err != nil {
		return err
	}
	return m.exec(ctx, `INSERT INTO plimsoll_schema (application, version, platform, digest) VALUES ($1, $2, $3, $4)
		ON CONFLICT (application) DO UPDATE SET version = excluded.version, platform = excluded.platform,
			digest = excluded.digest, migrated_at = now()`,
		m.app.Name, m.app.Version, PlatformVersion, digest)
}

// lock waits for another migration. DDL waits for running statements and may take long on big tables, so both timeouts
// of the pool are off.
func (m migration) lock(ctx context.Context) error {
	return m.exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT "+
		"pg_advisory_xact_lock(%d)", int64(migrationLock)))
}

// current says whether there is nothing to do.
func (m *migration) current(ctx context.Context, digest string) (bool, error) {
	var name, found string
	var version, platform int
	err := m.tx.QueryRow(ctx, "SELECT application, version, platform, digest FROM plimsoll_schema ORDER BY "+
		"application = $1 DESC LIMIT 1", m.app.Name).
		Scan(&name, &version, &platform, &found)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read schema version: %w", err)
	case name != m.app.Name:
		return false, problem.New(problem.Usage,
			fmt.Errorf("the database belongs to the application %q, not to %q", name, m.app.Name),
			"use another database")
	case version > m.app.Version || platform > PlatformVersion:
		return false, problem.New(problem.Usage, fmt.Errorf("%w: %s %d on platform %d; this is %d on platform %d",
			ErrNewer, name, version, platform, m.app.Version, PlatformVersion),
			"use the newer program, or another database")
	}
	m.from = platform
	return version == m.app.Version && platform == PlatformVersion && found == digest, nil
}

func (m migration) forward(ctx context.Context) error {
	columns, err := m.pairs(ctx, `SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
			AND NOT a.attisdropped`)
	if err != nil {
		return err
	}
	// one that is not valid, as a drop that was cut off leaves it, is never read, and made again
	indexes, err := m.pairs(ctx, `SELECT c.relname, CASE WHEN i.indisvalid OR c.relkind = 'I' THEN ''
			ELSE 'DROP INDEX ' || quote_ident(c.relname) || '; ' END
		FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	keys, err := m.pairs(ctx, `SELECT i.indrelid::regclass::text,
		string_agg(a.attname, ',' ORDER BY array_position(i.indkey::int2[], a.attnum))
		FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
			JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
		WHERE i.indisprimary AND c.relnamespace = current_schema()::regnamespace GROUP BY i.indrelid`)
	if err != nil {
		return err
	}
	for _, t := range Tables(m.app) {
		if err := m.table(ctx, t, columns); err != nil {
			return err
		}
		if err := m.key(ctx, t, keys[t.Name]); err != nil {
			return err
		}
		if err := m.indexes(ctx, t, indexes); err != nil {
			return err
		}
	}
	return nil
}

func (m migration) indexes(ctx context.Context, t Table, have map[string]string) error {
	for _, i := range t.Indexes {
		name, statement := t.index(i)
		drop, exists := have[name]
		if exists && drop == "" {
			continue
		}
		if err := m.exec(ctx, drop+statement); err != nil {
			return err
		}
	}
	return nil
}

func (m migration) table(ctx context.Context, t Table, have map[string]string) error {
	if _, exists := have[t.Name+"."+t.Columns[0].Name]; !exists {
		if err := m.exec(ctx, t.create()); err != nil {
			return err
		}
		return m.note(ctx, t)
	}
	for _, c := range t.Columns {
		found, exists := have[t.Name+"."+c.Name]
		switch {
		case !exists && c.Default == "":
			return fmt.Errorf("migrate %s: column %s is missing, and existing rows have no value for it", t.Name,
				c.Name)
		case !exists:
			if err := m.exec(ctx, t.addColumn(c.definition())); err != nil {
				return err
			}
		case found != sqlName(c.Type):
			return fmt.Errorf("migrate %s: %s is %s in the database and %s here; changing the type could lose data",
				t.Name, c.Name, found, c.Type)
		}
	}
	if err := m.note(ctx, t); err != nil {
		return err
	}
	for _, c := range t.Generated { // this rewrites the table, so once and last
		if _, exists := have[t.Name+"."+c.Name]; exists {
			continue
		}
		if err := m.exec(ctx, t.addColumn(c.generated())); err != nil {
			return err
		}
	}
	return nil
}

// note runs the backfills for data of earlier versions. A new base needs none.
func (m migration) note(ctx context.Context, t Table) error {
	if t.Backfill == "" || m.from == 0 || m.from == PlatformVersion {
		return nil
	}
	return m.exec(ctx, t.Backfill)
}

// key adds columns to the primary key of an existing table. All rows have their zero value, so keys stay unique.
func (m migration) key(ctx context.Context, t Table, have string) error {
	if have == "" || have == strings.Join(t.Key, ",") {
		return nil
	}
	for _, column := range strings.Split(have, ",") {
		if !slices.Contains(t.Key, column) {
			return fmt.Errorf("migrate %s: its key no longer has %s, so rows could collide", t.Name, column)
		}
	}
	return m.exec(ctx, statement.SQL("ALTER TABLE {table} DROP CONSTRAINT {table}_pkey, ADD PRIMARY KEY ({key})",
		statement.Names{"table": t.Name, "key": strings.Join(t.Key, ", ")}))
}

// sqlName is how format_type spells a type.
func sqlName(declared string) string {
	if declared == "timestamptz" {
		return "timestamp with time zone"
	}
	return declared
}

func (m migration) pairs(ctx context.Context, query string) (map[string]string, error) {
	rows, err := m.tx.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	result := map[string]string{}
	var key, value string
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		result[key] = value
		return nil
	})
	return result, err
}

func (m migration) exec(ctx context.Context, sql string, args ...any) error {
	mode := pgx.QueryExecModeExec // DDL is not worth a prepared statement
	if len(args) == 0 {
		mode = pgx.QueryExecModeSimpleProtocol
	}
	if _, err := m.tx.Exec(ctx, sql, append([]any{mode}, args...)...); err != nil {
		first, _, _ := strings.Cut(sql, "(")
		return fmt.Errorf("migrate: %.80s: %w", strings.TrimSpace(first), err)
	}
	return nil
}
