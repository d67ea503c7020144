package plan

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

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
	columns            []tableColumn
	indexes            []tableIndex
}

type tableColumn struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Plain bool     `json:"plain"` // a type of text
	Like  []string `json:"like"`  // types that need no conversion
}

type tableIndex struct {
	Name        string `json:"name"`
	Valid       bool   `json:"valid"`
	Method      string `json:"method"`
	Partial     string `json:"partial"`
	Expressions string `json:"expressions"`
	First       string `json:"first"`
	Ops         string `json:"ops"`
	Collation   string `json:"collation"` // empty: the database's
	Locale      string `json:"locale"`
}

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
		if err := json.Unmarshal(columns, &one.columns); err != nil {
			return err
		}
		found[t.Name] = &one
		return json.Unmarshal(indexes, &one.indexes)
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
