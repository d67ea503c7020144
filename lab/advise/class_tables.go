package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// tablesMost are shown of each class: the largest first.
const tablesMost = 20

// tablesRead are looked at: the largest.
const tablesRead = 20_000

// The size is that of the last vacuum: the exact one takes a lock of each table, and waits where one is being altered.
const tablesSQL = `SELECT n.nspname AS schema, c.relname AS name, s.n_live_tup::float8 AS live,
	s.n_dead_tup::float8 AS dead, s.n_mod_since_analyze::float8 AS changed, c.reltuples::float8 AS planned,
	greatest(s.last_analyze, s.last_autoanalyze)::text AS analyzed,
	greatest(s.last_vacuum, s.last_autovacuum)::text AS vacuumed,
	extract(epoch FROM clock_timestamp() - greatest(s.last_analyze, s.last_autoanalyze))::float8 AS analyzed_ago,
	extract(epoch FROM clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum))::float8 AS vacuumed_ago,
	v.pid IS NOT NULL AS at_work,
	coalesce(c.reloptions, '{}') AS options, c.relpages::float8 * current_setting('block_size')::int AS size,
	c.relpages::float8 AS pages, s.seq_scan::float8 AS scans, s.seq_tup_read::float8 AS scanned,
	(s.n_tup_ins + s.n_tup_upd + s.n_tup_del)::float8 AS written, c.oid AS oid,
	has_table_privilege(c.oid, 'SELECT') AS readable
	FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid JOIN pg_namespace n ON n.oid = c.relnamespace
	LEFT JOIN (SELECT min(pid) AS pid, relid FROM (SELECT pid, relid, datname FROM pg_stat_progress_vacuum UNION ALL
		SELECT pid, relid, datname FROM pg_stat_progress_analyze) p WHERE datname = current_database() GROUP BY relid) v
		ON v.relid = c.oid
	WHERE c.relpersistence <> 't' ORDER BY c.relpages DESC, s.n_live_tup DESC, schema, name LIMIT $1`

type table struct {
	Schema, Name                                                       string
	Live, Dead, Changed, Planned, Size, Pages, Scans, Scanned, Written float64
	Analyzed, Vacuumed                                                 *string
	AnalyzedAgo, VacuumedAgo                                           *float64 // seconds
	AtWork                                                             bool     // a VACUUM or ANALYZE, now
	Options                                                            []string
	OID                                                                uint32
	Readable                                                           bool
}

func (t table) String() string { return plainName(t.Schema, t.Name) }
func (t table) sql() string    { return quoted(t.Schema, t.Name) }

// option of the table itself; else the server's setting.
func (t table) option(s *server, name string) float64 {
	for _, o := range t.Options {
		if value, is := strings.CutPrefix(o, name+"="); is {
			var x float64
			if _, err := fmt.Sscan(value, &x); err == nil {
				return x
			}
		}
	}
	return s.figure(name)
}

// autovacuumOff is the word that switches it off for the table; empty: it is on.
func (t table) autovacuumOff() string {
	for _, o := range t.Options {
		value, is := strings.CutPrefix(o, "autovacuum_enabled=")
		if is && slices.Contains([]string{"off", "false", "0", "no", "f", "of", "n"}, value) {
			return value
		}
	}
	return ""
}

func textOr(at *string, never string) string {
	if at == nil {
		return never
	}
	return *at
}

// isRecent: autovacuum has just processed the table, and will again; such a table always has some changed rows.
func isRecent(ago *float64) bool { return ago != nil && *ago < staleFor.Value }

// vacuumAt so many dead rows autovacuum comes.
func (t table) vacuumAt(s *server) float64 {
	at := t.option(s, "autovacuum_vacuum_threshold") + max(0, t.Planned)*t.option(s, "autovacuum_vacuum_scale_factor")
	if most := t.option(s, "autovacuum_vacuum_max_threshold"); most >= 0 { // from 18 on
		at = min(at, most)
	}
	return at
}

// tables that are not temporary, read once: the largest first.
func (s *server) tables(ctx context.Context) (all []table, err error) {
	if s.read == nil {
		if s.read, err = ask[table](ctx, s, tablesSQL, tablesRead); err != nil {
			return nil, err
		}
		if len(s.read) == tablesRead {
			s.miss("tables", fmt.Sprintf("only the %d largest were looked at", tablesRead))
		}
	}
	return s.read, nil
}

// each table's advice, the largest tables first. What is beyond the bound is counted.
func eachTable(ctx context.Context, s *server, class string, advise func(t table) *Advice) (all []Advice, err error) {
	tables, err := s.tables(ctx)
	more := 0
	for _, t := range tables {
		switch a := advise(t); {
		case a == nil:
		case len(all) == tablesMost:
			more++
		default:
			a.object = t.Name
			all = append(all, *a)
		}
	}
	s.more(class, more)
	return all, err
}

// more of the same that is not shown.
func (s *server) more(class string, n int) {
	if n > 0 {
		s.miss(class+": the rest", fmt.Sprintf("%d more are like those named, and smaller", n))
	}
}

// statistics that describe a table as it was.
var statistics = class{
	name: "statistics", healthy: "no table changed much since its ANALYZE", primary: true,
	causes: []string{"stale-statistics"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		return eachTable(ctx, s, "statistics", func(t table) *Advice {
			never := t.Analyzed == nil && t.Planned < 0
			if t.Changed < changedLeast.Value || t.AtWork || isRecent(t.AnalyzedAgo) ||
				!never && t.Changed < changedMost.Value*t.Live {
				return nil
			}
			level := Problem
			if own := t.option(s, "autovacuum_analyze_threshold") + max(0, t.Planned)*
				t.option(s, "autovacuum_analyze_scale_factor"); !never && t.Changed < behindTimes.Value*own {
				level = Note
			}
			return &Advice{ID: "analyze:" + t.String(), Level: level,
				Title: "The statistics of " + t.String() + " are old",
				Mechanism: "The planner plans for the table as it was at its last ANALYZE: a join that is right " +
					"for ten rows is wrong for a hundred thousand.",
				Evidence: []string{fmt.Sprintf("%.0f of %.0f rows changed since the last ANALYZE (%s), which "+
					"counted %.0f", t.Changed, t.Live, textOr(t.Analyzed, "never"), max(0, t.Planned))},
				Changes: []Change{{Kind: SQL, SQL: "ANALYZE " + t.sql()}},
				Revert:  "nothing to undo: ANALYZE changes the planner's statistics and no data"}
		})
	},
}

// vacuum: tables that autovacuum does not reach.
var vacuum = class{
	name: "autovacuum", healthy: "autovacuum keeps up with the dead rows", primary: true,
	causes: []string{"dead-rows"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		return eachTable(ctx, s, "autovacuum", func(t table) *Advice {
			own := t.vacuumAt(s)
			behind := t.Dead >= deadLeast.Value && t.Dead >= behindTimes.Value*own && !isRecent(t.VacuumedAgo)
			seen := fmt.Sprintf("%.0f dead rows and %.0f live ones; autovacuum starts at %.0f; its last run: %s",
				t.Dead,
				t.Live, own, textOr(t.Vacuumed, "never"))
			if off := t.autovacuumOff(); off != "" {
				level := Note // perhaps somebody vacuums it, or it is only filled
				if behind {
					level = Problem
				}
				return &Advice{ID: "autovacuum:" + t.String(), Level: level,
					Title:     "Autovacuum is off for " + t.String(),
					Mechanism: "Dead rows stay and statistics age until somebody runs VACUUM and ANALYZE manually.",
					Evidence:  []string{"its options are " + strings.Join(t.Options, ", "), seen},
					Changes: []Change{{Kind: SQL, SQL: "ALTER TABLE " + t.sql() + " RESET (autovacuum_enabled)",
						Undo: "ALTER TABLE " + t.sql() + " SET (autovacuum_enabled = " + off + ")"}}}
			}
			if !behind {
				return nil
			}
			level := Note
			if t.Dead >= t.Live && !t.AtWork {
				level = Problem
			}
			if t.AtWork {
				seen += "; a VACUUM or ANALYZE of it is running now"
			}
			return &Advice{ID: "vacuum:" + t.String(), Level: level,
				Title:     "Autovacuum does not keep up with " + t.String(),
				Mechanism: "Every scan reads the dead rows too, and the table grows instead of reusing their space.",
				Evidence: []string{seen, fmt.Sprintf("autovacuum_max_workers is %s, autovacuum_vacuum_cost_delay %s "+
					"ms, autovacuum_vacuum_cost_limit %s", s.value("autovacuum_max_workers"),
					s.value("autovacuum_vacuum_cost_delay"), s.value("autovacuum_vacuum_cost_limit"))},
				Do: []string{"check first that nothing holds back vacuum: otherwise it removes nothing",
					"VACUUM (ANALYZE) " + t.sql(), "ALTER TABLE " + t.sql() + " SET (autovacuum_vacuum_scale_factor " +
						"= 0.01)"},
				Prove:  s.compare([]string{"--sql-b " + shell("VACUUM "+t.sql())}, false, true),
				Revert: "ALTER TABLE " + t.sql() + " RESET (autovacuum_vacuum_scale_factor)"}
		})
	},
}
