package database

import "strings"

var patternEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Containing is the LIKE pattern of a plain substring; the empty one matches everything.
func Containing(part string) string {
	if part == "" {
		return "%"
	}
	return "%" + patternEscape.Replace(part) + "%"
}

// between stands between the texts that are searched together; nobody types it.
const between = `E'\x1f'`

// MatchSQL is a condition: one of the texts (expressions that are never NULL) is LIKE the pattern whatever the case. One comparison of
// all texts takes a third less than ILIKE of each, which makes each and the pattern lower case every time.
func MatchSQL(texts []string, pattern string) string {
	return "lower(" + strings.Join(texts, " || "+between+" || ") + ") LIKE (SELECT lower(" + pattern + "))"
}
