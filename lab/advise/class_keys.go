package advise

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Foreign keys whose columns no index begins with, and what was deleted from the tables that they refer to.
const keysSQL = `SELECT n.nspname AS schema, t.relname AS name, c.conname AS constraint, rn.nspname AS to_schema,
	r.relname AS to_name, coalesce(s.n_tup_del, 0)::float8 AS deleted, coalesce(u.n_live_tup, 0)::float8 AS live,
	coalesce(u.seq_scan, 0)::float8 AS scans, coalesce(u.seq_tup_read, 0)::float8 AS scanned,
	(SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
		JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number) AS columns,
	(SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(c.confkey) WITH ORDINALITY AS k (number, place)
		JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number) AS to_columns
	FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
	JOIN pg_class r ON r.oid = c.confrelid JOIN pg_namespace rn ON rn.oid = r.relnamespace
	LEFT JOIN pg_stat_user_tables s ON s.relid = r.oid LEFT JOIN pg_stat_user_tables u ON u.relid = t.oid
	WHERE c.contype = 'f' AND t.relkind = 'r' AND t.relpersistence <> 't' AND coalesce(u.n_live_tup, 0) >= $1
		AND NOT EXISTS (SELECT FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam
			WHERE x.indrelid = t.oid AND x.indisvalid AND x.indpred IS NULL AND m.amname IN ('btree', 'hash')
			AND (x.indkey::int2[])[0:cardinality(c.conkey) - 1] @> c.conkey)
	ORDER BY coalesce(s.n_tup_del, 0) * coalesce(u.n_live_tup, 0) DESC, 1, 2, 3`

type foreignKey struct {
	Schema, Name, Constraint, ToSchema, ToName string
	Columns, ToColumns                         []string
	Deleted, Live, Scans, Scanned              float64

	also []foreignKey // other keys that the same index serves
}

func (k foreignKey) table() string { return plainName(k.Schema, k.Name) }
func (k foreignKey) id() string {
	return "foreign-key:" + k.table() + "(" + strings.Join(k.Columns, ",") + ")"
}

// byIndex joins the keys that one index serves: columns may refer to several tables, and PostgreSQL has a key of its
// own for each partition of what a key refers to.
func byIndex(keys []foreignKey) (all []foreignKey) {
	place := map[string]int{}
	for _, k := range keys {
		n, known := place[k.id()]
		if !known {
			place[k.id()] = len(all)
			all = append(all, k)
			continue
		}
		all[n].also = append(all[n].also, k)
		all[n].Deleted += k.Deleted
	}
	return all
}

// foreignKeys without an index: who deletes what they refer to, or changes its key, reads their table whole.
var foreignKeys = class{
	name:    "foreign keys",
	healthy: "no foreign key makes deletes read a whole table", causes: []string{"missing-index"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		keys, err := ask[foreignKey](ctx, s, keysSQL, rowsScan.Value)
		for _, k := range byIndex(keys) {
			changes := 0.0
			if k.Deleted < deletesLeast.Value {
				if changes, err = s.keyChanges(ctx, k); err != nil {
					return all, err
				}
			}
			if k.Deleted+changes >= deletesLeast.Value && len(all) < tablesMost {
				all = append(all, k.advice(changes))
			}
		}
		return all, err
	},
}

// keyChanges are the calls of statements that set the key which is referred to.
func (s *server) keyChanges(ctx context.Context, k foreignKey) (calls float64, err error) {
	statements, err := s.statements(ctx)
	for _, one := range statements {
		if sets(one.Query, k.ToName, k.ToColumns) || slices.ContainsFunc(k.also, func(other foreignKey) bool {
			return sets(one.Query, other.ToName, other.ToColumns)
		}) {
			calls += one.Calls
		}
	}
	return calls, err
}

const (
	updateOf  = `(?i)^\s*update\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?\s`
	setColumn = `(?i)[\s,(]"?%s"?\s*=`
)

// sets says whether a statement updates one of the columns of a table.
func sets(sql, table string, columns []string) bool {
	if !regexp.MustCompile(fmt.Sprintf(updateOf, regexp.QuoteMeta(table))).MatchString(sql) {
		return false
	}
	_, assignments, is := cutFold(sql, " set ")
	if before, _, filtered := cutFold(assignments, " where "); filtered {
		assignments = before
	}
	for _, c := range columns {
		if is && regexp.MustCompile(fmt.Sprintf(setColumn, regexp.QuoteMeta(c))).MatchString(" "+assignments) {
			return true
		}
	}
	return false
}

func (k foreignKey) advice(changes float64) Advice {
	columns := strings.Join(k.Columns, ", ")
	var names []string
	for _, c := range k.Columns {
		names = append(names, pgx.Identifier{c}.Sanitize())
	}
	name := indexName(k.Name, k.Columns)
	to := plainName(k.ToSchema, k.ToName)
	if len(k.also) > 0 {
		to += fmt.Sprintf(" and others that it refers to (%d)", len(k.also))
	}
	seen := fmt.Sprintf("%.0f rows were deleted from %s", k.Deleted, to)
	if changes > 0 {
		seen = fmt.Sprintf("statements that set its key in %s ran %.0f times", to, changes)
	}
	return Advice{ID: k.id(), Level: Problem,
		object: k.Name, Title: "Foreign key " + k.Constraint + " of " + k.table() + " has no index",
		Mechanism: "Who deletes a row that others may refer to, or changes its key, looks for rows that do. Without " +
			"an index on " + columns + " that reads the whole table for each row, in the same transaction, while its " +
			"locks are held.",
		Evidence: []string{fmt.Sprintf("%s; each time up to %.0f rows of %s are read", seen, k.Live, k.table()),
			fmt.Sprintf("%s was read whole %.0f times, %.0f rows in all, also by other statements", k.table(), k.Scans,
				k.Scanned)},
		Memory: fmt.Sprintf("none; about %s of disk and cache, and each write of the table enters it", size(20*k.Live)),
		Changes: []Change{{Kind: SQL, SQL: fmt.Sprintf("CREATE INDEX CONCURRENTLY IF NOT EXISTS %s ON %s (%s)",
			pgx.Identifier{name}.Sanitize(), quoted(k.Schema, k.Name), strings.Join(names, ", ")),
			Index: quoted(k.Schema, name), Undo: "DROP INDEX CONCURRENTLY IF EXISTS " + quoted(k.Schema, name)}}}
}
