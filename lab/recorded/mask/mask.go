// Package mask replaces personal data in recorded statements before anything of them is stored: the literals and
// parameters that stand for columns which rules name, and what looks like an address or a number of a person.
//
//	rules + a random key ──▶ pseudonym of a value: the same value is always the same one, so that joins and later
//	                         statements still match; without the key, which is kept nowhere, it cannot be turned back
package mask

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"plimsoll/lab/recorded/literals"
)

// Mask replaces values. It is safe for concurrent use once its tables are known.
type Mask struct {
	rules  Rules
	key    string
	tables map[string][]string // columns of tables in their order, for INSERT without a list
}

// New mask by rules, with a key of its own.
func New(rules Rules) *Mask {
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	return &Mask{rules: rules, key: hex.EncodeToString(key[:]), tables: map[string][]string{}}
}

// least is how long a pseudonym is at least: shorter ones would be the same for many values.
const least = 8

// pseudonym of a value: digits for a number of a phone or a person, so that what checks such numbers still takes it,
// else hexadecimal. It is as long as the value, but has 8 to 64 characters. base.go does the same in SQL.
func (m *Mask) pseudonym(value string) string {
	sum := sha256.Sum256([]byte(m.key + value))
	text := hex.EncodeToString(sum[:])
	text = text[:min(max(len([]rune(value)), least), len(text))]
	if numeric.MatchString(value) {
		return strings.Map(func(c rune) rune {
			if c >= 'a' {
				return c - 'a' + '0'
			}
			return c
		}, text)
	}
	return text
}

// numeric are values of digits and what people put between them.
var numeric = regexp.MustCompile(`^[0-9 +()-]+$`)

// never are values that no rule masks: empty ones, times, keys in octal or hexadecimal.
var never = regexp.MustCompile(`^$|^\d{4}-\d\d-\d\d|^(\\{1,2}[0-7]{3})+$|^\\{1,2}x[0-9a-fA-F]*$`)

// value of a column; "" where it is not known.
func (m *Mask) value(column, value string) string {
	switch {
	case never.MatchString(value):
		return value
	case m.rules.names(column):
		inner := strings.Trim(value, "%")
		if inner == "" {
			return value
		}
		before, after, _ := strings.Cut(value, inner) // of a pattern of LIKE
		return before + m.pseudonym(inner) + after
	}
	return m.Text(value)
}

// Statement with its literals and parameters masked; values are changed in place. Escapes is literals.Finder's.
func (m *Mask) Statement(text string, values []*string, escapes bool) string {
	if m == nil {
		return text
	}
	f := literals.Finder{Escapes: escapes, Columns: func(table string) []string { return m.tables[table] }}
	return f.Replace(text, values, func(v literals.Value) string {
		if v.Number {
			return v.Text // patterns are about texts
		}
		return m.value(v.Column, v.Text)
	})
}

// Text replaces what looks like personal data anywhere in a text.
func (m *Mask) Text(text string) string {
	if m == nil {
		return text
	}
	for _, p := range m.rules.patterns {
		text = p.ReplaceAllStringFunc(text, m.pseudonym)
	}
	return text
}

// inMessage are the parts of a server's message that may quote data.
var inMessage = regexp.MustCompile(`"[^"]*"|'[^']*'|«[^»]*»|=\([^)]*\)`)

// Message without what it quotes, and with the rest masked.
func (m *Mask) Message(text string) string {
	if m == nil {
		return text
	}
	return m.Text(inMessage.ReplaceAllString(text, `"…"`))
}
