// Package plan owns the plans of somebody's statements: asked for without running them, read for what makes them slow,
// kept without values, and compared with what they were before. See docs/design/045-inside-statements.md.
package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/ground/postgres/sqltext"
)

// Plan of a statement.
type Plan struct {
	Statement string    `json:"statement"` // without values
	How       How       `json:"how"`
	At        time.Time `json:"at"`
	// Role whose settings, search_path and rights it was made with; empty: those of the one who asked.
	Role     string            `json:"role,omitempty"`
	Settings map[string]string `json:"settings"` // of the planner, other than PostgreSQL's own
	Cost     float64           `json:"cost"`     // as the planner estimates it
	Rows     float64           `json:"rows"`     // as it estimates them
	JIT      bool              `json:"jit"`      // it would be compiled
	MS       *float64          `json:"ms"`       // of a logged one; null: it was not run
	Lines    []string          `json:"lines"`    // the tree, without values
	Remarks  []Remark          `json:"remarks"`

	root node
}

// How a plan was come by.
type How string

// Generic is the plan for any values, Custom that for the values of one call, Logged is one that auto_explain wrote.
const (
	Generic How = "generic"
	Custom  How = "custom"
	Logged  How = "logged"
)

// Remark on a plan.
type Remark struct {
	Name  string `json:"name"`
	Table string `json:"table,omitempty"`
	Index string `json:"index,omitempty"`
	// Strong: reason enough for a slow statement. Others explain, and are no findings by themselves.
	Strong bool `json:"strong"`
	// Why an index is not used.
	Why  string   `json:"why,omitempty"`
	Text string   `json:"text"`
	Next []string `json:"next"`
}

// node of EXPLAIN's JSON.
type node struct {
	Type          string  `json:"Node Type"`
	Parent        string  `json:"Parent Relationship"`
	Strategy      string  `json:"Strategy"`
	Join          string  `json:"Join Type"`
	Operation     string  `json:"Operation"`
	Schema        string  `json:"Schema"`
	Relation      string  `json:"Relation Name"`
	Alias         string  `json:"Alias"`
	Index         string  `json:"Index Name"`
	Filter        string  `json:"Filter"`
	IndexCond     string  `json:"Index Cond"`
	Recheck       string  `json:"Recheck Cond"`
	HashCond      string  `json:"Hash Cond"`
	MergeCond     string  `json:"Merge Cond"`
	JoinFilter    string  `json:"Join Filter"`
	OneTime       string  `json:"One-Time Filter"`
	Cost          float64 `json:"Total Cost"`
	Rows          float64 `json:"Plan Rows"`
	Width         float64 `json:"Plan Width"`
	Removed       int     `json:"Subplans Removed"`
	ActualRows    float64 `json:"Actual Rows"`
	Loops         float64 `json:"Actual Loops"`
	FilterRemoved float64 `json:"Rows Removed by Filter"`
	Plans         []node  `json:"Plans"`
}

type explained struct {
	Query    string            `json:"Query Text"`
	Plan     node              `json:"Plan"`
	Settings map[string]string `json:"Settings"`
	JIT      json.RawMessage   `json:"JIT"`
}

// bytesMost of a plan are read; a larger one is of thousands of partitions.
const bytesMost = 8 << 20

var errTooLarge = errors.New("its plan is larger than 8 MB")

// parse EXPLAIN's answer, or what auto_explain wrote.
func parse(text []byte) (*Plan, error) {
	if len(text) > bytesMost {
		return nil, errTooLarge
	}
	var one explained
	var all []explained
	if err := json.Unmarshal(text, &all); err == nil && len(all) == 1 {
		one = all[0]
	} else if err := json.Unmarshal(text, &one); err != nil {
		return nil, fmt.Errorf("read a plan: %w", err)
	}
	if one.Settings == nil {
		one.Settings = map[string]string{}
	}
	p := &Plan{Statement: sqltext.WithoutValues(one.Query), Settings: one.Settings, Cost: one.Plan.Cost,
		Rows: one.Plan.Rows, JIT: one.JIT != nil, Remarks: []Remark{}, root: one.Plan}
	p.Lines = p.root.lines(0)
	return p, nil
}

// linesMost of a tree are kept.
const linesMost = 60

// lines of the tree for people.
func (n node) lines(depth int) []string {
	line := strings.Repeat("  ", depth) + n.name()
	for _, c := range []struct{ what, text string }{{"index", n.IndexCond}, {"hash", n.HashCond},
		{"merge", n.MergeCond}, {"join filter", n.JoinFilter}, {"filter", n.Filter}, {"once", n.OneTime}} {
		if c.text != "" {
			line += fmt.Sprintf("; %s %s", c.what, cut(sqltext.WithoutValues(c.text)))
		}
	}
	line += fmt.Sprintf("  (rows %.0f, cost %.0f)", n.Rows, n.Cost)
	all := []string{line}
	for _, child := range n.Plans {
		if len(all) >= linesMost {
			break
		}
		all = append(all, child.lines(depth+1)...)
	}
	return all[:min(linesMost, len(all))]
}

// conditionMost characters of a condition are shown.
const conditionMost = 160

func cut(text string) string {
	if r := []rune(text); len(r) > conditionMost {
		return string(r[:conditionMost-1]) + "…"
	}
	return text
}

// name of a node as EXPLAIN writes it.
func (n node) name() string {
	text := n.Type
	switch {
	case n.Type == "Aggregate" && n.Strategy == "Hashed":
		text = "HashAggregate"
	case n.Type == "Aggregate" && n.Strategy == "Sorted":
		text = "GroupAggregate"
	case n.Operation != "":
		text = n.Operation
	}
	if n.Join != "" && n.Join != "Inner" {
		text += " " + n.Join
	}
	if n.Index != "" {
		text += " using " + n.Index
	}
	if n.Relation != "" {
		text += " on " + n.table()
	}
	return text
}

// table with its schema, as far as the plan names it.
func (n node) table() string {
	if n.Schema == "" {
		return n.Relation
	}
	return n.Schema + "." + n.Relation
}

// walk the tree.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for i := range n.Plans {
		n.Plans[i].walk(visit)
	}
}

// conditions of a node.
func (n *node) conditions() string {
	return strings.Join([]string{n.IndexCond, n.Recheck, n.Filter}, " ")
}
