package condition

import (
	"regexp"
	"strings"
)

// Use of a column in a condition, of a plan or of a statement's text.
type Use struct {
	Function string // that is called on it
	Cast     string // type that it is converted to
	Sum      string // operator of arithmetic
	Operator string // that compares it bare, the first one
	Collate  string
	// Against is a function whose value it is compared with.
	Against string
	// Equal to a value, or Among some: by the column itself, without a conversion.
	Equal, Among bool
}

// Bare says that the column itself is compared.
func (u Use) Bare() bool { return u.Operator != "" && u.Function == "" && u.Cast == "" && u.Sum == "" }

// Like says that it is compared with a pattern.
func (u Use) Like() bool {
	return strings.HasPrefix(u.Operator, "~~") || strings.HasSuffix(u.Operator, "like")
}

// notFunctions are words that may stand before a parenthesis.
var notFunctions = map[string]bool{"and": true, "or": true, "not": true, "any": true, "all": true, "in": true,
	"where": true, "on": true, "select": true, "using": true, "exists": true, "values": true, "some": true, "as": true,
	"when": true, "cast": true, "then": true, "else": true, "case": true, "between": true,
	"like": true, "by": true, "having": true}

const (
	typeName   = `[\pL_][\pL\pN_]*(?: (?:varying|precision|with(?:out)? time zone))?`
	qualifier  = `(?:"?[\pL_][\pL\pN_$]*"?\.)?`
	comparison = `(=|<>|<=|>=|<|>|~~\*|~~|ilike\b|like\b|in\b|between\b|is\b)`
	value      = `(?:\$[\d?]|\?|'|-?\d|any\b)`
)

// patterns of a column.
type patterns struct{ function, cast, castCall, sum, bare, against *regexp.Regexp }

// patternsOf a column with what stands before its name; those of few columns of few tables are asked for.
func patternsOf(before, column string) patterns {
	c := named(before, column)
	end := `(?:[^\pL\pN_$"]|$)`
	re := func(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }
	return patterns{
		function: re(`([\pL_][\pL\pN_$]*)\s*\(\s*(?:(?:'[^']*'|\?|\$[\d?]+)(?:::[\pL ]+)?\s*,\s*)*\(*` + c + end),
		cast:     re(begin + c + `\)*\s*::\s*(` + typeName + `)`),
		castCall: re(`\bcast\s*\(\s*` + c + `\s+as\s+([\pL_][\pL\pN_]*)`),
		sum:      re(begin + c + `\)?(?:::[\pL ]+\)?)?\s*(\+|-|\*|/|\|\|)\s*[\w$?'(]`),
		against: re(begin + c + `\s*(?:=|<>|<=|>=|<|>)\s*\(*` + qualifier +
			`"?([\pL_][\pL\pN_$]*)"?\s*\(`),
		bare: re(begin + c + `\)*(?:::[\pL ]+(?:\(\d+\))?\)*)?\s*` + comparison),
	}
}

// begin of a column's name.
const begin = `(?:^|[\s(,])`

func named(before, column string) string { return before + `"?` + regexp.QuoteMeta(column) + `"?` }

// pattern of a comparison with values.
func (k Kind) pattern(before, column string) *regexp.Regexp {
	c := `(?i)` + begin + named(before, column)
	if k == Among {
		return regexp.MustCompile(c + `\s+in\s*\(`)
	}
	return regexp.MustCompile(c + `\s*=\s*` + value)
}

var collated = regexp.MustCompile(`(?i)\bcollate\s+"?([\pL\pN_.@-]+)"?`)

// Collation that a text asks for; empty: none.
func Collation(text string) string {
	if m := collated.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// Of a column in a condition, whatever table stands before its name.
func Of(condition, column string) (u Use, found bool) { return of(condition, qualifier, column) }

func of(condition, before, column string) (u Use, found bool) {
	p := patternsOf(before, column)
	for _, m := range p.function.FindAllStringSubmatch(condition, -1) {
		if name := strings.ToLower(m[1]); !notFunctions[name] {
			u.Function, found = name, true
			break
		}
	}
	for _, re := range []*regexp.Regexp{p.cast, p.castCall} {
		if m := re.FindStringSubmatch(condition); m != nil {
			u.Cast, found = strings.ToLower(m[1]), true
		}
	}
	if m := p.sum.FindStringSubmatch(condition); m != nil {
		u.Sum, found = m[1], true
	}
	if m := p.bare.FindStringSubmatch(condition); m != nil {
		u.Operator, found = strings.ToLower(m[1]), true
	}
	if m := p.against.FindStringSubmatch(condition); m != nil && !notFunctions[strings.ToLower(m[1])] {
		u.Against = strings.ToLower(m[1])
	}
	if found {
		u.Collate = Collation(condition)
		u.Equal = Equals.pattern(before, column).MatchString(condition)
		u.Among = Among.pattern(before, column).MatchString(condition)
	}
	return u, found
}
