package condition

import (
	"regexp"
	"slices"
)

// folded text: what stands in parentheses is replaced by what fold makes of it, the innermost first, the whole text
// last. Parentheses that a cut left open are closed.
func folded(text string, fold func(inner string) string) string {
	open := [][]byte{nil}
	leave := func() {
		last := len(open) - 1
		inner := fold(string(open[last]))
		open = open[:last]
		open[last-1] = append(open[last-1], "("+inner+")"...)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			open = append(open, nil)
		case c == ')' && len(open) > 1:
			leave()
		default:
			open[len(open)-1] = append(open[len(open)-1], c)
		}
	}
	for len(open) > 1 {
		leave()
	}
	return fold(string(open[0]))
}

// Levels of a statement: the text of each SELECT without what stands in parentheses within it, the outermost first.
func Levels(sql string) (all []string) {
	folded(sql, func(inner string) string {
		if selects.MatchString(inner) {
			all = append(all, inner)
		}
		return ""
	})
	slices.Reverse(all)
	return all
}

var (
	selects = regexp.MustCompile(`(?i)\bselect\b`)
	narrow  = regexp.MustCompile(`(?i)\b(where|join|tablesample|group\s+by)\b|` +
		`\bfrom\s+[\w".]+(?:\s+(?:as\s+)?\w+)?\s*,`)
)

// Narrows says that a level has a condition or joins: its rows are not all of one table.
func Narrows(level string) bool { return narrow.MatchString(level) }
