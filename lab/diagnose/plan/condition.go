package plan

import (
	"regexp"
	"slices"
	"strings"
)

// use of a column in a condition, of a plan or of a statement's text.
type use struct {
	column   string
	function string // that is called on it
	cast     string // type that it is converted to
	sum      string // operator of arithmetic
	operator string // that compares it bare
	collate  string
}

// bare says that the column itself is compared.
func (u use) bare() bool { return u.operator != "" && u.function == "" && u.cast == "" && u.sum == "" }

// notFunctions are words that may stand before a parenthesis.
var notFunctions = map[string]bool{"and": true, "or": true, "not": true, "any": true, "all": true, "in": true,
	"where": true, "on": true, "select": true, "using": true, "exists": true, "values": true, "some": true, "as": true,
	"when": true, "cast": true, "then": true, "else": true, "case": true, "between": true,
	"like": true, "by": true, "having": true}

const (
	typeName   = `[\pL_][\pL\pN_]*(?: (?:varying|precision|with(?:out)? time zone))?`
	qualifier  = `(?:"?[\pL_][\pL\pN_$]*"?\.)?`
	comparison = `(=|<>|<=|>=|<|>|~~\*|~~|ilike\b|like\b|in\b|between\b|is\b)`
)

// patterns of a column.
type patterns struct{ function, cast, castCall, sum, bare *regexp.Regexp }

// patternsOf a column; those of few indexes of few tables are asked for.
func patternsOf(column string) patterns {
	c := qualifier + `"?` + regexp.QuoteMeta(column) + `"?`
	end := `(?:[^\pL\pN_$"]|$)`
	re := func(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }
	return patterns{
		function: re(`([\pL_][\pL\pN_$]*)\s*\(\s*(?:(?:'[^']*'|\?|\$\d+)(?:::[\pL ]+)?\s*,\s*)*\(*` + c + end),
		cast:     re(`(?:^|[\s(,])` + c + `\)*\s*::\s*(` + typeName + `)`),
		castCall: re(`\bcast\s*\(\s*` + c + `\s+as\s+([\pL_][\pL\pN_]*)`),
		sum:      re(`(?:^|[\s(,])` + c + `\)?(?:::[\pL ]+\)?)?\s*(\+|-|\*|/|\|\|)\s*[\w$?'(]`),
		bare:     re(`(?:^|[\s(,])` + c + `\)*(?:::[\pL ]+(?:\(\d+\))?\)*)?\s*` + comparison),
	}
}

var collated = regexp.MustCompile(`(?i)\bcollate\s+"?([\pL\pN_.@-]+)"?`)

// usesOf a column in a condition.
func usesOf(condition, column string) (u use, found bool) {
	p := patternsOf(column)
	u.column = column
	for _, m := range p.function.FindAllStringSubmatch(condition, -1) {
		if name := strings.ToLower(m[1]); !notFunctions[name] {
			u.function, found = name, true
			break
		}
	}
	for _, re := range []*regexp.Regexp{p.cast, p.castCall} {
		if m := re.FindStringSubmatch(condition); m != nil {
			u.cast, found = strings.ToLower(m[1]), true
		}
	}
	if m := p.sum.FindStringSubmatch(condition); m != nil {
		u.sum, found = m[1], true
	}
	if m := p.bare.FindStringSubmatch(condition); m != nil {
		u.operator, found = strings.ToLower(m[1]), true
	}
	if m := collated.FindStringSubmatch(condition); m != nil && found {
		u.collate = m[1]
	}
	return u, found
}

// converts says that the cast is to a type that an index on the column does not serve.
func (c tableColumn) converts(cast string) bool {
	if cast == "" || strings.EqualFold(cast, c.Type) || same[cast] == c.Type {
		return false
	}
	return !slices.ContainsFunc(c.Like, func(name string) bool {
		return strings.EqualFold(name, cast) || strings.EqualFold(name, same[cast])
	})
}

// same types under their short names.
var same = map[string]string{"int": "integer", "int4": "integer", "int8": "bigint", "int2": "smallint",
	"varchar": "character varying", "char": "character", "bpchar": "character", "float8": "double precision",
	"float4": "real", "decimal": "numeric", "bool": "boolean", "timestamp": "timestamp without time zone",
	"timestamptz": "timestamp with time zone"}
