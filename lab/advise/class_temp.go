package advise

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/ground/postgres/cluster/profile"
)

const churnSQL = `SELECT relname AS name, n_live_tup::float8 AS live, n_dead_tup::float8 AS dead,
	n_tup_del::float8 AS written, (SELECT c.relpages::float8 * 8192 FROM pg_class c WHERE c.oid = relid) AS size
	FROM pg_stat_sys_tables WHERE schemaname = 'pg_catalog'
		AND relname IN ('pg_attribute', 'pg_class', 'pg_type', 'pg_depend', 'pg_index')
	ORDER BY n_tup_del DESC`

// churn of the catalogs by temp tables that are created and dropped.
var churn = class{
	name: "temp table churn", healthy: "temp tables do not rewrite the catalogs",
	causes: []string{"catalog-churn"}, primary: true,
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		catalogs, err := ask[table](ctx, s, churnSQL)
		if err != nil {
			return nil, err
		}
		d, err := s.figures(ctx)
		if err != nil || d == nil {
			return nil, err
		}
		var evidence []string
		level := Note
		for _, c := range catalogs {
			perS := d.perSecond(c.Written)
			if c.Written < churnLeast.Value || c.Written < churnTimes.Value*c.Live ||
				perS != nil && *perS < churnPerS.Value {
				continue
			}
			evidence = append(evidence, fmt.Sprintf("%s: %.0f rows deleted since its statistics were reset%s, %.0f "+
				"live and %.0f dead; %s", c.Name, c.Written, rateText(perS, ", %.1f a second"), c.Live, c.Dead,
				human.Bytes(c.Size)))
			if perS != nil && *perS >= 10*churnPerS.Value {
				level = Problem
			}
		}
		if len(evidence) == 0 {
			return nil, nil
		}
		a := Advice{ID: "temp-tables", Level: level, Title: "Creating and dropping tables rewrites the catalogs",
			Mechanism: "Creating and dropping a temp table writes some twenty rows of shared catalogs, logs them, " +
				"and makes every session refresh its caches.",
			Evidence: evidence}
		for _, name := range profile.Patched() {
			if s.value(name) == "off" {
				a.Changes = append(a.Changes, s.set(name, "on"))
				a.Evidence = append(a.Evidence, name+" is off")
			}
		}
		if len(a.Changes) == 0 {
			a.Do = []string{"use a pool of temp tables for each connection: instead of DROP and CREATE, DELETE " +
				"few rows and TRUNCATE many", "Plimsoll's PostgreSQL keeps their catalog rows in the session's memory"}
			a.Prove = "plimsoll compare vanilla+classic vanilla+lean plimsoll+classic"
			a.Revert = "the comparison changes nothing on this server"
		}
		return []Advice{a}, nil
	},
}

// The size takes a lock: a table that its session is making or emptying is left out, or we would wait for it.
const tempSQL = `WITH locked AS MATERIALIZED (SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock'
		AND relation IS NOT NULL),
	made AS MATERIALIZED (SELECT oid, relnamespace FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'
		AND reltuples < 0 AND oid NOT IN (SELECT relation FROM locked) LIMIT 1000),
	sized AS MATERIALIZED (SELECT relnamespace, pg_relation_size(oid) AS size FROM made)
	SELECT count(*)::float8 AS live, coalesce(max(size), 0)::float8 AS size,
	count(DISTINCT relnamespace)::float8 AS pages FROM sized WHERE size >= $1::float8`

// tempStatistics: autovacuum never sees a temp table, so nobody analyzes it but its session.
var tempStatistics = class{
	name: "temp tables without statistics", healthy: "no large temp table without statistics is there now",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		t, err := one[table](ctx, s, tempSQL, tempBytes.Value)
		if err != nil || t == nil || t.Live < 1 {
			return nil, err
		}
		loaded := strings.Contains(s.value("shared_preload_libraries"), "online_analyze")
		return []Advice{{ID: "temp-statistics", Level: Note, Title: "Large temp tables have no statistics",
			Mechanism: "Autovacuum does not see temp tables: until its session runs " +
				"ANALYZE, the planner assumes ten pages.",
			Evidence: []string{fmt.Sprintf("%.0f temp tables of %.0f sessions now, the largest of %s, were never "+
				"analyzed; online_analyze is loaded: %v", t.Live, t.Pages, human.Bytes(t.Size), loaded)},
			Do: []string{"ANALYZE each temp table after it is filled and before it is joined",
				"the extension online_analyze does so automatically: shared_preload_libraries = online_analyze, " +
					"online_analyze.table_type = temporary"},
			Prove: s.compare([]string{"--set-b online_analyze.enable=on"}, false, false) + ", where the library is " +
				"loaded",
			Revert: "online_analyze.enable = off"}}, nil
	},
}

const filesSQL = `SELECT count(*)::float8 AS live, count(*) FILTER (WHERE relkind = 'i')::float8 AS dead,
	(SELECT count(*) FROM pg_database)::float8 AS pages FROM pg_class WHERE relkind IN ('r', 'i', 't', 'm', 'S')`

// filesWalked bounds the count of files on the disk.
const filesWalked = 3_000_000

// files: each table and index is several, and the file system is a part of the server.
var files = class{
	name: "files", healthy: "the file system copes with the number of tables and indexes",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		n, err := one[table](ctx, s, filesSQL)
		if err != nil || n == nil || n.Live < filesMany.Value {
			return nil, err
		}
		seen := fmt.Sprintf("%.0f relations, %.0f of them indexes, in this one of %.0f databases", n.Live, n.Dead,
			n.Pages)
		if s.host != nil {
			seen += fmt.Sprintf("; %d files in the data folder", count(ctx, filepath.Join(s.value("data_directory"),
				"base")))
		}
		level := Note
		if n.Live >= 10*filesMany.Value {
			level = Problem
		}
		return []Advice{{ID: "files", Level: level, Title: "The database has very many files",
			Mechanism: "Checkpoints, recovery and backups touch each file; large folders are slow, and each " +
				"session keeps open the files that it used.",
			Evidence: []string{seen, "max_files_per_process is " + s.value("max_files_per_process")},
			Do: []string{"use fewer databases per server, or a file system for many files (XFS)",
				"recovery_init_sync_method = syncfs where fsync of each file delays the start"},
			Prove:  `plimsoll compare --scenario own.toml --dsn-a "$DSN" --dsn-b "$DSN_OF_A_SERVER_WITH_FEWER"`,
			Revert: "nothing to undo"}}, nil
	},
}

func count(ctx context.Context, dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		if n >= filesWalked || ctx.Err() != nil {
			return filepath.SkipAll
		}
		return nil
	})
	return n
}
