package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ruleSet is rules.txt.
type ruleSet struct {
	orders     []order
	known      []known
	exceptions []*exception
}

// order says which folders of one place lie above which.
type order struct {
	place  string // "" is the whole repository
	floors [][]string
	line   int
}

// known names all who may import a folder.
type known struct {
	folder    string
	importers []string
	line      int
}

// exception lets one arrow break the other rules.
type exception struct {
	from, to string // "*" is anyone
	test     bool   // for imports of tests alone
	line     int
	used     bool
}

func readRules(tree fs.FS) (*ruleSet, error) {
	text, err := fs.ReadFile(tree, rulesFile)
	if err != nil {
		return nil, err
	}
	rules := &ruleSet{}
	lines := strings.Split(string(text), "\n")
	for n := 0; n < len(lines); n++ {
		first := n
		rule := withoutComment(lines[n])
		for n+1 < len(lines) && strings.HasPrefix(lines[n+1], " ") {
			n++
			rule += " " + withoutComment(lines[n])
		}
		verb, rest, _ := strings.Cut(rule, " ")
		if verb != "" && !rules.add(first+1, verb, strings.TrimSpace(rest)) {
			return nil, fmt.Errorf("%s:%d: cannot read %q", rulesFile, first+1, rule)
		}
	}
	return rules, nil
}

func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return strings.TrimSpace(line)
}

// add reads one rule; false if it is none.
func (r *ruleSet) add(line int, verb, rest string) bool {
	left, right, split := strings.Cut(rest, ":")
	switch verb {
	case "order":
		if !split {
			left, right = "", rest
		}
		o := order{place: strings.TrimPrefix(left, "in "), line: line}
		for floor := range strings.SplitSeq(right, ">") {
			o.floors = append(o.floors, names(floor))
		}
		r.orders = append(r.orders, o)
		return len(o.floors) > 1
	case "known":
		r.known = append(r.known, known{folder: left, importers: names(right), line: line})
		return split
	case "allow", "test":
		from, to, arrow := strings.Cut(left, " -> ")
		r.exceptions = append(r.exceptions, &exception{from: from, to: to, test: verb == "test", line: line})
		return arrow && strings.TrimSpace(right) != ""
	}
	return false
}

func names(list string) []string {
	found := strings.Split(list, ",")
	for i := range found {
		found[i] = strings.TrimSpace(found[i])
	}
	return found
}

// floor counts from 0, the top; false if the order does not name the package's folder.
func (o order) floor(folder string) (floor int, name string, named bool) {
	for i, names := range o.floors {
		for _, name := range names {
			if place := path.Join(o.place, name); folder == place || name != "." && within(folder, place) {
				return i, name, true
			}
		}
	}
	return 0, "", false
}

// covers says whether the order applies to a package.
func (o order) covers(folder string) bool { return o.place != "" && within(folder, o.place) }

// check names every import that breaks a rule, every package without a place in its order, and every exception that
// no import needs.
func (r *ruleSet) check(imports []importLine) []string {
	var problems []string
	for _, i := range imports {
		if broken := r.broken(i); broken != "" && !r.excused(i) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s imports %s: %s", i.file, i.line, i.from, i.to, broken))
		}
	}
	problems = append(problems, r.homeless(imports)...)
	for _, e := range r.exceptions {
		if !e.used {
			problems = append(problems, fmt.Sprintf("%s:%d: no import needs this exception: delete it", rulesFile,
				e.line))
		}
	}
	return problems
}

// broken says which rule an import breaks; empty if none.
func (r *ruleSet) broken(i importLine) string {
	if isTestSupport(i.to) && !i.test {
		return "only tests use it"
	}
	for _, o := range r.orders {
		from, a, there := o.floor(i.from)
		to, b, alsoThere := o.floor(i.to)
		switch {
		case !there || !alsoThere || a == b:
		case from > to:
			return fmt.Sprintf("%s lies below %s (%s:%d)", a, b, rulesFile, o.line)
		case from == to:
			return fmt.Sprintf("%s and %s lie side by side and do not know each other (%s:%d)", a, b, rulesFile, o.line)
		}
	}
	for _, k := range r.known {
		if within(i.to, k.folder) && !within(i.from, k.folder) &&
			!slices.ContainsFunc(k.importers, func(who string) bool { return within(i.from, who) }) {
			return fmt.Sprintf("only %s may (%s:%d)", strings.Join(k.importers, ", "), rulesFile, k.line)
		}
	}
	return ""
}

func (r *ruleSet) excused(i importLine) bool {
	for _, e := range r.exceptions {
		if (e.from == "*" || within(i.from, e.from)) && within(i.to, e.to) && (i.test || !e.test) {
			e.used = true
			return true
		}
	}
	return false
}

// homeless names the packages that an order forgets.
func (r *ruleSet) homeless(imports []importLine) []string {
	var problems []string
	for _, o := range r.orders {
		seen := map[string]bool{}
		for _, i := range imports {
			for _, folder := range []string{i.from, i.to} {
				_, _, named := o.floor(folder)
				if named || !o.covers(folder) || seen[folder] {
					continue
				}
				seen[folder] = true
				problems = append(problems, fmt.Sprintf("%s:%d: %s has no place in the order of %s",
					rulesFile, o.line, folder, o.place))
			}
		}
	}
	return problems
}
