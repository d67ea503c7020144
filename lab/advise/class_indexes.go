package advise

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/condition"
)

// Sizes are those of the last vacuum: exact ones take a lock of each index. Trees of expressions are compared without
// the places where they stood in their statements.
const indexesSQL = `SELECT n.nspname AS schema, t.relname AS table, i.relname AS name, i.oid AS oid,
	x.indisunique AS unique, x.indisvalid AS valid, coalesce(s.idx_scan, 0)::float8 AS scans,
	i.relpages::float8 * current_setting('block_size')::int AS size,
	x.indkey::text AS keys, x.indnkeyatts::int AS width, am.amname AS method,
	concat_ws(' ', x.indclass, x.indcollation, x.indoption,
		regexp_replace(x.indexprs::text, ':location -?\d+', '', 'g'),
		'where', regexp_replace(x.indpred::text, ':location -?\d+', '', 'g')) AS kind,
	x.indpred IS NOT NULL AS partial, x.indexprs IS NOT NULL AS expression,
	x.indisreplident OR x.indisclustered OR EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid) AS needed,
	EXISTS (SELECT FROM pg_stat_progress_create_index b WHERE b.index_relid = i.oid) AS building,
	coalesce(u.n_tup_ins + u.n_tup_upd + u.n_tup_del, 0)::float8 AS written,
	(coalesce(u.seq_scan, 0) + coalesce(u.idx_scan, 0))::float8 AS used
	FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
	JOIN pg_namespace n ON n.oid = t.relnamespace JOIN pg_am am ON am.oid = i.relam
	LEFT JOIN pg_stat_user_indexes s ON s.indexrelid = i.oid LEFT JOIN pg_stat_user_tables u ON u.relid = t.oid
	WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND t.relpersistence <> 't'
		AND i.relkind = 'i' AND NOT i.relispartition
	ORDER BY n.nspname, t.relname, i.relname`

const definitionsSQL = `SELECT i AS oid, pg_get_indexdef(i) AS definition FROM unnest($1::oid[]) AS i
	WHERE pg_get_indexdef(i) IS NOT NULL`

type index struct {
	Schema, Table, Name, Definition, Keys, Method, Kind string
	Unique, Valid, Partial, Expression, Needed          bool
	Building                                            bool // a session builds it now
	Scans, Size, Written, Used                          float64
	Width                                               int
	OID                                                 uint32
}

func (i index) table() string { return plainName(i.Schema, i.Table) }
func (i index) sql() string   { return quoted(i.Schema, i.Name) }

// drop and what makes it again, both without stopping the users.
func (i index) drop() Change {
	definition := strings.Replace(i.Definition, " INDEX ", " INDEX CONCURRENTLY IF NOT EXISTS ", 1)
	return Change{Kind: SQL, SQL: "DROP INDEX CONCURRENTLY IF EXISTS " + i.sql(), Undo: definition,
		Index: i.sql()}
}

// same says whether an index of the same table finds the same rows in the same order.
func (i index) same(o index) bool {
	return i.Method == o.Method && i.Keys == o.Keys && i.Width == o.Width && i.Kind == o.Kind
}

// indexes by their tables, read once.
func (s *server) indexes(ctx context.Context) (map[string][]index, error) {
	if s.byTable == nil {
		all, err := ask[index](ctx, s, indexesSQL)
		if err != nil {
			return nil, err
		}
		s.byTable = map[string][]index{}
		for _, i := range all {
			s.byTable[i.table()] = append(s.byTable[i.table()], i)
		}
	}
	return s.byTable, nil
}

// needless index: unfinished, a duplicate (then keep is the other one), or unread.
type needless struct {
	index
	keep *index
}

// unusedIndexes: those that nobody reads, duplicates, and those that a build has left unfinished.
var unusedIndexes = class{
	name: "indexes", healthy: "every index is read, and none is a duplicate", causes: []string{"unused-indexes"},
	primary: true,
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		byTable, err := s.indexes(ctx)
		if err != nil {
			return nil, err
		}
		var found []needless
		for _, table := range slices.Sorted(maps.Keys(byTable)) {
			found = append(found, needlessOf(byTable[table])...)
		}
		slices.SortStableFunc(found, func(a, b needless) int { return cmp.Compare(b.Size, a.Size) })
		s.more("indexes", len(found)-2*tablesMost)
		found = found[:min(len(found), 2*tablesMost)]
		if err := s.define(ctx, found); err != nil {
			return nil, err
		}
		d, err := s.figures(ctx)
		if err != nil || d == nil {
			return nil, err
		}
		for _, n := range found {
			switch {
			case !n.Valid:
				all = append(all, s.unfinished(n.index))
			case n.keep != nil:
				all = append(all, s.duplicate(n.index, *n.keep))
			default:
				all = append(all, n.unread(d.Since))
			}
		}
		for n := range all {
			_, all[n].object, _ = strings.Cut(all[n].object, ".")
		}
		return all, nil
	},
}

func needlessOf(same []index) (found []needless) {
	for n, i := range same {
		if !i.Valid {
			if !i.Building {
				found = append(found, needless{index: i})
			}
			continue
		}
		if i.Needed || i.Unique {
			continue
		}
		keep := i.twin(same, n)
		if keep != nil || i.Scans == 0 && i.Written >= writesMost.Value && i.Used >= usesLeast.Value {
			found = append(found, needless{i, keep})
		}
	}
	return found
}

// define reads the definitions of these alone: that of each index of ten thousand tables takes seconds.
func (s *server) define(ctx context.Context, found []needless) error {
	var oids []uint32
	for _, n := range found {
		if oids = append(oids, n.OID); n.keep != nil {
			oids = append(oids, n.keep.OID)
		}
	}
	all, err := ask[index](ctx, s, definitionsSQL, oids)
	definitions := map[uint32]string{}
	for _, i := range all {
		definitions[i.OID] = i.Definition
	}
	for k := range found {
		found[k].Definition = definitions[found[k].OID]
		if found[k].keep != nil {
			found[k].keep.Definition = definitions[found[k].keep.OID]
		}
	}
	return err
}

// twin of the same table that stays when i goes: a unique one, or the first of equals.
func (i index) twin(all []index, own int) *index {
	for n, o := range all {
		if n != own && o.Valid && i.same(o) && (o.Needed || o.Unique || n < own) {
			return &all[n]
		}
	}
	return nil
}

// leftover of a REINDEX CONCURRENTLY that failed.
var leftover = regexp.MustCompile(`_cc(new|old)\d*$`)

func (s *server) unfinished(i index) Advice {
	then := ", and build it again"
	if leftover.MatchString(i.Name) { // of REINDEX CONCURRENTLY: the index itself is there
		then = ": it is a leftover of REINDEX CONCURRENTLY, the index itself is there"
	}
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: Problem, object: i.table(),
		Title:     "Index " + i.Name + " of " + i.table() + " was never finished",
		Mechanism: "A CREATE INDEX CONCURRENTLY that failed leaves an index that is written and never read.",
		Evidence:  []string{"it is marked invalid, and no session is building it; its size is " + human.Bytes(i.Size)},
		Do:        []string{i.drop().SQL + then},
		Prove:     s.compare([]string{"--sql-b " + shell("DROP INDEX "+i.sql())}, false, true),
		Revert:    strings.Replace(i.Definition, " INDEX ", " INDEX CONCURRENTLY ", 1)}
}

func (s *server) duplicate(i, keep index) Advice {
	level := Note
	if i.Written >= writesMost.Value {
		level = Problem
	}
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: level, object: i.table(),
		Title:     "Indexes " + keep.Name + " and " + i.Name + " of " + i.table() + " are the same",
		Mechanism: "Each new row is entered into both and logged twice; either finds what the other does.",
		Evidence: []string{fmt.Sprintf("%s: %s; %s: %s; the second has %s, and %.0f rows were written", keep.Name,
			keep.Definition, i.Name, i.Definition, human.Bytes(i.Size), i.Written)},
		Memory: "none: it frees " + human.Bytes(i.Size), Changes: []Change{i.drop()}}
}

func (i index) unread(counted *float64) Advice {
	since := "when the statistics were reset is not known"
	if counted != nil {
		since = fmt.Sprintf("since the statistics were reset %.1f days ago", *counted/86400)
	}
	return Advice{ID: "index:" + plainName(i.Schema, i.Name), Level: Note, asked: true, object: i.table(),
		Title:     "No query reads index " + i.Name + " of " + i.table(),
		Mechanism: "Each new row is entered into it, and each entry goes into the log.",
		Evidence: []string{
			fmt.Sprintf("0 reads and %.0f rows written, while its table was read %.0f times, %s; it has %s",
				i.Written, i.Used, since, human.Bytes(i.Size)),
			"a replica counts its own reads, and some reports run once a year: ask who needs it"},
		Memory: "none: it frees " + human.Bytes(i.Size), Changes: []Change{i.drop()}}
}

// finds rows by its first column; none is named where that is an expression.
func (i index) finds(columns []column) condition.Index {
	first, _, _ := strings.Cut(i.Keys, " ")
	found := condition.Index{Name: i.Name, Valid: i.Valid, Partial: i.Partial}
	for _, c := range columns {
		if strconv.Itoa(c.Number) == first {
			found.First = c.Name
		}
	}
	return found
}
