package script

import (
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

// piece of a script: SQL up to its end, or one meta-command.
type piece struct {
	line int
	sql  string   // without the semicolon
	meta []string // verb and the rest of its line
	last bool     // SQL ended by a meta-command instead of a semicolon
}

// scanner splits a script into pieces as psql does: a semicolon ends a command unless it is quoted, in a comment or in
// parentheses; \; is a semicolon that does not end it; any other backslash outside quotes begins a meta-command, which
// takes the rest of its line.
type scanner struct {
	text string
	at   int
	line int
	all  []piece

	sql   strings.Builder
	began int // line of the first word of the SQL; 0: none yet
	depth int // of parentheses
}

func scan(text string) []piece {
	s := &scanner{text: text, line: 1}
	for s.at < len(s.text) {
		s.step()
	}
	s.end(false)
	return s.all
}

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) step() {
	rest := s.rest()
	switch c := rest[0]; {
	case strings.HasPrefix(rest, `\;`):
		s.skip(1)
		s.copy(1)
	case c == '\\':
		s.end(true)
		s.meta()
	case c == ';' && s.depth == 0:
		s.skip(1)
		s.end(false)
	default:
		s.part(sqltext.First(rest, false))
	}
}

func (s *scanner) part(p sqltext.Part) {
	switch {
	case p.Kind == sqltext.Comment && p.Text[0] == '-':
		s.skip(len(p.Text))
		return
	case p.Text == "(":
		s.depth++
	case p.Text == ")":
		s.depth = max(0, s.depth-1)
	}
	s.copy(len(p.Text))
}

// skip skips n bytes.
func (s *scanner) skip(n int) {
	s.line += strings.Count(s.text[s.at:s.at+n], "\n")
	s.at += n
}

// copy copies n bytes into the SQL.
func (s *scanner) copy(n int) {
	part := s.text[s.at : s.at+n]
	if s.began == 0 {
		if strings.TrimSpace(part) == "" {
			s.skip(n)
			return
		}
		s.began = s.line
	}
	s.sql.WriteString(part)
	s.skip(n)
}

// end completes the collected SQL.
func (s *scanner) end(byMeta bool) {
	if s.began > 0 {
		s.all = append(s.all, piece{line: s.began, sql: strings.TrimSpace(s.sql.String()), last: byMeta})
	}
	s.sql.Reset()
	s.began, s.depth = 0, 0
}

// meta reads a meta-command: a backslash before the line end continues it on the next line.
func (s *scanner) meta() {
	began, n := s.line, 0
	rest := s.rest()
	for {
		n += lineEnd(rest[n:])
		if !strings.HasSuffix(strings.TrimSuffix(rest[:n], "\r"), `\`) || n >= len(rest) {
			break
		}
		n++
	}
	text := strings.NewReplacer("\\\r\n", " ", "\\\n", " ").Replace(rest[1:n])
	verb := text
	if i := strings.IndexFunc(text, func(c rune) bool { return c < 0x80 && isSpace(byte(c)) }); i >= 0 {
		verb = text[:i]
	}
	meta := []string{strings.ToLower(verb), strings.TrimSpace(text[len(verb):])} // as pgbench, \SET is \set
	s.all = append(s.all, piece{line: began, meta: meta})
	s.skip(n)
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}
