package advise

import (
	"context"
	"fmt"
	"math"

	"plimsoll/ground/human"
)

// Large B-trees with what their columns take, by the statistics of the table, or of the index for an expression.
const indexWidthsSQL = `SELECT n.nspname AS schema, t.relname AS table, i.relname AS name, i.oid AS oid,
	i.reltuples::float8 AS rows, i.relpages::float8 AS pages, coalesce(i.reloptions, '{}') AS options,
	(x.indnatts - count(p.attname))::int AS unknown, has_table_privilege(t.oid, 'SELECT') AS readable,
	coalesce(sum((1 - p.null_frac) * p.avg_width), 0)::float8 AS width, coalesce(max(p.null_frac), 0)::float8 AS nulls
	FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
	JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am m ON m.oid = i.relam
	CROSS JOIN generate_series(1, x.indnatts::int) AS k (place)
	JOIN pg_attribute a ON a.attrelid = CASE WHEN x.indkey[k.place - 1] = 0 THEN i.oid ELSE t.oid END
		AND a.attnum = CASE WHEN x.indkey[k.place - 1] = 0 THEN k.place ELSE x.indkey[k.place - 1] END
	LEFT JOIN pg_stats p ON p.schemaname = n.nspname AND p.attname = a.attname AND NOT p.inherited
		AND p.tablename = CASE WHEN x.indkey[k.place - 1] = 0 THEN i.relname ELSE t.relname END
	WHERE m.amname = 'btree' AND x.indisvalid AND i.relkind = 'i' AND i.relpersistence <> 't' AND i.relpages >= $1
		AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
	GROUP BY n.nspname, t.relname, i.relname, i.oid, t.oid, x.indnatts ORDER BY i.relpages DESC, 1, 3`

type tree struct {
	Schema, Table, Name       string
	OID                       uint32
	Rows, Pages, Width, Nulls float64
	Options                   []string
	Unknown                   int // columns without statistics
	Readable                  bool
}

// Sizes of a B-tree's pages and entries (nbtree.h, itup.h).
const (
	treePage       = 8192
	treePageHead   = 24 + 16
	treePointer    = 4
	treeEntryHead  = 8
	treeNullBitmap = 4
	treeAlign      = 8
	treeFull       = 90 // the default of fillfactor
)

func aligned(bytes float64) float64 { return math.Ceil(bytes/treeAlign) * treeAlign }

// full is the fillfactor.
func (x tree) full(s *server) float64 {
	if full := (table{Options: x.Options}).option(s, "fillfactor"); full > 0 {
		return full
	}
	return treeFull
}

// needed bytes for the entries, in pages as full as fillfactor says. Equal keys share entries, and need less.
func (x tree) needed(s *server) float64 {
	head := float64(treeEntryHead)
	if x.Nulls > 0 {
		head += treeNullBitmap
	}
	perPage := max(1, math.Floor((treePage-treePageHead)*x.full(s)/100/(treePointer+aligned(head)+aligned(x.Width))))
	return (1 + math.Ceil(x.Rows/perPage)) * treePage
}

// indexBloat is empty space in indexes, estimated from the rows and what their columns take.
var indexBloat = class{
	name: "index bloat", healthy: "no index has much empty space, as far as statistics tell",
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		trees, err := ask[tree](ctx, s, indexWidthsSQL, bloatLeast.Value/treePage)
		blind, budget := 0, measureMost.Value
		for _, x := range trees {
			if x.Unknown > 0 || x.Rows < 0 {
				if !x.Readable {
					blind++
				}
				continue
			}
			size := x.Pages * treePage
			empty := size - x.needed(s)
			if empty < bloatLeast.Value || empty < indexBloatShare.Value*size || len(all) >= tablesMost {
				continue
			}
			a, err := s.emptyIndex(ctx, x, empty, size, &budget)
			if err != nil {
				return all, err
			}
			if a != nil {
				all = append(all, *a)
			}
		}
		if blind > 0 {
			s.miss("index bloat", fmt.Sprintf("%d large indexes: only users who may read the tables see the widths "+
				"of their columns: GRANT pg_read_all_data TO the user", blind))
		}
		return all, err
	},
}

// emptyIndex is advice, unless pgstattuple measures that the estimate is wrong.
func (s *server) emptyIndex(ctx context.Context, x tree, empty, target float64, budget *float64) (*Advice, error) {
	text := fmt.Sprintf("about %s of %s (%s): an estimate from %.0f rows of %.0f bytes", human.Bytes(empty),
		human.Bytes(target), human.Share(empty/target), x.Rows, x.Width)
	do := []string{"REINDEX INDEX CONCURRENTLY " + quoted(x.Schema, x.Name),
		"if it soon is as large again, rows are deleted and inserted in a pattern that leaves pages half empty"}
	density, why, err := s.density(ctx, x, target, budget)
	switch {
	case err != nil:
		return nil, err
	case density == nil:
		do = append(do, "measured: "+why)
	case *density >= x.full(s)*(1-indexBloatShare.Value):
		return nil, nil
	default:
		text += fmt.Sprintf("; pgstattuple measured leaf pages %.0f %% full", *density)
		empty = target * (1 - *density/100)
	}
	level := Note
	if empty >= bloatMany.Value && empty >= target/2 {
		level = Problem
	}
	return &Advice{ID: "index-bloat:" + plainName(x.Schema, x.Name), Level: level, object: x.Name,
		Title: "Much of index " + x.Name + " of " + plainName(x.Schema, x.Table) + " is empty space",
		Mechanism: "Pages that deletes have partly emptied stay in the tree: searches and scans read them, and the " +
			"cache holds them.",
		Evidence: []string{text}, Do: do,
		Prove:  s.compare([]string{"--sql-b " + shell("REINDEX INDEX "+quoted(x.Schema, x.Name))}, false, true),
		Revert: "nothing to undo: the index has the same entries"}, nil
}

const whereTupleStatsSQL = `SELECT n.nspname AS schema, 'pgstatindex' AS name FROM pg_extension e
	JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pgstattuple'`

// density of the leaf pages in percent, as pgstattuple measures it; nil and how to get it where it cannot, or where
// what was read already is enough for a server that has other work.
func (s *server) density(ctx context.Context, x tree, target float64, budget *float64) (density *float64, why string,
	err error) {
	name := literal(quoted(x.Schema, x.Name))
	where, err := one[table](ctx, s, whereTupleStatsSQL)
	if err != nil {
		return nil, "", err
	}
	if where == nil {
		return nil, "CREATE EXTENSION pgstattuple; SELECT avg_leaf_density FROM pgstatindex(" + name + ")", nil
	}
	sql := "SELECT avg_leaf_density FROM " + where.sql() + "("
	if target > *budget {
		return nil, sql + name + "), which reads all of it", nil
	}
	*budget -= target
	var measured float64
	err = s.conn.QueryRow(ctx, sql+"$1::regclass)", x.OID).Scan(&measured)
	if err == nil {
		return &measured, "", nil
	}
	return nil, sql + name + ")", s.keep("index bloat: pgstattuple", err, "pg_stat_scan_tables")
}
