// Package condition reads conditions of statements and of plans: how they use a column, which columns of a table they
// compare with values, and whether an index finds its rows. Diagnosis and advice judge by the same.
package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kind of comparison.
type Kind int

const (
	Equals Kind = iota // with a value, which an index on the column serves
	Among              // with some values, which it serves, too
)

var (
	compound = regexp.MustCompile(`(?i)\b(union|intersect|except)\b`)
	joined   = regexp.MustCompile(`(?i)\bjoin\b|,\s*(lateral\s+)?\w+\s+(as\s+)?\w+\s+where`)
	fromOne  = `(?i)\b(?:from|update)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?(?:\s|;|$)`
	aliased  = `(?i)\b(?:from|join|update|,)\s+(?:only\s+)?(?:"?\w+"?\.)?"?%s"?\s+(?:as\s+)?(\w+)`
	notNames = regexp.MustCompile(`(?i)^(where|join|left|right|inner|full|cross|natural|on|using|set|order|` +
		`group|limit)$`)
	orWord = regexp.MustCompile(`(?i)\bor\b`)
)

var ordering = regexp.MustCompile(`(?is)\b(?:group|order)\s+by\b.*`)

// JoinedBy is the column by which a statement joins a table, under an alias, of which it asks for nothing else: all of
// its rows may be wanted. Empty: it does not, or that is not known.
func JoinedBy(sql, table string) string {
	if compound.MatchString(sql) {
		return ""
	}
	alias := regexp.MustCompile(fmt.Sprintf(aliased, regexp.QuoteMeta(table))).FindStringSubmatch(sql)
	_, from, is := CutFold(sql, "from")
	if alias == nil || !is || notNames.MatchString(alias[1]) {
		return ""
	}
	of := `\b` + regexp.QuoteMeta(alias[1]) + `\."?(\w+)"?`
	from = ordering.ReplaceAllString(from, "")
	if len(regexp.MustCompile(of).FindAllString(from, -1)) != 1 {
		return ""
	}
	const other = `"?\w+"?\."?\w+"?`
	m := regexp.MustCompile(of + `\s*=\s*` + other + `|` + other + `\s*=\s*` + of).FindStringSubmatch(from)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// Columns of a table that a statement compares with values. In a statement with other tables a column counts only with
// the table's name or alias before it.
func Columns(sql, table string, columns []string, kind Kind) (found []string) {
	name := regexp.QuoteMeta(table)
	before := qualifier
	switch {
	case compound.MatchString(sql):
		return nil
	case joined.MatchString(sql):
		alias := regexp.MustCompile(fmt.Sprintf(aliased, name)).FindStringSubmatch(sql)
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
		if kind.pattern(before, c).MatchString(condition) {
			found = append(found, c)
		}
	}
	return found
}

// withoutAlternatives is a condition without the operands of OR, for which one index finds no row sooner.
func withoutAlternatives(condition string) string {
	return folded(condition, func(inner string) string {
		if orWord.MatchString(inner) {
			return ""
		}
		return inner
	})
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
