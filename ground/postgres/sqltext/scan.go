package sqltext

import (
	"iter"
	"strings"
)

// Kind of a part of a statement.
type Kind int

const (
	Symbol    Kind = iota // an operator, or any other sign
	Blank                 // white space
	Comment               // to the end of the line, or between marks, which nest
	Name                  // a word, quoted or not, or several that dots join: s.t, "T 1", SELECT
	String                // in quotes or dollar quotes
	Number                // without its sign
	Parameter             // $1
)

// Part of a statement.
type Part struct {
	Kind Kind
	Text string
	// Mark opens a string: ', E' or $tag$.
	Mark string
	// Cut: the string does not end, as in a text that was cut off.
	Cut bool
}

// Escapes says that backslashes escape within the string, whatever the session's setting.
func (p Part) Escapes() bool { return len(p.Mark) == 2 && p.Mark[1] == '\'' }

// Inner is the string between its marks, as it is written there.
func (p Part) Inner() string {
	inner := p.Text[len(p.Mark):]
	if p.Cut {
		return inner
	}
	if p.Mark[0] != '$' {
		return inner[:len(inner)-1]
	}
	return inner[:len(inner)-len(p.Mark)]
}

// Parts of a statement in their order, by the rules of PostgreSQL's scanner; together they are the whole text. Escapes
// says that backslashes escape within plain strings, too: standard_conforming_strings is off.
func Parts(sql string, escapes bool) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		for sql != "" {
			p := First(sql, escapes)
			if sql = sql[len(p.Text):]; !yield(p) {
				return
			}
		}
	}
}

// First part of a text, which must not be empty.
func First(text string, escapes bool) Part {
	is := func(kind Kind, n int) Part { return Part{Kind: kind, Text: text[:n]} }
	switch c := text[0]; {
	case isBlank(c):
		return is(Blank, run(text, isBlank))
	case strings.HasPrefix(text, "--"):
		return is(Comment, lineEnd(text))
	case strings.HasPrefix(text, "/*"):
		return is(Comment, blockComment(text))
	case c == '\'':
		return quoted(text, text[:1], escapes)
	case (c == 'E' || c == 'e') && strings.HasPrefix(text[1:], "'"):
		return quoted(text, text[:2], true)
	case c == '$':
		return dollar(text)
	case isLetter(c) || c == '"':
		return is(Name, name(text))
	case isDigit(c) || c == '.' && len(text) > 1 && isDigit(text[1]):
		return is(Number, number(text))
	case strings.HasPrefix(text, ".."):
		return is(Symbol, 2)
	}
	return is(Symbol, max(1, operator(text)))
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}
func inWord(c byte) bool   { return isLetter(c) || isDigit(c) }
func inName(c byte) bool   { return inWord(c) || c == '$' }
func inDigits(c byte) bool { return isDigit(c) || c == '_' }

// run is the length of what a text begins with that is of one class.
func run(text string, of func(byte) bool) (n int) {
	for n < len(text) && of(text[n]) {
		n++
	}
	return n
}

func lineEnd(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func blockComment(text string) int {
	depth := 0
	for n := 0; n < len(text); n++ {
		switch {
		case strings.HasPrefix(text[n:], "/*"):
			depth++
			n++
		case strings.HasPrefix(text[n:], "*/"):
			depth--
			n++
			if depth == 0 {
				return n + 1
			}
		}
	}
	return len(text)
}

// quotesEnd is where a text behind its opening quote ends, behind the closing one; a doubled quote does not close it.
func quotesEnd(text string, from int, quote byte, escapes bool) (end int, closed bool) {
	for n := from; n < len(text); n++ {
		switch {
		case escapes && text[n] == '\\':
			n++
		case text[n] == quote && n+1 < len(text) && text[n+1] == quote:
			n++
		case text[n] == quote:
			return n + 1, true
		}
	}
	return len(text), false
}

func quoted(text, mark string, escapes bool) Part {
	end, closed := quotesEnd(text, len(mark), '\'', escapes)
	return Part{Kind: String, Text: text[:end], Mark: mark, Cut: !closed}
}

// dollar begins a parameter or a string, or is a sign of its own.
func dollar(text string) Part {
	if n := run(text[1:], isDigit); n > 0 {
		return Part{Kind: Parameter, Text: text[:1+n]}
	}
	n := 1 + run(text[1:], inWord)
	if n == len(text) || text[n] != '$' {
		return Part{Kind: Symbol, Text: text[:1]}
	}
	mark := text[:n+1]
	end := strings.Index(text[len(mark):], mark)
	if end < 0 {
		return Part{Kind: String, Text: text, Mark: mark, Cut: true}
	}
	return Part{Kind: String, Text: text[:end+2*len(mark)], Mark: mark}
}

func name(text string) (n int) {
	for {
		if text[n] == '"' {
			n, _ = quotesEnd(text, n+1, '"', false)
		} else {
			n += run(text[n:], inName)
		}
		if n+1 >= len(text) || text[n] != '.' || !isLetter(text[n+1]) && text[n+1] != '"' {
			return n
		}
		n++
	}
}

func number(text string) int {
	if len(text) > 2 && text[0] == '0' && strings.IndexByte("xXoObB", text[1]) >= 0 && inWord(text[2]) {
		return run(text, inWord)
	}
	n := run(text, inDigits)
	if n < len(text) && text[n] == '.' && !strings.HasPrefix(text[n+1:], ".") {
		n++
		n += run(text[n:], inDigits)
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		digits := n + 1
		if digits < len(text) && (text[digits] == '+' || text[digits] == '-') {
			digits++
		}
		if more := run(text[digits:], inDigits); more > 0 {
			n = digits + more
		}
	}
	return n
}

// operator is the length of one, which ends where a comment begins.
func operator(text string) (n int) {
	for n < len(text) && strings.IndexByte("=<>!~@#%^&|`?*/+-", text[n]) >= 0 &&
		!strings.HasPrefix(text[n:], "--") && !strings.HasPrefix(text[n:], "/*") {
		n++
	}
	return n
}
