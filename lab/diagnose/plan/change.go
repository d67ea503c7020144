package plan

import (
	"slices"
	"strings"
)

// Change is a statement whose plan is another one than before.
type Change struct {
	Statement string `json:"statement"`
	Between   string `json:"between"` // two looks, two runs, or two lines of the log
	Before    *Plan  `json:"before"`
	After     *Plan  `json:"after"`
}

// Where a change was seen.
const (
	TwoLooks = "two looks"
	TwoRuns  = "two runs"
	TwoLines = "two lines of the log"
)

// shape of a plan: what is done in which order, without rows and costs, which change with every ANALYZE, and without
// names of aliases. The same scan of many partitions counts once.
func (p *Plan) shape() string {
	if p.root.Type == "" { // it was kept in a file: the lines have all of it
		var all []string
		for _, line := range p.Lines {
			line, _, _ = strings.Cut(line, "  (rows ")
			line, _, _ = strings.Cut(line, "; ")
			all = append(all, line)
		}
		return strings.Join(distinct(all), "\n")
	}
	return strings.Join(distinct(p.root.shapes(0)), "\n")
}

func (n node) shapes(depth int) []string {
	all := []string{strings.Repeat("  ", depth) + n.name()}
	for _, child := range n.Plans {
		if len(all) >= linesMost {
			break
		}
		all = append(all, child.shapes(depth+1)...)
	}
	return all[:min(linesMost, len(all))]
}

// distinct lines: an append over partitions has as many as there are partitions.
func distinct(lines []string) (all []string) {
	for _, line := range lines {
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// Differs says whether two plans of a statement do something else. A plan for the values of one call may differ from
// that of another call with good reason, so they are compared with their own kind alone.
func Differs(before, after *Plan) bool {
	return before.How == after.How && before.shape() != after.shape()
}

// Changes of the statements that both lists have, told apart by key.
func Changes(between string, before, after []*Plan, key func(string) string, hows ...How) (all []Change) {
	for _, b := range before {
		for _, a := range after {
			if key(a.Statement) == key(b.Statement) && slices.Contains(hows, a.How) && Differs(b, a) {
				all = append(all, Change{a.Statement, between, b, a})
				break
			}
		}
	}
	return all
}
