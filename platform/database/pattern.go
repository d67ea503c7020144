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
