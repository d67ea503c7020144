package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tablesMost are shown of each class: the largest first.
const tablesMost = 20

const tablesSQL = `SELECT n.nspname AS schema, c.relname AS name, s.n_live_tup::float8 AS live,
	s.n_dead_tup::float8 AS dead, s.n_mod_since_analyze::float8 AS changed, c.reltuples::float8 AS planned,
	greatest(s.last_analyze, s.last_autoanalyze)::text AS analyzed,
	greatest(s.last_vacuum, s.last_autovacuum)::text AS vacuumed,
	coalesce(c.reloptions, '{}') AS options, pg_table_size(c.oid)::float8 AS size,
	c.relpages::float8 AS pages, s.seq_scan::float8 AS scans, s.seq_tup_read::float8 AS scanned,
	(s.n_tup_ins + s.n_tup_upd + s.n_tup_del)::float8 AS written, c.oid AS oid,
	has_table_privilege(c.oid, 'SELECT') AS readable
	FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relpersistence <> 't' ORDER BY size DESC, schema, name`

type table struct {
	Schema, Name                                                       string
	Live, Dead, Changed, Planned, Size, Pages, Scans, Scanned, Written float64
	Analyzed, Vacuumed                                                 *string
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

func (t table) autovacuumOff() bool {
	return slices.ContainsFunc(t.Options, func(o string) bool {
		value, is := strings.CutPrefix(o, "autovacuum_enabled=")
		return is && slices.Contains([]string{"off", "false", "0", "no", "f", "of"}, value)
	})
}

func when(at *string, never string) string {
	if at == nil {
		return never
	}
	return *at
}

// each table's advice, the largest tables first.
func eachTable(ctx context.Context, s *server, advise func(t table) *Advice) (all []Advice, err error) {
	tables, err := ask[table](ctx, s, tablesSQL)
	for _, t := range tables {
		if a := advise(t); a != nil && len(all) < tablesMost {
			a.object = t.Name
			all = append(all, *a)
		}
	}
	return all, err
}

// statistics that describe a table as it was.
var statistics = class{
	name: "statistics", healthy: "no table changed much since its ANALYZE", causes: []string{"stale-statistics"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		return eachTable(ctx, s, func(t table) *Advice {
			never := t.Analyzed == nil && t.Planned < 0
			if t.Changed < changedLeast.Value || !never && t.Changed < changedMost.Value*t.Live {
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
					"counted %.0f", t.Changed, t.Live, when(t.Analyzed, "never"), max(0, t.Planned))},
				Changes: []Change{{Kind: SQL, SQL: "ANALYZE " + t.sql()}},
				Revert:  "nothing to put back: ANALYZE changes what the planner believes and no data"}
		})
	},
}

// vacuum: tables that autovacuum does not come to.
var vacuum = class{
	name: "autovacuum", healthy: "autovacuum keeps up with the dead rows", causes: []string{"dead-rows"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		return eachTable(ctx, s, func(t table) *Advice {
			own := t.option(s, "autovacuum_vacuum_threshold") + max(0, t.Planned)*
				t.option(s, "autovacuum_vacuum_scale_factor")
			seen := fmt.Sprintf("%.0f dead rows and %.0f live ones; autovacuum starts at %.0f; its last run: %s",
				t.Dead,
				t.Live, own, when(t.Vacuumed, "never"))
			if t.autovacuumOff() {
				return &Advice{ID: "autovacuum:" + t.String(), Level: Problem,
					Title:     "Autovacuum is off for " + t.String(),
					Mechanism: "Dead rows stay and statistics age until somebody runs VACUUM and ANALYZE by hand.",
					Evidence:  []string{"its options are " + strings.Join(t.Options, ", "), seen},
					Changes: []Change{{Kind: SQL, SQL: "ALTER TABLE " + t.sql() + " RESET (autovacuum_enabled)",
						Undo: "ALTER TABLE " + t.sql() + " SET (autovacuum_enabled = off)"}}}
			}
			if t.Dead < deadLeast.Value || t.Dead < behindTimes.Value*own {
				return nil
			}
			level := Note
			if t.Dead >= t.Live {
				level = Problem
			}
			return &Advice{ID: "vacuum:" + t.String(), Level: level,
				Title:     "Autovacuum does not keep up with " + t.String(),
				Mechanism: "Every scan reads the dead rows too, and the table grows instead of using their space.",
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

const ageSQL = `SELECT datname AS name, age(datfrozenxid)::float8 AS live FROM pg_database ORDER BY age(datfrozenxid)
	DESC
	LIMIT 1`

var wraparound = class{
	name: "wraparound", healthy: "autovacuum freezes old rows before they are a problem",
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		oldest, err := one[table](ctx, s, ageSQL)
		most := s.figure("autovacuum_freeze_max_age")
		if err != nil || oldest == nil || oldest.Live < freezeMost.Value*most {
			return nil, err
		}
		return []Advice{{ID: "wraparound", Level: Problem, Title: "Autovacuum does not freeze database " + oldest.Name,
			Mechanism: "After about two billion transactions the server refuses all writes, to protect old rows.",
			Evidence:  []string{fmt.Sprintf("age %.0f, autovacuum_freeze_max_age is %.0f", oldest.Live, most)},
			Do:        []string{"VACUUM (FREEZE) its oldest tables, once nothing holds back vacuum"},
			Prove:     "psql -c 'SELECT datname, age(datfrozenxid) FROM pg_database' shows it fall",
			Revert:    "nothing to put back"}}, nil
	},
}

// widths are what a row of a table takes, by the statistics of its columns.
const widthsSQL = `SELECT schemaname AS schema, tablename AS name,
	sum((1 - null_frac) * avg_width)::float8 AS size, count(*)::float8 AS live FROM pg_stats WHERE NOT inherited
	GROUP BY 1, 2`

// bloat is empty space, estimated from the rows that live and what their columns take.
var bloat = class{
	name: "bloat", healthy: "no table has much empty space, as far as statistics tell",
	causes: []string{"dead-rows"},
	find: func(ctx context.Context, s *server) ([]Advice, error) {
		rows, err := ask[table](ctx, s, widthsSQL)
		if err != nil {
			return nil, err
		}
		widths := map[string]float64{}
		for _, w := range rows {
			widths[w.String()] = w.Size
		}
		blind := 0
		all, err := eachTable(ctx, s, func(t table) *Advice {
			const page, pageHead, rowHead, align = 8192, 24, 24 + 4, 4
			size := t.Pages * page
			width, known := widths[t.String()]
			if !known || t.Planned < 0 {
				if size >= bloatLeast.Value && !t.Readable {
					blind++
				}
				return nil
			}
			full := t.option(s, "fillfactor")
			if !(full > 0) {
				full = 100
			}
			perPage := max(1, (page-pageHead)*full/100/(width+rowHead+align))
			empty := size - t.Planned/perPage*page
			if empty < bloatLeast.Value || empty < bloatShare.Value*size {
				return nil
			}
			level := Note
			if empty >= bloatMany.Value && empty >= size/2 {
				level = Problem
			}
			return &Advice{ID: "bloat:" + t.String(), Level: level, Title: "Much of " + t.String() + " is empty space",
				Mechanism: "Scans read it and the cache holds it, although it contains no rows.",
				Evidence: []string{fmt.Sprintf("about %s of %s (%s): an estimate from %.0f rows of %.0f bytes",
					sizeText(empty), sizeText(size), percent(empty/size), t.Planned, width)},
				Do: []string{"VACUUM FULL " + t.sql() + " locks it while it runs; pg_repack and pg_squeeze do not",
					"a table that is emptied and filled again uses its space: leave it"},
				Prove:  s.compare([]string{"--sql-b " + shell("VACUUM FULL "+t.sql())}, false, true),
				Revert: "nothing to put back"}
		})
		if blind > 0 {
			s.miss("bloat", fmt.Sprintf("%d large tables: the widths of their columns are shown only to users who may "+
				"read them: GRANT pg_read_all_data TO %s", blind, pgx.Identifier{s.User}.Sanitize()))
		}
		return all, err
	},
}

func sizeText(bytes float64) string { return size(bytes) }

const totalsSQL = `SELECT n.nspname AS schema, c.relname AS name, has_table_privilege(c.oid, 'SELECT') AS readable,
	c.reltuples::float8 AS live FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'split' AND NOT a.attisdropped
	WHERE c.relkind = 'r' AND c.relname LIKE '%\_totals' ORDER BY 1, 2`

// totalsSample is how many rows of each are looked at.
const totalsSample = 100_000

// totals of the ERP's registers that concurrent posting has split over several rows.
var totals = class{
	name: "totals", healthy: "the totals of the ERP's registers are merged, or there is no ERP",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		tables, err := ask[table](ctx, s, totalsSQL)
		for _, t := range tables {
			if !t.Readable {
				s.miss("totals", fmt.Sprintf("%s: GRANT SELECT ON %s TO %s", t, t.sql(),
					pgx.Identifier{s.User}.Sanitize()))
				continue
			}
			var rows, split float64
			sql := fmt.Sprintf("SELECT count(*)::float8, count(*) FILTER (WHERE split <> 0)::float8 FROM (SELECT "+
				"split FROM %s LIMIT %d) AS looked_at", t.sql(), totalsSample)
			if err := s.conn.QueryRow(ctx, sql).Scan(&rows, &split); err != nil {
				return nil, err
			}
			if split < changedLeast.Value || split < splitMost.Value*rows {
				continue
			}
			register := strings.TrimSuffix(t.Name[strings.Index(t.Name, "_")+1:], "_totals")
			all = append(all, Advice{ID: "totals:" + register, Level: Note,
				Title: "Totals of register " + register + " are split",
				Mechanism: "Concurrent postings write rows of their own; each reader adds them up until they are " +
					"merged.",
				Evidence: []string{fmt.Sprintf("%.0f of %.0f rows that were looked at", split, rows)},
				Do:       []string{"plimsoll recalculate " + register},
				Prove: s.compare([]string{"--sql-b @totals-merged.sql"}, false, true) + "; or a run before and " +
					"one after",
				Revert: "nothing to put back: the sums stay the same"})
		}
		return all, err
	},
}
