package advise

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"plimsoll/ground/human"
	"plimsoll/lab/diagnose/condition"
)

// Foreign keys whose columns no index begins with, and what was deleted from the tables that they refer to.
const keysSQL = `SELECT n.nspname AS schema, t.relname AS name, t.oid AS oid, t.relpages::float8 AS pages,
	c.conname AS constraint, rn.nspname AS to_schema,
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
	Deleted, Live, Scans, Scanned, Pages       float64
	OID                                        uint32

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
	name: "foreign keys", healthy: "no foreign key makes deletes scan a whole table", primary: true,
	causes: []string{"missing-index"},
	find: func(ctx context.Context, s *server) (all []Advice, err error) {
		keys, err := ask[foreignKey](ctx, s, keysSQL, rowsScan.Value)
		if err != nil || len(keys) == 0 {
			return nil, err
		}
		d, err := s.figures(ctx)
		if err != nil || d == nil {
			return nil, err
		}
		updates, err := s.updates(ctx)
		more := 0
		for _, k := range byIndex(keys) {
			changes := 0.0
			if k.Deleted < deletesLeast.Value {
				changes = k.changes(updates)
			}
			switch {
			case k.Deleted+changes < deletesLeast.Value:
			case len(all) == tablesMost:
				more++
			default:
				a, err := s.keyAdvice(ctx, k, changes, d)
				if err != nil {
					return all, err
				}
				if a != nil {
					all = append(all, *a)
				}
			}
		}
		s.more("foreign keys", more)
		return all, err
	},
}

// keyAdvice is a problem where the whole scans take their part of a processor. nil: the server would not use an index.
func (s *server) keyAdvice(ctx context.Context, k foreignKey, changes float64, d *databaseFigures) (*Advice, error) {
	columns, err := ask[column](ctx, s, columnsSQL, k.OID, k.Schema, k.Name)
	if err != nil {
		return nil, err
	}
	a := k.advice(changes)
	rows := k.Live
	for _, c := range columns {
		if slices.Contains(k.Columns, c.Name) {
			if !c.Known {
				a.asked = true
				a.Evidence = append(a.Evidence, "the distribution of its values is not known: this needs ANALYZE and "+
					"the right to read the table")
				return &a, nil
			}
			rows *= c.share(k.Live)
		}
	}
	if !s.pays(table{Live: k.Live, Pages: k.Pages}, max(rowsFoundAtLeast, rows)) {
		return nil, nil
	}
	if perS := d.perSecond((k.Deleted + changes) * k.Live); perS == nil || *perS < scanRowsPS.Value {
		a.Level = Note
	}
	return &a, nil
}

var updated = regexp.MustCompile(`(?i)^\s*update\s+(?:only\s+)?(?:"?[\pL\pN_$]+"?\.)?"?([\pL\pN_$]+)`)

// updates that ran, by the table that they change: a server has thousands of keys, and thousands of statements.
func (s *server) updates(ctx context.Context) (map[string][]statement, error) {
	statements, err := s.statements(ctx)
	all := map[string][]statement{}
	for _, one := range statements {
		if found := updated.FindStringSubmatch(one.Query); found != nil {
			name := strings.ToLower(found[1])
			all[name] = append(all[name], one)
		}
	}
	return all, err
}

// changes are the calls of statements that set the key which is referred to.
func (k foreignKey) changes(updates map[string][]statement) (calls float64) {
	counted := map[string]bool{}
	for _, to := range append([]foreignKey{k}, k.also...) {
		for _, one := range updates[strings.ToLower(to.ToName)] {
			if !counted[one.Query] && sets(one.Query, to.ToName, to.ToColumns) {
				counted[one.Query] = true
				calls += one.Calls
			}
		}
	}
	return calls
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
	_, assignments, is := condition.CutFold(sql, " set ")
	if before, _, filtered := condition.CutFold(assignments, " where "); filtered {
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
		Mechanism: "Deleting a row that others may refer to, or changing its key, looks for rows that do. Without an " +
			"index on " + columns + " that scans the whole table for each row, in the same transaction, while its " +
			"locks are held.",
		Evidence: []string{fmt.Sprintf("%s; each time up to %.0f rows of %s are read", seen, k.Live, k.table()),
			fmt.Sprintf("%s was scanned completely %.0f times, "+
				"%.0f rows in all, also by other statements", k.table(), k.Scans,
				k.Scanned)},
		Memory: fmt.Sprintf("none; about %s of disk and cache, "+
			"and each write to the table updates it", human.Bytes(20*k.Live)),
		Changes: []Change{{Kind: SQL, SQL: fmt.Sprintf("CREATE INDEX CONCURRENTLY IF NOT EXISTS %s ON %s (%s)",
			pgx.Identifier{name}.Sanitize(), quoted(k.Schema, k.Name), strings.Join(names, ", ")),
			Index: quoted(k.Schema, name), Undo: "DROP INDEX CONCURRENTLY IF EXISTS " + quoted(k.Schema, name)}}}
}
