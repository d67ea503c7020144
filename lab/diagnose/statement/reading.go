// Package statement owns the ledger inside a statement: what the server counted of each statement, function and table
// while it was watched, and where the time of those goes that carry most of it. A figure that a version, a right or a
// setting withholds is unavailable, never zero.
package statement

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// column of pg_stat_statements, whatever a version calls it.
type column int

const (
	calls column = iota
	rows
	execMS
	plans
	planMS
	hit
	read
	tempRead
	tempWritten
	readMS
	writeMS
	tempMS
	walImages
	walBytes
	jitFunctions
	jitMS
	toLaunch
	launched
	columns
)

// names of a column, added up: the first set that the server's version has. Times of blocks were renamed in 17, those
// of JIT came with 15 (what deforms rows is a part of what generates), workers with 18.
var names = [columns][][]string{
	calls: {{"calls"}}, rows: {{"rows"}}, execMS: {{"total_exec_time"}}, plans: {{"plans"}},
	planMS: {{"total_plan_time"}}, hit: {{"shared_blks_hit", "local_blks_hit"}},
	read: {{"shared_blks_read", "local_blks_read"}}, tempRead: {{"temp_blks_read"}},
	tempWritten: {{"temp_blks_written"}},
	readMS:      {{"shared_blk_read_time", "local_blk_read_time"}, {"blk_read_time"}},
	writeMS:     {{"shared_blk_write_time", "local_blk_write_time"}, {"blk_write_time"}},
	tempMS:      {{"temp_blk_read_time", "temp_blk_write_time"}}, walImages: {{"wal_fpi"}}, walBytes: {{"wal_bytes"}},
	jitFunctions: {{"jit_functions"}},
	jitMS:        {{"jit_generation_time", "jit_inlining_time", "jit_optimization_time", "jit_emission_time"}},
	toLaunch:     {{"parallel_workers_to_launch"}}, launched: {{"parallel_workers_launched"}},
}

// Bounds of a reading, whatever the server keeps.
const (
	statementsMost = 20_000
	functionsMost  = 1_000
	tablesMost     = 2_000
)

// id of a statement: of a database, a role, and whether a client sent it or it ran within another one.
type id struct {
	database, role uint32
	query          int64
	top            bool
}

// Reading is what the server had counted at one moment. Unknown figures are not numbers.
type Reading struct {
	at         time.Time
	server     Server
	schema     string // of pg_stat_statements, quoted; empty: it cannot be read
	top        string // its column that tells statements of clients, or true
	statements map[id][columns]float64
	functions  map[string]function
	tables     map[string]table
	missing    []Missing
	cut        bool // more statements than are read
}

type function struct{ calls, totalMS, selfMS float64 }

// table counters: rows read by scans and through indexes, and blocks of values that are stored apart.
type table struct{ rows, toast float64 }

// Missing is what could not be read, and why.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Server as far as it decides what can be known.
type Server struct {
	Version  int
	TimesIO  bool
	Track    string // pg_stat_statements.track; empty: not loaded
	Planning bool   // pg_stat_statements.track_planning
	Calls    string // track_functions
	Database uint32
	// Evicted statements so far: pg_stat_statements.max was too small; -1: not known.
	Evicted int64
}

// Names of what may be missing.
const (
	Counters  = "statements as the server counts them"
	Functions = "time of functions"
	Plans     = "time of planning"
	Blocks    = "time of blocks read and written"
)

const serverSQL = `SELECT current_setting('server_version_num')::int, current_setting('track_io_timing')::bool,
	coalesce(current_setting('pg_stat_statements.track', true), ''),
	coalesce(nullif(current_setting('pg_stat_statements.track_planning', true), '')::bool, false),
	current_setting('track_functions'), (SELECT oid FROM pg_database WHERE datname = current_database()),
	coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'pg_stat_statements'), '')`

// Read the counters. What is refused is missing; an error means that the connection is lost.
func Read(ctx context.Context, conn *pgx.Conn) (*Reading, error) {
	r := &Reading{at: time.Now(), statements: map[id][columns]float64{}, functions: map[string]function{},
		tables: map[string]table{}}
	var schema string
	if err := conn.QueryRow(ctx, serverSQL).Scan(&r.server.Version, &r.server.TimesIO, &r.server.Track,
		&r.server.Planning, &r.server.Calls, &r.server.Database, &schema); err != nil {
		return nil, fmt.Errorf("inspect the server: %w", err)
	}
	for _, one := range []struct {
		name string
		read func(context.Context, *pgx.Conn) error
	}{{Counters, func(ctx context.Context, conn *pgx.Conn) error { return r.readStatements(ctx, conn, schema) }},
		{Functions, r.readFunctions}, {"rows read of tables", r.readTables}} {
		err := one.read(ctx, conn)
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused) && ctx.Err() == nil:
			r.miss(one.name, refused.Message)
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", one.name, err)
		}
	}
	return r, nil
}

func (r *Reading) miss(name, why string) { r.missing = append(r.missing, Missing{name, why}) }

// has are the columns of the view that this version of the extension made.
func has(ctx context.Context, conn *pgx.Conn, schema string) (map[string]bool, error) {
	const sql = `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`
	rows, err := conn.Query(ctx, sql, schema+".pg_stat_statements")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error { found[name] = true; return nil })
	return found, err
}

// expression of a column; what this version lacks is not a number.
func (c column) expression(known map[string]bool) string {
	for _, set := range names[c] {
		missing := false
		for _, name := range set {
			missing = missing || !known[name]
		}
		if !missing {
			return "coalesce((" + strings.Join(set, " + ") + ")::float8, 'NaN')"
		}
	}
	return "'NaN'::float8"
}

func (r *Reading) readStatements(ctx context.Context, conn *pgx.Conn, schema string) error {
	if schema == "" {
		r.miss(Counters, "the extension is not created in this database (CREATE EXTENSION pg_stat_statements)")
		return nil
	}
	known, err := has(ctx, conn, schema)
	if err != nil {
		return err
	}
	var all []string
	for c := range columns {
		all = append(all, c.expression(known))
	}
	top := "true"
	if known["toplevel"] {
		top = "toplevel"
	}
	// Without its texts the view does not read their file.
	found, err := conn.Query(ctx, fmt.Sprintf(`SELECT dbid, userid, queryid, %s, ARRAY[%s]
		FROM %s.pg_stat_statements(false) WHERE queryid IS NOT NULL ORDER BY total_exec_time DESC LIMIT %d`, top,
		strings.Join(all, ", "), schema, statementsMost))
	if err != nil {
		return err
	}
	var key id
	var values []float64
	if _, err = pgx.ForEachRow(found, []any{&key.database, &key.role, &key.query, &key.top, &values}, func() error {
		r.statements[key] = [columns]float64(values)
		return nil
	}); err != nil {
		return err
	}
	r.schema, r.top, r.cut, r.server.Evicted = schema, top, len(r.statements) >= statementsMost, -1
	const evictedSQL = `SELECT dealloc FROM %s.pg_stat_statements_info`
	err = conn.QueryRow(ctx, fmt.Sprintf(evictedSQL, schema)).Scan(&r.server.Evicted)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) { // an older version of the extension
		return nil
	}
	return err
}

func (r *Reading) readFunctions(ctx context.Context, conn *pgx.Conn) error {
	if r.server.Calls == "none" {
		r.miss(Functions, "track_functions is none")
		return nil
	}
	found, err := conn.Query(ctx, fmt.Sprintf(`SELECT schemaname || '.' || funcname, sum(calls)::float8,
		sum(total_time), sum(self_time) FROM pg_stat_user_functions GROUP BY 1 ORDER BY 3 DESC
		LIMIT %d`, functionsMost))
	if err != nil {
		return err
	}
	var name string
	var one function
	_, err = pgx.ForEachRow(found, []any{&name, &one.calls, &one.totalMS, &one.selfMS}, func() error {
		r.functions[name] = one
		return nil
	})
	return err
}

func (r *Reading) readTables(ctx context.Context, conn *pgx.Conn) error {
	found, err := conn.Query(ctx, fmt.Sprintf(`SELECT t.schemaname || '.' || t.relname,
		(coalesce(t.seq_tup_read, 0) + coalesce(t.idx_tup_fetch, 0))::float8,
		(coalesce(o.toast_blks_hit, 0) + coalesce(o.toast_blks_read, 0) + coalesce(o.tidx_blks_hit, 0)
			+ coalesce(o.tidx_blks_read, 0))::float8
		FROM pg_stat_user_tables t JOIN pg_statio_user_tables o USING (relid) ORDER BY 2 DESC LIMIT %d`, tablesMost))
	if err != nil {
		return err
	}
	var name string
	var one table
	_, err = pgx.ForEachRow(found, []any{&name, &one.rows, &one.toast}, func() error {
		r.tables[name] = one
		return nil
	})
	return err
}

// grew between two readings of a figure; not a number where it is not known, or where statistics were reset.
func grew(before, after float64) float64 {
	if d := after - before; d >= 0 {
		return d
	}
	return math.NaN()
}
