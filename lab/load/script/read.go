package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mistake is a syntax error in a script.
type Mistake struct {
	Line int // of the script, from 1
	Says string
	Hint string
}

func (m *Mistake) Error() string { return fmt.Sprintf("line %d of the script: %s", m.Line, m.Says) }

// ParamsMax is how many variables one statement may have (pgbench's limit).
const ParamsMax = 255

// Parse reads a script; the error is a *Mistake.
func Parse(text string) (*Script, error) {
	b := &builder{pieces: scan(text)}
	commands, err := b.block(nil)
	if err != nil {
		return nil, err
	}
	if len(commands) == 0 {
		return nil, &Mistake{1, "the script is empty", ""}
	}
	if b.opened > 0 {
		return nil, &Mistake{b.opened, `\startpipeline without \endpipeline`, ""}
	}
	return &Script{text: text, commands: commands, Pipeline: b.pipeline}, nil
}

type builder struct {
	pieces   []piece
	at       int
	opened   int // line of the open pipeline
	pipeline bool
}

// metaCommands lists the commands there are.
var metaCommands = []string{"set", "gset", "aset", "sleep", "if", "elif", "else", "endif", "startpipeline",
	"syncpipeline", "endpipeline"}

// block reads commands up to one of the ends, which it does not consume.
func (b *builder) block(ends []string) (all []command, err error) {
	for ; b.at < len(b.pieces); b.at++ {
		p := b.pieces[b.at]
		if p.meta != nil && slices.Contains(ends, p.meta[0]) {
			return all, nil
		}
		var c command
		switch {
		case p.meta == nil:
			c, err = b.query(p)
		case p.meta[0] == "gset" || p.meta[0] == "aset":
			err = b.get(p, all)
			if err == nil {
				continue
			}
		default:
			c, err = b.meta(p)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (b *builder) query(p piece) (command, error) {
	c := command{line: p.line, verb: "sql", sql: p.sql}
	c.bound, c.params = bind(p.sql)
	if len(c.params) > ParamsMax {
		return c, &Mistake{p.line, fmt.Sprintf("%d variables in one statement: at most %d", len(c.params), ParamsMax),
			""}
	}
	return c, nil
}

// get makes the query before it set variables.
func (b *builder) get(p piece, before []command) error {
	verb := p.meta[0]
	if b.at == 0 || !b.pieces[b.at-1].last || len(before) == 0 {
		return &Mistake{p.line, fmt.Sprintf(`\%s stands at the end of a query, instead of its semicolon`, verb), ""}
	}
	if b.opened > 0 {
		return &Mistake{p.line, fmt.Sprintf(`\%s is not possible in a pipeline: the answer is not there yet`, verb), ""}
	}
	words := strings.Fields(p.meta[1])
	if len(words) > 1 {
		return &Mistake{p.line, fmt.Sprintf(`\%s takes at most one word, a prefix`, verb), ""}
	}
	c := &before[len(before)-1]
	if c.get = verb; len(words) == 1 {
		c.prefix = words[0]
	}
	return nil
}

func (b *builder) meta(p piece) (command, error) {
	verb, rest := p.meta[0], p.meta[1]
	c := command{line: p.line, verb: verb}
	wrong := func(format string, args ...any) error { return &Mistake{p.line, fmt.Sprintf(format, args...), ""} }
	switch verb {
	case "set":
		return c, b.set(&c, rest, wrong)
	case "sleep":
		return c, readSleep(&c.sleep, strings.Fields(rest), wrong)
	case "if":
		return c, b.branches(&c, rest)
	case "startpipeline", "syncpipeline", "endpipeline":
		return c, b.pipe(verb, p.line, wrong)
	case "elif", "else", "endif":
		return c, wrong(`\%s without \if`, verb)
	case "shell", "setshell":
		return c, &Mistake{p.line, fmt.Sprintf(`\%s is refused: a scenario must not start programs`, verb), ""}
	case "setrandom":
		return c, &Mistake{p.line, `\setrandom is gone from pgbench`, `write \set NAME random(FROM, TO)`}
	}
	return c, &Mistake{p.line, fmt.Sprintf(`no meta-command \%s`, verb),
		`there are \` + strings.Join(metaCommands, `, \`)}
}

func (b *builder) set(c *command, rest string, wrong func(string, ...any) error) (err error) {
	n := word(rest)
	c.name = rest[:n]
	if n == 0 || isDigit(rest[0]) || n < len(rest) && !isSpace(rest[n]) {
		return wrong(`\set takes a name of letters, digits and _, and an expression`)
	}
	if c.expression, err = ParseExpression(rest[n:]); err != nil {
		return wrong(`\set %s: %v`, c.name, err)
	}
	return nil
}

// units of \sleep in microseconds.
var units = map[string]int64{"us": 1, "ms": 1000, "s": 1_000_000}

func readSleep(s *sleep, words []string, wrong func(string, ...any) error) error {
	if len(words) < 1 || len(words) > 2 {
		return wrong(`\sleep takes a number and us, ms or s`)
	}
	s.unit = "s"
	if name, is := strings.CutPrefix(words[0], ":"); is {
		s.variable = name
	} else {
		digits := strings.TrimRight(words[0], "usm")
		if len(digits) < len(words[0]) && len(words) == 1 { // pgbench takes 10ms for 10 ms too
			words = []string{digits, words[0][len(digits):]}
		}
		n, err := strconv.ParseInt(words[0], 10, 32)
		if err != nil || n < 0 {
			return wrong(`\sleep takes a whole number, not %q`, words[0])
		}
		s.number = n
	}
	if len(words) == 2 {
		s.unit = strings.ToLower(words[1])
	}
	if units[s.unit] == 0 {
		return wrong(`\sleep in %q: us, ms and s are possible`, s.unit)
	}
	return nil
}

func (b *builder) pipe(verb string, line int, wrong func(string, ...any) error) error {
	switch {
	case verb == "startpipeline" && b.opened > 0:
		return wrong(`\startpipeline inside of a pipeline`)
	case verb != "startpipeline" && b.opened == 0:
		return wrong(`\%s without \startpipeline`, verb)
	}
	b.pipeline = true
	switch verb {
	case "startpipeline":
		b.opened = line
	case "endpipeline":
		b.opened = 0
	}
	return nil
}

// branches reads an \if up to its \endif.
func (b *builder) branches(c *command, condition string) error {
	kind := "if"
	for {
		br, err := b.branch(kind, condition, b.pieces[b.at].line)
		if err != nil {
			return err
		}
		b.at++
		if br.body, err = b.block([]string{"elif", "else", "endif"}); err != nil {
			return err
		}
		c.branches = append(c.branches, br)
		if b.at >= len(b.pieces) {
			return &Mistake{c.line, `\if without \endif`, ""}
		}
		p := b.pieces[b.at]
		if p.meta[0] == "endif" {
			return nil
		}
		if kind == "else" {
			return &Mistake{p.line, fmt.Sprintf(`\%s after \else`, p.meta[0]), ""}
		}
		kind, condition = p.meta[0], p.meta[1]
	}
}

func (b *builder) branch(kind, condition string, line int) (br branch, err error) {
	if kind == "else" {
		condition = "true"
	}
	if br.condition, err = ParseExpression(condition); err != nil {
		return br, &Mistake{line, fmt.Sprintf(`\%s: %v`, kind, err), ""}
	}
	return br, nil
}

// places finds the variables in SQL: a colon and a name that begins with a letter; two colons are a cast. As in
// pgbench, quotes do not matter.
func places(sql string, each func(before, name string)) (rest string) {
	from := 0
	for at := 0; at < len(sql); {
		if sql[at] != ':' {
			at++
			continue
		}
		if n := word(sql[at+1:]); n > 0 && isAlpha(sql[at+1]) {
			each(sql[from:at], sql[at+1:at+1+n])
			at += 1 + n
			from = at
			continue
		}
		for at < len(sql) && sql[at] == ':' {
			at++
		}
	}
	return sql[from:]
}

// bind replaces the variables by $1, $2, …
func bind(sql string) (bound string, params []string) {
	var b strings.Builder
	rest := places(sql, func(before, name string) {
		params = append(params, name)
		fmt.Fprintf(&b, "%s$%d", before, len(params))
	})
	return b.String() + rest, params
}

// substitute replaces the variables that are defined by their values.
func substitute(sql string, variables map[string]Value) string {
	var b strings.Builder
	rest := places(sql, func(before, name string) {
		b.WriteString(before)
		if v, known := variables[name]; known {
			b.WriteString(v.String())
		} else {
			b.WriteString(":" + name)
		}
	})
	return b.String() + rest
}
