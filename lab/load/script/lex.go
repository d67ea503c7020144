package script

import (
	"fmt"
	"strconv"
	"strings"
)

// token of an expression. Operators and keywords are their own kind, in lower case.
type token struct {
	kind  string // "number", "double", "variable", "name", "" at the end, else itself
	text  string
	i     int64
	d     float64
	least bool // 2^63, an integer only after a minus
}

const endOfExpression = ""

var keywords = map[string]bool{
	"and": true, "or": true, "not": true, "is": true, "isnull": true, "notnull": true, "null": true, "true": true,
	"false": true, "case": true, "when": true, "then": true, "else": true, "end": true,
}

func isAlpha(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// word is the length of the name at the start of s.
func word(s string) (n int) {
	for n < len(s) && (isAlpha(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

// lex splits an expression into tokens.
func lex(s string) (all []token, err error) {
	for s != "" {
		if isSpace(s[0]) {
			s = s[1:]
			continue
		}
		t, n, err := next(s)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
		s = s[n:]
	}
	return append(all, token{}), nil
}

func next(s string) (token, int, error) {
	for _, op := range []string{"<>", "!=", "<=", ">=", "<<", ">>"} {
		if strings.HasPrefix(s, op) {
			return token{kind: strings.Replace(op, "!=", "<>", 1), text: op}, 2, nil
		}
	}
	c := s[0]
	switch {
	case strings.IndexByte("+-*/%=<>|&#~(),", c) >= 0:
		return token{kind: s[:1], text: s[:1]}, 1, nil
	case c == ':':
		if n := word(s[1:]); n > 0 {
			return token{kind: "variable", text: s[1 : 1+n]}, 1 + n, nil
		}
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return number(s)
	case isAlpha(c):
		n := word(s)
		if low := strings.ToLower(s[:n]); keywords[low] {
			return token{kind: low, text: s[:n]}, n, nil
		}
		return token{kind: "name", text: s[:n]}, n, nil
	}
	return token{}, 0, fmt.Errorf("unexpected character %q", rune(c))
}

func number(s string) (token, int, error) {
	digits := func(from int) int {
		for from < len(s) && isDigit(s[from]) {
			from++
		}
		return from
	}
	n := digits(0)
	whole := n
	if n < len(s) && s[n] == '.' {
		n = digits(n + 1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		exponent := n + 1
		if exponent < len(s) && (s[exponent] == '+' || s[exponent] == '-') {
			exponent++
		}
		if end := digits(exponent); end > exponent {
			n = end
		}
	}
	t := token{text: s[:n]}
	if n > whole {
		d, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return t, 0, fmt.Errorf("double constant %s overflows", s[:n])
		}
		t.kind, t.d = "double", d
		return t, n, nil
	}
	t.kind = "number"
	if s[:n] == "9223372036854775808" {
		t.least = true
		return t, n, nil
	}
	i, err := strconv.ParseInt(s[:n], 10, 64)
	if err != nil {
		return t, 0, fmt.Errorf("whole number %s is too large", s[:n])
	}
	t.i = i
	return t, n, nil
}

// IsName says whether s can be the name of a variable.
func IsName(s string) bool { return s != "" && word(s) == len(s) && isAlpha(s[0]) }
