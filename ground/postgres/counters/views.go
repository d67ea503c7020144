package counters

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Server says how to interpret the views of a server.
type Server struct {
	Version    int  // server_version_num
	TimesIO    bool // track_io_timing
	TimesWAL   bool // track_wal_io_timing
	TimesWaits bool // track_wait_timing, of our engine
	Statements bool // pg_stat_statements is readable
}

// view is one source: rows of a key, a label for people and all columns as one JSON object, so that columns may differ
// between versions without another query.
type view struct {
	name  string
	from  int // the first version that has it; 0: all
	until int // the first version that no longer has it
	sql   string
	// extension that makes what sql reads, whose schema stands for %s.
	extension string
	most      int // rows that the query gives at most; 0: all
	// passing: its rows come and go, or its figures may fall by themselves, so that a smaller one is no reset.
	passing bool
	// untimed reports whether a column holds no measurement on this server.
	untimed func(column string, row map[string]any, s Server) bool
}

// Names of the views, as the server calls them, and two of our own.
const (
	Databases    = "pg_stat_database"
	WAL          = "pg_stat_wal"
	Transfers    = "pg_stat_io"
	Writer       = "pg_stat_bgwriter"
	Checkpoints  = "pg_stat_checkpointer"
	Caches       = "pg_stat_slru"
	Statements   = "pg_stat_statements"
	Catalogs     = "pg_stat_sys_tables"
	Tables       = "pg_stat_user_tables"
	Indexes      = "pg_stat_user_indexes"
	ObjectReads  = "pg_statio_all_tables" // and _indexes
	Replicas     = "pg_stat_replication"
	Recovery     = "replay of this standby"
	Slots        = "pg_replication_slots"
	SlotWork     = "pg_stat_replication_slots"
	CatalogSizes = "catalog sizes"
	TempFiles    = "pg_ls_tmpdir"
	WaitSamples  = "pg_wait_sampling_profile"
	WaitTimes    = "plimsoll_waits"
	Numbers      = "numbers of transactions"
)

func isTime(column string) bool { return strings.HasSuffix(column, "_time") }

// The list of tables is cut: a 1C database has thousands, and only those that change much matter.
var views = []view{
	{name: Databases, sql: `SELECT datname, datname, to_jsonb(d) FROM pg_stat_database d WHERE datname IS NOT NULL`,
		untimed: func(column string, _ map[string]any, s Server) bool {
			return strings.HasPrefix(column, "blk_") && isTime(column) && !s.TimesIO
		}},
	{name: WAL, sql: `SELECT 'all', 'all', to_jsonb(w) FROM pg_stat_wal w`,
		untimed: func(column string, _ map[string]any, s Server) bool { return isTime(column) && !s.TimesWAL }},
	{name: Transfers, from: 160000,
		sql: `SELECT object || ' ' || context || ' ' || backend_type, backend_type || ', ' || object || ', ' || context,
			to_jsonb(i) FROM pg_stat_io i`,
		untimed: func(column string, row map[string]any, s Server) bool {
			if row["object"] == "wal" {
				return isTime(column) && !s.TimesWAL
			}
			return isTime(column) && !s.TimesIO
		}},
	{name: Writer, sql: `SELECT 'all', 'all', to_jsonb(b) FROM pg_stat_bgwriter b`},
	{name: Checkpoints, from: 170000, sql: `SELECT 'all', 'all', to_jsonb(c) FROM pg_stat_checkpointer c`},
	{name: Caches, sql: `SELECT name, name, to_jsonb(s) FROM pg_stat_slru s`},
	{name: Statements, extension: Statements, most: 500,
		sql: `SELECT dbid || ' ' || userid || ' ' || queryid || ' ' || toplevel, left(query, 200),
			to_jsonb(s) - 'query' FROM %s.pg_stat_statements s ORDER BY total_exec_time DESC LIMIT 500`,
		untimed: func(column string, _ map[string]any, s Server) bool {
			return strings.Contains(column, "blk_") && isTime(column) && !s.TimesIO
		}},
	{name: Catalogs, sql: `SELECT schemaname || '.' || relname, relname, to_jsonb(t) FROM pg_stat_sys_tables t
		WHERE schemaname = 'pg_catalog'`},
	{name: Tables, most: 200, passing: true,
		sql: `SELECT t.schemaname || '.' || t.relname, t.schemaname || '.' || t.relname,
			to_jsonb(t) || jsonb_build_object('reltuples', c.reltuples, 'relpages', c.relpages)
		FROM pg_stat_user_tables t JOIN pg_class c ON c.oid = t.relid
		ORDER BY n_dead_tup + n_tup_ins + n_tup_upd + n_tup_del + coalesce(seq_tup_read, 0) DESC LIMIT 200`},
	{name: Indexes, most: 1000, passing: true,
		sql: `SELECT s.schemaname || '.' || s.relname || '.' || s.indexrelname, s.indexrelname,
			jsonb_build_object('idx_scan', s.idx_scan, 'tup_read', s.idx_tup_read,
				'unique', (i.indisunique OR i.indisexclusion)::int, 'pages', c.relpages)
		FROM pg_stat_user_indexes s JOIN pg_index i USING (indexrelid) JOIN pg_class c ON c.oid = s.indexrelid
		ORDER BY c.relpages DESC LIMIT 1000`},
	// What was read of each table and index of this database, its catalogs included.
	{name: ObjectReads, most: 500, passing: true, sql: `SELECT name, name, jsonb_build_object('blocks', blocks) FROM (
			SELECT CASE WHEN schemaname = 'pg_catalog' THEN 'catalog ' ELSE 'table ' || schemaname || '.' END || relname
				AS name, coalesce(heap_blks_read, 0) + coalesce(toast_blks_read, 0) AS blocks FROM pg_statio_all_tables
			WHERE schemaname <> 'pg_toast' UNION ALL
			SELECT 'index ' || schemaname || '.' || indexrelname, coalesce(idx_blks_read, 0) FROM pg_statio_all_indexes
			WHERE schemaname <> 'pg_toast') AS objects WHERE blocks > 0 ORDER BY blocks DESC LIMIT 500`},
	{name: Replicas, passing: true, sql: `SELECT pid::text, application_name, jsonb_build_object(
			'synchronous', (sync_state IN ('sync', 'quorum'))::int,
			'write_lag_s', extract(epoch FROM write_lag)::float8,
			'flush_lag_s', extract(epoch FROM flush_lag)::float8,
			'replay_lag_s', extract(epoch FROM replay_lag)::float8,
			'behind_bytes', pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8)
		FROM pg_stat_replication WHERE NOT pg_is_in_recovery()`},
	{name: Recovery, passing: true, sql: `SELECT 'this', 'this', jsonb_build_object(
			'paused', pg_is_wal_replay_paused()::int,
			'behind_bytes', pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::float8,
			'late_s', extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8)
		WHERE pg_is_in_recovery()`},
	{name: Slots, passing: true, sql: `SELECT slot_name, coalesce(plugin, slot_type), jsonb_build_object(
			'active', active::int, 'xids', age(xmin), 'catalog_xids', age(catalog_xmin),
			'kept_bytes', pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
				ELSE pg_current_wal_lsn() END, restart_lsn)::float8)
		FROM pg_replication_slots LIMIT 200`},
	{name: SlotWork, passing: true, sql: `SELECT slot_name, slot_name, to_jsonb(s) FROM pg_stat_replication_slots s
		LIMIT 200`},
	{name: CatalogSizes, passing: true,
		sql: `SELECT relname, relname, jsonb_build_object('bytes', pg_table_size(oid))
		FROM pg_class WHERE relname IN ('pg_class', 'pg_attribute', 'pg_type', 'pg_depend', 'pg_index', 'pg_statistic')
		AND relnamespace = 'pg_catalog'::regnamespace`},
	// Those that write, and savepoints: others take none.
	{name: Numbers, passing: true, sql: `SELECT 'all', 'all', jsonb_build_object('next',
			pg_snapshot_xmax(pg_current_snapshot())::text::float8) WHERE NOT pg_is_in_recovery()`},
	{name: WaitSamples, extension: "pg_wait_sampling",
		sql: `SELECT p.event_type || ':' || p.event, p.event, jsonb_build_object('count', sum(p.count))
		FROM %s.pg_wait_sampling_profile p JOIN pg_stat_get_activity(NULL) a ON a.pid = p.pid
		WHERE a.backend_type = 'client backend' AND p.event_type <> 'Activity' GROUP BY 1, 2`},
	// Client sessions and what has ended: a session that ends moves from one to the other. The latter also has
	// processes of the server's own, such as autovacuum's and parallel workers.
	{name: WaitTimes, extension: "plimsoll",
		sql: `SELECT w.wait_event_type || ':' || w.wait_event, w.wait_event,
			jsonb_build_object('waits', sum(w.waits), 'ms_time', sum(w.wait_time),
				'ended_ms_time', coalesce(sum(w.wait_time) FILTER (WHERE w.pid IS NULL), 0))
		FROM %s.plimsoll_waits w LEFT JOIN pg_stat_get_activity(NULL) a ON a.pid = w.pid
		WHERE (w.pid IS NULL OR a.backend_type = 'client backend') AND w.wait_event_type <> 'Activity' GROUP BY 1, 2
		UNION ALL SELECT 'clock', 'clock', jsonb_build_object('ms_time', extract(epoch FROM clock_timestamp()) * 1000)`,
		untimed: func(_ string, _ map[string]any, s Server) bool { return !s.TimesWaits }},
	{name: TempFiles, passing: true,
		sql: `SELECT 'all', 'all', jsonb_build_object('files', count(*), 'bytes', coalesce(sum(size), 0))
		FROM pg_ls_tmpdir()`},
}

// viewOf a name; an empty one if there is none.
func viewOf(name string) view {
	for _, v := range views {
		if v.name == name {
			return v
		}
	}
	return view{}
}

// versionReason says why this version has no such view.
func (v view) versionReason() string {
	if v.until != 0 {
		return fmt.Sprintf("PostgreSQL has no %s from %d on", v.name, v.until/10000)
	}
	return fmt.Sprintf("PostgreSQL has %s from %d on", v.name, v.from/10000)
}

// extensionReason says that the extension which makes the view is not in the database.
func (v view) extensionReason() string {
	switch v.name {
	case Statements:
		return "the extension is not created in this database (CREATE EXTENSION pg_stat_statements)"
	case WaitTimes:
		return "needs our engine and its extension, 0.3 or newer, in this database (CREATE EXTENSION plimsoll, or " +
			"ALTER EXTENSION plimsoll UPDATE)"
	}
	return "the extension " + v.extension + " is not created in this database"
}

// refusalReason says why the server refused to show the view.
func (v view) refusalReason(refused *pgconn.PgError) string {
	const undefinedTable, noRight, notLoaded, lockTimeout = "42P01", "42501", "55000", "55P03"
	switch {
	case v.extension != "" && refused.Code == undefinedTable: // an older version of it
		return v.extensionReason()
	case v.name == Statements && refused.Code == notLoaded:
		return "installed, but its library is not in shared_preload_libraries"
	case refused.Code == noRight:
		return "permission denied: GRANT pg_monitor TO the user"
	case refused.Code == lockTimeout:
		return "blocked by a lock"
	}
	return refused.Message
}
