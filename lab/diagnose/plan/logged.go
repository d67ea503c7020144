package plan

import (
	"regexp"
	"strconv"
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

var (
	loggedLine = regexp.MustCompile(`^duration: ([0-9.]+) ms  plan:\s*`)
	textNode   = regexp.MustCompile(`^(\s*)(?:->  )?(.+?)  \(cost=[0-9.]+\.\.([0-9.]+) rows=([0-9]+) width=([0-9]+)\)`)
	textHead   = regexp.MustCompile(`^(.*?)(?: using (\S+))?(?: on (\S+?)(?: \S+)?)?$`)
	textField  = regexp.MustCompile(`^\s+(Filter|Index Cond|Recheck Cond|Hash Cond|Join Filter|` +
		`Rows Removed by Filter): (.*)$`)
)

// FromLog is the plan in a line of auto_explain, in the formats text and json; nil: the line is none.
func FromLog(message string) *Plan {
	m := loggedLine.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	body := message[len(m[0]):]
	var p *Plan
	if strings.HasPrefix(strings.TrimSpace(body), "{") {
		var err error
		if p, err = parse([]byte(body)); err != nil {
			return nil
		}
	} else if p = parseText(body); p == nil {
		return nil
	}
	ms, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil
	}
	p.How, p.MS = Logged, &ms
	return p
}

// parseText reads the tree by its indents.
func parseText(body string) *Plan {
	_, body, found := strings.Cut(body, "Query Text: ")
	if !found {
		return nil
	}
	p := &Plan{Settings: map[string]string{}, Remarks: []Remark{}}
	var query []string
	type open struct {
		indent int
		node   *node
	}
	var path []open
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		m := textNode.FindStringSubmatch(line)
		switch {
		case m == nil && len(path) == 0:
			query = append(query, line)
			continue
		case m == nil:
			path[len(path)-1].node.field(line)
			p.JIT = p.JIT || strings.HasPrefix(strings.TrimSpace(line), "JIT:")
			continue
		}
		n := node{Cost: number(m[3]), Rows: number(m[4]), Width: number(m[5])}
		head := textHead.FindStringSubmatch(m[2])
		n.Type, n.Index, n.Relation = head[1], head[2], head[3]
		if schema, name, is := strings.Cut(n.Relation, "."); is {
			n.Schema, n.Relation = schema, name
		}
		for len(path) > 0 && path[len(path)-1].indent >= len(m[1]) {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			if p.root.Type != "" {
				break
			}
			p.root = n
			path = append(path, open{len(m[1]), &p.root})
			continue
		}
		above := path[len(path)-1].node
		above.Plans = append(above.Plans, n)
		path = append(path, open{len(m[1]), &above.Plans[len(above.Plans)-1]})
	}
	if p.root.Type == "" {
		return nil
	}
	p.Statement, p.Cost, p.Rows = sqltext.WithoutValues(strings.Join(query, " ")), p.root.Cost, p.root.Rows
	p.Lines = p.root.lines(0)
	return p
}

func number(text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0 // the expression allows digits alone
	}
	return x
}

// field of a node in a line of its own.
func (n *node) field(line string) {
	m := textField.FindStringSubmatch(line)
	if m == nil {
		return
	}
	switch m[1] {
	case "Filter":
		n.Filter = m[2]
	case "Index Cond":
		n.IndexCond = m[2]
	case "Recheck Cond":
		n.Recheck = m[2]
	case "Hash Cond":
		n.HashCond = m[2]
	case "Join Filter":
		n.JoinFilter = m[2]
	case "Rows Removed by Filter":
		n.FilterRemoved = number(m[2])
	}
}

// LoggedChanges are statements that the log has with two plans: the two that differ most in their time.
func LoggedChanges(logged []*Plan, key func(string) string) (all []Change) {
	by := map[string][]*Plan{}
	for _, p := range logged {
		k := key(p.Statement)
		by[k] = append(by[k], p)
	}
	for _, plans := range by {
		var fast, slow *Plan
		for _, p := range plans {
			if fast == nil || *p.MS < *fast.MS {
				fast = p
			}
		}
		for _, p := range plans {
			if Differs(fast, p) && (slow == nil || *p.MS > *slow.MS) {
				slow = p
			}
		}
		if slow != nil {
			all = append(all, Change{slow.Statement, TwoLines, fast, slow})
		}
	}
	return all
}
