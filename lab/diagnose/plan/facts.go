package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed facts.sql
var factsSQL string

// Table is what the catalogs know of one.
type Table struct {
	Name, Plain        string
	Estimated, Counted float64 // rows, by the planner's statistics and by the counters
	Kind, Parent, Key  string
	Partitions         int
	Columns            []Column
	Indexes            []Index
}

// Column of a table.
type Column struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Plain bool     `json:"plain"` // a type of text
	Like  []string `json:"like"`  // types that need no conversion
	// Target of its statistics; below 0: the server's.
	Target  int    `json:"target"`
	Default string `json:"default"` // its expression
}

// Index of a table.
type Index struct {
	Name        string   `json:"name"`
	Valid       bool     `json:"valid"`
	Unique      bool     `json:"unique"` // by its first column alone
	Method      string   `json:"method"`
	Partial     string   `json:"partial"`
	Expressions string   `json:"expressions"`
	First       string   `json:"first"`   // empty: an expression
	Columns     []string `json:"columns"` // all of them, in their order, those that it includes last
	Ops         string   `json:"ops"`
	Collation   string   `json:"collation"` // empty: the database's
	Locale      string   `json:"locale"`
	Other       bool     `json:"other"`   // its collation is not its column's
	Pending     bool     `json:"pending"` // a GIN index that keeps what is new in a list
	// NullsApart: its first column has nulls where a sort does not put them by itself.
	NullsApart bool `json:"nulls_apart"`
}

// FindsAny row by its first column: it is valid and has all rows.
func (i Index) FindsAny() bool { return i.Valid && i.Partial == "" && i.First != "" }

// Tables that have these names, with their schemas.
func Tables(ctx context.Context, conn *pgx.Conn, names []string) (map[string]*Table, error) {
	found := map[string]*Table{}
	if len(names) == 0 {
		return found, nil
	}
	slices.Sort(names)
	rows, err := conn.Query(ctx, factsSQL, slices.Compact(names))
	if err != nil {
		return nil, fmt.Errorf("read tables of plans: %w", err)
	}
	var t Table
	var columns, indexes []byte
	_, err = pgx.ForEachRow(rows, []any{&t.Name, &t.Plain, &t.Estimated, &t.Counted, &t.Kind, &t.Parent, &t.Key,
		&t.Partitions, &columns, &indexes}, func() error {
		one := t
		if err := json.Unmarshal(columns, &one.Columns); err != nil {
			return err
		}
		found[t.Name] = &one
		return json.Unmarshal(indexes, &one.Indexes)
	})
	if err != nil {
		return nil, fmt.Errorf("read tables of plans: %w", err)
	}
	return found, nil
}

// Names of the tables of a plan.
func (p *Plan) Names() (all []string) {
	p.root.walk(func(n *node) {
		if n.Relation != "" && n.Schema != "" && !slices.Contains(all, n.table()) {
			all = append(all, n.table())
		}
	})
	return all
}

// volatileSQL: functions whose value may differ from row to row, by the names that statements have.
const volatileSQL = `SELECT DISTINCT proname::text FROM pg_proc WHERE provolatile = 'v' AND prokind = 'f'
	AND proname = ANY ($1::text[]) LIMIT 500`

// Volatile are those of some words that name functions whose value may differ from row to row: a condition with one is
// computed for each row, and no index serves it.
func Volatile(ctx context.Context, conn *pgx.Conn, words []string) (map[string]bool, error) {
	found := map[string]bool{}
	rows, err := conn.Query(ctx, volatileSQL, words)
	if err != nil {
		return nil, fmt.Errorf("read functions of statements: %w", err)
	}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error { found[name] = true; return nil })
	return found, err
}

// Column of a name; nil: it has none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if t.Columns[i].Name == name && name != "" {
			return &t.Columns[i]
		}
	}
	return nil
}

// converts says that a cast is to a type that an index on the column does not serve.
func (c Column) converts(cast string) bool {
	if cast == "" || strings.EqualFold(cast, c.Type) || same[cast] == c.Type {
		return false
	}
	return !slices.ContainsFunc(c.Like, func(name string) bool {
		return strings.EqualFold(name, cast) || strings.EqualFold(name, same[cast])
	})
}

// same types under their short names.
var same = map[string]string{"int": "integer", "int4": "integer", "int8": "bigint", "int2": "smallint",
	"varchar": "character varying", "char": "character", "bpchar": "character", "float8": "double precision",
	"float4": "real", "decimal": "numeric", "bool": "boolean", "timestamp": "timestamp without time zone",
	"timestamptz": "timestamp with time zone"}
