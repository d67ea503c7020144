package tomlfile

import (
	"fmt"
	"regexp"
	"strings"
)

// Quote is a TOML basic string: Go's form without the escapes that TOML lacks.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// IsLiteral says whether text may stand between single quotes, where nothing is escaped.
func IsLiteral(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c == '\'' || c < ' ' || c == 0x7f })
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Key of a table, in quotes where it needs them.
func Key(name string) string {
	if bare.MatchString(name) {
		return name
	}
	return Quote(name)
}
