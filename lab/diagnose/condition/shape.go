package condition

import (
	"regexp"
	"slices"
	"strings"
)

var (
	fromClause = regexp.MustCompile(`(?is)\bfrom\b(.*?)(?:\b(?:where|group\s+by|order\s+by|limit|having|window|union|` +
		`intersect|except|offset|fetch|for\s+update)\b|$)`)
	whereClause = regexp.MustCompile(`(?is)\bwhere\b(.*?)(?:\b(?:group\s+by|order\s+by|limit|having|window|union|` +
		`intersect|except|offset|fetch)\b|$)`)
	crossJoin = regexp.MustCompile(`(?i)\bcross\s+join\b`)
	andWord   = regexp.MustCompile(`(?i)\band\b`)
	joinWord  = regexp.MustCompile(`(?i)\bjoin\b`)
	relation  = regexp.MustCompile(`(?i)^\s*(?:only\s+)?(?:"?\w+"?\.)?"?(\w+)"?(?:\s+(?:as\s+)?"?(\w+)"?)?`)
	qualified = regexp.MustCompile(`"?\b([\pL_][\pL\pN_$]*)"?\s*\.\s*"?[\pL_*]`)
	joinName  = regexp.MustCompile(`(?i)^(?:on|using|join|left|right|inner|full|natural|cross|where|lateral|` +
		`tablesample)$`)
	fromWord  = regexp.MustCompile(`(?i)\bfrom\b`)
	usingList = regexp.MustCompile(`(?i)\busing\s*\([^)]*\)`)
	selectsOf = regexp.MustCompile(`(?i)^\s*select\b`)
	// notScalar stands before a subquery that is planned as a join, or is asked for row by row on purpose.
	notScalar = regexp.MustCompile(`(?i)\b(?:exists|in|any|all|some|lateral)\s*$`)
)

// selectsIn a statement: the text of each SELECT, without those within it, the innermost first. Other parentheses stay.
func selectsIn(sql string) (all []string) {
	whole := folded(sql, func(inner string) string {
		if selectsOf.MatchString(inner) {
			all = append(all, inner)
			return ""
		}
		if fromWord.MatchString(inner) { // EXTRACT (… FROM …)
			return ""
		}
		return inner
	})
	if whole != "" { // an INSERT, or a WITH
		all = append(all, whole)
	}
	return all
}

// Unjoined are two tables of one SELECT that no condition joins: each row of one meets each row of the other. Only what
// is certain from the text is said: all columns of its conditions have the names of their tables before them.
func Unjoined(sql string) (one, other string) {
	for _, level := range selectsIn(sql) {
		from := fromClause.FindStringSubmatch(level)
		if from == nil || len(fromWord.FindAllString(level, -1)) > 1 || !selects.MatchString(level) {
			continue // a UNION, or an UPDATE, whose own table joins the others
		}
		where := ""
		if m := whereClause.FindStringSubmatch(level); m != nil {
			where = m[1]
		}
		if strings.Contains(where, "()") || !allQualified(where) {
			continue // a subquery may join them, or a column whose table is not known
		}
		parts := components(from[1])
		for i := range parts {
			for j := range i {
				if !linked(parts, i, j, where+" and "+from[1]) {
					return parts[j].table, parts[i].table
				}
			}
		}
	}
	return "", ""
}

// component of a FROM: tables that JOIN connects, by all of their names.
type component struct {
	table string
	names []string
}

// components of a FROM that commas and CROSS JOIN divide; none where a function or a subquery is among them, which may
// join the others.
func components(from string) (all []component) {
	if from = usingList.ReplaceAllString(from, "using x"); strings.Contains(from, "(") {
		return nil
	}
	for _, item := range strings.Split(crossJoin.ReplaceAllString(from, ","), ",") {
		var c component
		for _, one := range relations(item) {
			if c.table == "" {
				c.table = one.name
			}
			c.names = append(c.names, one.name, one.alias)
		}
		if c.table != "" {
			all = append(all, c)
		}
	}
	return all
}

// aliasedTable is a table of a FROM, and what the statement calls it.
type aliasedTable struct{ name, alias string }

// relations that JOIN connects.
func relations(item string) (all []aliasedTable) {
	for _, part := range joinWord.Split(item, -1) {
		m := relation.FindStringSubmatch(part)
		if m == nil || joinName.MatchString(m[1]) {
			continue
		}
		if m[2] == "" || joinName.MatchString(m[2]) {
			m[2] = m[1]
		}
		all = append(all, aliasedTable{m[1], m[2]})
	}
	return all
}

// topLevel of a text: what stands in parentheses keeps no comma.
func topLevel(text string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth > 0 {
				return ' '
			}
		}
		return r
	}, text)
}

// linked says that conditions lead from one component to another, also over a third one.
func linked(parts []component, from, to int, where string) bool {
	met := map[int]bool{from: true}
	for again := true; again; {
		again = false
		for _, condition := range andWord.Split(where, -1) {
			var touched []int
			for i, c := range parts {
				is := func(name string) bool { return slices.Contains(c.names, name) }
				if slices.ContainsFunc(names(condition), is) {
					touched = append(touched, i)
				}
			}
			if len(touched) < 2 || !slices.ContainsFunc(touched, func(i int) bool { return met[i] }) {
				continue
			}
			for _, i := range touched {
				again = again || !met[i]
				met[i] = true
			}
		}
	}
	return met[to]
}

// names of tables that stand before columns.
func names(text string) (all []string) {
	for _, m := range qualified.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

var (
	valueWord = regexp.MustCompile(`(?i)\$\??\d*|\?|::\s*[\pL_][\pL\pN_]*(?:\[\])?|\b(?:and|or|not|between|in|like|` +
		`ilike|is|null|true|false|any|all|array|case|when|then|else|end|interval|date|timestamp|now|current_date|` +
		`current_timestamp|collate)\b`)
	called   = regexp.MustCompile(`"?[\pL_][\pL\pN_]*"?\s*\(`)
	withName = regexp.MustCompile(`"?[\pL_][\pL\pN_$]*"?\s*\.\s*"?[\pL_][\pL\pN_$]*"?`)
	anyWord  = regexp.MustCompile(`[\pL_]`)
)

// allQualified says that each column of a condition has a name of its table before it.
func allQualified(where string) bool {
	where = withName.ReplaceAllString(where, "")
	where = called.ReplaceAllString(where, "(")
	return !anyWord.MatchString(valueWord.ReplaceAllString(where, ""))
}

// Correlated says that a statement has a subquery that computes a value for each row of the statement around it: it
// names a table of that one. EXISTS and IN are planned as joins.
func Correlated(sql string) bool {
	var open []int
	all := append([]byte(sql), []byte(strings.Repeat(")", strings.Count(sql, "(")))...)
	outside := map[string]bool{}
	for _, level := range selectsIn(sql) {
		for _, name := range declared(level) {
			outside[name] = true
		}
	}
	for i, c := range all {
		switch {
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			at := open[len(open)-1]
			open = open[:len(open)-1]
			inner := string(all[at+1 : i])
			if !selectsOf.MatchString(inner) || notScalar.MatchString(string(all[:at])) {
				continue
			}
			own := map[string]bool{}
			for _, level := range selectsIn(inner) {
				for _, name := range declared(level) {
					own[name] = true
				}
			}
			if slices.ContainsFunc(names(inner), func(name string) bool { return outside[name] && !own[name] }) {
				return true
			}
		}
	}
	return false
}

// declared names of the tables of a SELECT: an alias hides the table's name.
func declared(level string) (all []string) {
	m := fromClause.FindStringSubmatch(level)
	if m == nil {
		return nil
	}
	for _, item := range strings.Split(crossJoin.ReplaceAllString(topLevel(m[1]), ","), ",") {
		for _, one := range relations(item) {
			all = append(all, one.alias)
		}
	}
	return all
}

var recursive = regexp.MustCompile(`(?is)^\s*with\s+recursive\s+"?(\w+)"?`)

// FilteredRecursion says that a recursive query goes through everything, and a condition outside of it takes a part.
func FilteredRecursion(sql string) bool {
	m := recursive.FindStringSubmatch(sql)
	if m == nil {
		return false
	}
	outer := folded(sql, func(inner string) string {
		if selects.MatchString(inner) && !recursive.MatchString(inner) {
			return ""
		}
		return inner
	})
	return regexp.MustCompile(`(?is)\bfrom\s+"?` + regexp.QuoteMeta(m[1]) + `"?(?:\s+(?:as\s+)?\w+)?\s+where\b[^;]*` +
		`(?:[=<>]|\bin\b)\s*\(?\s*` + value).MatchString(outer)
}
