// Package condition reads which columns of a table the condition of a statement compares with values, and whether an
// index finds its rows: diagnosis and advice judge by the same.
package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kind of comparison, as a pattern of a column.
type Kind string

// Comparisons with values that an index on the column serves.
const (
	Equals Kind = `(?i)(?:^|[\s(.])%s"?%s"?\s*=\s*(?:\$[\d?]|\?|'|-?\d|any\b)`
	Among  Kind = `(?i)(?:^|[\s(.])%s"?%s"?\s+in\s*\(`
	// Wrapped in a function or a cast: no index on the column itself serves that.
	Wrapped Kind = `(?i)(?:\w\(\s*%[1]s"?%[2]s"?\s*\)|[\s(.]%[1]s"?%[2]s"?\s*\)?\s*::\s*\w+)`
)

var (
	compound = regexp.MustCompile(`(?i)\b(union|intersect|except)\b`)
	joined   = regexp.MustCompile(`(?i)\bjoin\b|,\s*(lateral\s+)?\w+\s+(as\s+)?\w+\s+where`)
	fromOne  = `(?i)\b(?:from|update)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?(?:\s|;|$)`
	named    = `(?i)\b(?:from|join|update|,)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?\s+(?:as\s+)?(\w+)`
	notNames = regexp.MustCompile(`(?i)^(where|join|left|right|inner|full|cross|natural|on|using|set|order|` +
		`group|limit)$`)
	orWord = regexp.MustCompile(`(?i)\bor\b`)
)

// Columns of a table that a statement compares with values. In a statement with other tables a column counts only with
// the table's name or alias before it.
func Columns(sql, table string, columns []string, kind Kind) (found []string) {
	name := regexp.QuoteMeta(table)
	before := ""
	switch {
	case compound.MatchString(sql):
		return nil
	case joined.MatchString(sql):
		alias := regexp.MustCompile(fmt.Sprintf(named, name)).FindStringSubmatch(sql)
		if alias == nil {
			return nil
		}
		before = `"?` + name + `"?\.`
		if !notNames.MatchString(alias[1]) {
			before = alias[1] + `\.`
		}
	case !regexp.MustCompile(fmt.Sprintf(fromOne, name)).MatchString(sql):
		return nil
	}
	_, condition, is := CutFold(sql, "where")
	if !is {
		return nil
	}
	condition = withoutAlternatives(condition)
	for _, c := range columns {
		pattern := fmt.Sprintf(string(kind), before, regexp.QuoteMeta(c))
		if regexp.MustCompile(pattern).MatchString(" " + condition) {
			found = append(found, c)
		}
	}
	return found
}

// withoutAlternatives is a condition without the operands of OR, for which one index finds no row sooner.
func withoutAlternatives(condition string) string {
	levels := [][]byte{nil} // of parentheses
	leave := func() {
		last := len(levels) - 1
		group := levels[last]
		if orWord.Match(group) {
			group = nil
		}
		levels = levels[:last]
		levels[last-1] = slices.Concat(levels[last-1], []byte("("), group, []byte(")"))
	}
	for i := range len(condition) {
		switch c := condition[i]; {
		case c == '(':
			levels = append(levels, nil)
		case c == ')' && len(levels) > 1:
			leave()
		default:
			levels[len(levels)-1] = append(levels[len(levels)-1], c)
		}
	}
	for len(levels) > 1 { // the text was cut off
		leave()
	}
	if orWord.Match(levels[0]) {
		return ""
	}
	return string(levels[0])
}

// CutFold cuts a text at a word, written in lower case here and in any case there.
func CutFold(text, word string) (before, after string, found bool) {
	i := strings.Index(strings.ToLower(text), word)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(word):], true
}

// Index of a table: by what it finds rows.
type Index struct {
	Name string
	// First column; empty: an expression.
	First          string
	Valid, Partial bool
}

// Serves one of the columns, for all rows: it begins with it.
func (i Index) Serves(columns []string) bool {
	return i.First != "" && i.Valid && !i.Partial && slices.Contains(columns, i.First)
}

// Covering is the first index that serves one of the columns, so that a scan of the whole table has another reason than
// a missing index; nil: none.
func Covering(columns []string, all []Index) *Index {
	n := slices.IndexFunc(all, func(i Index) bool { return i.Serves(columns) })
	if n < 0 {
		return nil
	}
	return &all[n]
}
