package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/lab/diagnose/condition"
)

// Context of reading a plan: what is known beside it. Nil is not known.
type Context struct {
	Tables map[string]*Table
	Text   string // of the statement, as it is sent
	// Of each call.
	Rows, RowsRead, MeanMS *float64
	WorkMem                float64 // bytes
	HashMem                float64 // times work_mem
	// Settings of the role and database that run it, other than the server's. Of a plan they are its own.
	Settings map[string]string
	// Volatile functions, by name.
	Volatile map[string]bool
	// Scanned says that a table was read as a whole meanwhile; nil: not known.
	Scanned func(table string) bool
}

// Read a plan for what makes it slow.
func (p *Plan) Read(c Context) {
	p.root.walk(func(n *node) { p.scans(n, c) })
	p.partitions(c)
	p.spills(c)
	p.loops()
	p.joins(c)
	for _, r := range []*Remark{OffsetOf(c), allRowsOf(c), fineStatistics(c)} {
		if r != nil {
			p.add(*r)
		}
	}
	const sooner = 200
	if p.JIT && c.MeanMS != nil && *c.MeanMS < sooner {
		p.add(Remark{Name: Compiles, Text: fmt.Sprintf("its cost of %.0f is above jit_above_cost, so that it is "+
			"compiled for calls of %.1f ms", p.Cost, *c.MeanMS),
			Next: []string{"SET jit = off for that role, and time it again"}})
	}
	const apart, many = 100, 1000
	if c.Rows != nil && max(p.Rows, *c.Rows) >= many &&
		(p.Rows > apart*max(1, *c.Rows) || *c.Rows > apart*max(1, p.Rows)) {
		p.add(Remark{Name: RowsWrong, Text: fmt.Sprintf("the planner expects %.0f rows, and a call has %.4g", p.Rows,
			*c.Rows), Next: []string{"ANALYZE its tables; CREATE STATISTICS on columns that depend on each other"}})
	}
}

func (p *Plan) add(r Remark) {
	for _, one := range p.Remarks {
		if one.Name == r.Name && one.Table == r.Table {
			return
		}
	}
	p.Remarks = append(p.Remarks, r)
}

// scans of whole tables of which the condition keeps little.
func (p *Plan) scans(n *node, c Context) {
	t := c.Tables[n.table()]
	byIndex := n.IndexCond == "" && n.Filter != "" && (n.Type == "Index Scan" || n.Type == "Index Only Scan")
	if t == nil || n.Type != "Seq Scan" && !byIndex {
		return
	}
	if n.Filter == "" {
		p.fenced(t, c)
		return
	}
	rows := max(t.Estimated, t.Counted)
	if rows < rowsLeast {
		return
	}
	kept := n.Rows / rows
	if c.scans(t.Name) { // a generic plan is not always the one that runs
		q := asked{condition: n.Filter, text: c.Text, settings: p.Settings, volatile: c.Volatile,
			expected: kept, generic: p.How == Generic,
			given: c.Rows, rows: rows}
		if r := t.unused(q); r != nil {
			p.add(*r)
		}
	}
	const little = 0.01
	if kept <= little {
		p.add(Remark{Name: FilterRemoves, Table: t.Name, Text: fmt.Sprintf("it reads all %.0f rows of %s and its "+
			"filter keeps about %.0f", rows, t.Name, n.Rows), Next: []string{"an index on the columns of the filter: " +
			"plimsoll advise --for 1m    names it"}})
	}
}

// fenced: a WITH query that is MATERIALIZED, or a join, reads the whole table, and the condition comes behind it.
func (p *Plan) fenced(t *Table, c Context) {
	where, found := conditionsOf(c.Text)
	if !found || !keptApart(c.Text, t.Plain) && !overTables(where) || !c.scans(t.Name) ||
		max(t.Estimated, t.Counted) < rowsLeast {
		return
	}
	if r := t.alone(c.Tables).unused(asked{condition: where, text: c.Text, settings: p.Settings, volatile: c.Volatile,
		expected: -1}); r != nil {
		p.add(*r)
	}
}

// joins read a table whole that has no condition of its own, though its rows could be looked up by an index: the
// planner expects that many of them are wanted.
func (p *Plan) joins(c Context) {
	p.root.walk(func(n *node) {
		on := strings.ReplaceAll(n.HashCond+n.MergeCond, `"`, "")
		for i := range n.Plans {
			side := &n.Plans[i]
			for len(side.Plans) == 1 && side.Filter == "" {
				side = &side.Plans[0] // below Hash, Sort, Gather
			}
			t := c.Tables[side.table()]
			if on == "" || t == nil || side.Type != "Seq Scan" || side.Filter != "" {
				continue
			}
			rows := max(t.Estimated, t.Counted)
			for _, i := range t.Indexes {
				column := regexp.MustCompile(`\b` + regexp.QuoteMeta(side.Alias+"."+i.First) + `\b`)
				if rows < rowsLeast || !i.FindsAny() || !column.MatchString(on) {
					continue
				}
				p.add(Remark{Name: ReadToJoin, Table: t.Name, Text: fmt.Sprintf("it reads all %.0f rows of %s to join "+
					"them: the planner expects that to take less than looking them up by index %s", rows, t.Name,
					i.Name),
					Next: []string{"EXPLAIN (ANALYZE) it: does the other side of the join have as many rows as " +
						"expected?"}})
			}
		}
	})
}

// partitionsLeast that are read: fewer cost little.
const partitionsLeast = 8

// partitions that are all read though the statement's condition might leave most of them out.
func (p *Plan) partitions(c Context) {
	type read struct {
		n         int
		condition string
	}
	all := map[string]*read{}
	p.root.walk(func(n *node) {
		t := c.Tables[n.table()]
		if t == nil || t.Parent == "" || n.Removed > 0 {
			return
		}
		if all[t.Parent] == nil {
			all[t.Parent] = &read{condition: n.conditions()}
		}
		all[t.Parent].n++
	})
	for parent, r := range all {
		t := c.Tables[parent]
		if t == nil || r.n < partitionsLeast || r.n < t.Partitions {
			continue
		}
		if remark := t.unpruned(r.condition); remark != nil {
			p.add(*remark)
		}
	}
}

// unpruned says why a condition leaves no partition out; nil: it may, once its values are known.
func (t *Table) unpruned(where string) *Remark {
	if t.Key == "" || t.Partitions < partitionsLeast {
		return nil
	}
	u, found := condition.Of(where, t.Key)
	why := "the statement has no condition on " + t.Key + ", by which it is divided"
	next := "give the statement a condition on " + t.Key
	column := t.Column(t.Key)
	switch {
	case found && u.Function != "":
		why = fmt.Sprintf("the condition is on %s(%s), not on the key itself", u.Function, t.Key)
		next = "compare " + t.Key + " itself, with a range"
	case found && column != nil && column.converts(u.Cast):
		why = fmt.Sprintf("the condition converts the key %s to %s", t.Key, u.Cast)
		next = "give the value the type of the key: " + column.Type
	case found && u.Sum != "" && !u.Bare():
		why, next = "the condition computes with the key "+t.Key, "compute with the value, not with the key"
	case found:
		return nil
	}
	return &Remark{Name: AllPartitions, Table: t.Name, Strong: true, Text: fmt.Sprintf("all %d partitions of %s are "+
		"read: %s",
		t.Partitions, t.Name, why), Next: []string{next, "EXPLAIN the statement again: how many partitions are left?"}}
}

// spills of sorts and hashes whose rows are larger than their memory, as the planner expects them.
func (p *Plan) spills(c Context) {
	const overhead = 24 // of a row in memory
	p.root.walk(func(n *node) {
		rows, width, room := n.Rows, n.Width, c.WorkMem
		switch {
		case n.Type == "Sort" && len(n.Plans) > 0:
			rows, width = n.Plans[0].Rows, n.Plans[0].Width
		case n.Type == "Hash", n.Type == "Aggregate" && n.Strategy == "Hashed":
			room *= max(1, c.HashMem)
		default:
			return
		}
		if need := rows * (width + overhead); room > 0 && need > room {
			p.add(Remark{Name: Spills, Text: fmt.Sprintf("%s of %.0f rows needs %.1f MB and may use %.1f: it goes "+
				"through temporary files", n.name(), rows, need/(1<<20), room/(1<<20)),
				Next: []string{"SET work_mem for the role of this statement alone"}})
		}
	})
}

// loops that scan a whole table again for each row.
func (p *Plan) loops() {
	p.root.walk(func(n *node) {
		if n.Type != "Nested Loop" || len(n.Plans) != 2 {
			return
		}
		outer, inner := &n.Plans[0], &n.Plans[1]
		const many = 1e6
		if inner.Type == "Seq Scan" && outer.Rows*inner.Rows >= many {
			p.add(Remark{Name: ScanInLoop, Table: inner.table(), Text: fmt.Sprintf("it scans %s once for each of "+
				"%.0f rows",
				inner.table(), outer.Rows), Next: []string{"an index on the joined column of " + inner.table()}})
		}
	})
}

var offsetWord = regexp.MustCompile(`(?i)\boffset\s+(\d+|\$[\d?]+|\?)`)

// OffsetOf a statement that reads many rows to give few: page by page from the beginning. A number that is not known
// may be 0; of a subquery (OFFSET 0 keeps a plan as it is) the rows that the statement gives do not tell.
func OffsetOf(c Context) *Remark {
	m := offsetWord.FindStringSubmatch(c.Text)
	if m == nil {
		return nil
	}
	levels := condition.Levels(c.Text)
	outermost := len(levels) > 0 && offsetWord.MatchString(levels[0])
	const deep, each = 1000, 20
	var said string
	n, err := strconv.Atoi(m[1])
	switch {
	case err == nil && n >= deep:
		said = fmt.Sprintf("a call skips %d rows", n)
	case err == nil || !outermost:
		return nil
	case c.RowsRead != nil && c.Rows == nil && *c.RowsRead >= deep:
		said = fmt.Sprintf("a call reads %.0f rows at least", *c.RowsRead)
	case c.RowsRead != nil && c.Rows != nil && *c.RowsRead >= deep && *c.RowsRead >= each*max(1, *c.Rows):
		said = fmt.Sprintf("a call reads %.0f rows and gives %.0f", *c.RowsRead, *c.Rows)
	default:
		return nil
	}
	table := ""
	if names := sortedNames(c.Tables); len(names) == 1 {
		table = names[0]
	}
	return &Remark{Name: DeepOffset, Table: table, Strong: true, Text: "OFFSET reads and drops all rows before the " +
		"page: " + said,
		Next: []string{"page by key: WHERE (sort columns) > (those of the last row shown) ORDER BY … LIMIT n, with " +
			"an index on the sort columns"}}
}

// ReadText is what the text of a statement tells where its plan cannot be had: conditions that no index serves, on
// tables that are read as a whole, partitions that no condition leaves out, and rows that nobody wanted.
func ReadText(c Context) (all []Remark) {
	where, found := conditionsOf(c.Text)
	_, from, reads := condition.CutFold(c.Text, "from")
	for _, t := range c.Tables {
		if found && c.scans(t.Name) && max(t.Estimated, t.Counted) >= rowsLeast {
			q := asked{condition: where, text: c.Text, settings: c.Settings, volatile: c.Volatile,
				expected: -1}
			if r := t.alone(c.Tables).unused(q); r != nil {
				all = append(all, *r)
			}
		}
		if t.Kind == "p" && reads {
			if r := t.unpruned(from); r != nil {
				all = append(all, *r)
			}
		}
	}
	for _, r := range []*Remark{OffsetOf(c), allRowsOf(c), fineStatistics(c)} {
		if r != nil {
			all = append(all, *r)
		}
	}
	return all
}

// conditionsOf the joins and the WHERE of a text.
func conditionsOf(text string) (conditions string, found bool) {
	if _, conditions, found = condition.CutFold(text, " on "); !found {
		_, conditions, found = condition.CutFold(text, "where")
	}
	for _, behind := range []string{" group by ", " order by "} {
		conditions, _, _ = condition.CutFold(conditions, behind)
	}
	return conditions, found
}

// scans says that a table was read as a whole meanwhile, as far as that is known.
func (c Context) scans(table string) bool { return c.Scanned == nil || c.Scanned(table) }

// alone is the table with those of its indexes alone whose first column no other table of the statement has.
func (t *Table) alone(all map[string]*Table) *Table {
	one := *t
	one.Indexes = slices.DeleteFunc(slices.Clone(t.Indexes), func(i Index) bool {
		for _, other := range all {
			if other.Name != t.Name && other.Parent != t.Name && other.Name != t.Parent &&
				other.Parent != cmp.Or(t.Parent, "none") && other.Column(i.First) != nil {
				return true
			}
		}
		return false
	})
	return &one
}
