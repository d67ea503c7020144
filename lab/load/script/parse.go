package script

import (
	"fmt"
	"math"
	"strings"
)

// Expression is what \set and \if take.
type Expression struct {
	text string
	root node
}

func (e Expression) String() string { return e.text }

// ParseExpression reads an expression. The precedences, from weak to strong:
//
//	or < and < not < is, isnull, notnull < comparison < | # & << >> ~ < + - < * / % < sign
func ParseExpression(text string) (Expression, error) {
	tokens, err := lex(text)
	if err != nil {
		return Expression{}, err
	}
	p := &parser{tokens: tokens}
	root, err := p.expression(0)
	if err == nil && p.now().kind != endOfExpression {
		err = p.unexpected()
	}
	return Expression{strings.TrimSpace(text), root}, err
}

type parser struct {
	tokens []token
	at     int
}

func (p *parser) now() token { return p.tokens[p.at] }

func (p *parser) take() token {
	t := p.tokens[p.at]
	if t.kind != endOfExpression {
		p.at++
	}
	return t
}

func (p *parser) unexpected() error {
	if p.now().kind == endOfExpression {
		return fmt.Errorf("the expression ends too soon")
	}
	return fmt.Errorf("syntax error at %q", p.now().text)
}

func (p *parser) want(kind string) error {
	if p.now().kind != kind {
		return p.unexpected()
	}
	p.at++
	return nil
}

// Precedences.
const (
	ofOr = 1 + iota
	ofAnd
	ofNot
	ofIs
	ofComparison
	ofBits
	ofSum
	ofProduct
	ofSign
)

var binary = map[string]int{
	"or": ofOr, "and": ofAnd, "is": ofIs, "isnull": ofIs, "notnull": ofIs,
	"<": ofComparison, ">": ofComparison, "=": ofComparison, "<=": ofComparison, ">=": ofComparison, "<>": ofComparison,
	"|": ofBits, "#": ofBits, "&": ofBits, "<<": ofBits, ">>": ofBits, "+": ofSum, "-": ofSum, "*": ofProduct,
	"/": ofProduct, "%": ofProduct,
}

// expression parses operators that bind at least as strongly as least ("precedence climbing").
func (p *parser) expression(least int) (node, error) {
	left, err := p.prefix()
	if err != nil {
		return nil, err
	}
	last := 0 // comparisons do not chain
	for {
		op := p.now()
		strength, is := binary[op.kind]
		if !is || strength < least {
			return left, nil
		}
		if strength == ofComparison && last == ofComparison {
			return nil, p.unexpected()
		}
		p.take()
		if left, err = p.infix(op.kind, strength, left); err != nil {
			return nil, err
		}
		last = strength
	}
}

func (p *parser) infix(op string, strength int, left node) (node, error) {
	if strength == ofIs {
		return p.parseIs(op, left)
	}
	right, err := p.expression(strength + 1)
	if err != nil {
		return nil, err
	}
	switch op {
	case "and", "or":
		return lazy{op == "or", left, right}, nil
	case ">":
		return call{"<", []node{right, left}}, nil
	case ">=":
		return call{"<=", []node{right, left}}, nil
	}
	return call{op, []node{left, right}}, nil
}

// parseIs parses what follows IS; "isnull" and "notnull" are one word.
func (p *parser) parseIs(op string, left node) (node, error) {
	not, what := op == "notnull", constant{}
	if op == "is" {
		if not = p.now().kind == "not"; not {
			p.take()
		}
		switch t := p.take(); t.kind {
		case "null":
		case "true", "false":
			what.Value = boolOf(t.kind == "true")
		default:
			return nil, p.misplaced(t)
		}
	}
	var n node = call{"is", []node{left, what}}
	if not {
		n = call{"not", []node{n}}
	}
	return n, nil
}

func (p *parser) prefix() (node, error) {
	t := p.take()
	switch t.kind {
	case "(":
		n, err := p.expression(0)
		if err == nil {
			err = p.want(")")
		}
		return n, err
	case "+":
		return p.expression(ofSign)
	case "-":
		if p.now().least {
			p.take()
			return constant{Int(math.MinInt64)}, nil
		}
		n, err := p.expression(ofSign)
		return call{"-", []node{constant{Int(0)}, n}}, err
	case "~":
		n, err := p.expression(ofBits + 1)
		return call{"#", []node{constant{Int(-1)}, n}}, err
	case "not":
		n, err := p.expression(ofNot)
		return call{"not", []node{n}}, err
	case "null":
		return constant{}, nil
	case "true", "false":
		return constant{boolOf(t.kind == "true")}, nil
	case "double":
		return constant{Double(t.d)}, nil
	case "variable":
		return variable(t.text), nil
	case "case":
		return p.cases()
	case "name":
		return p.function(t.text)
	case "number":
		if !t.least {
			return constant{Int(t.i)}, nil
		}
	}
	return nil, p.misplaced(t)
}

// misplaced is unexpected for a token that was already consumed.
func (p *parser) misplaced(t token) error {
	if t.kind != endOfExpression {
		p.at--
	}
	return p.unexpected()
}

func (p *parser) cases() (node, error) {
	var c cases
	for p.now().kind == "when" {
		p.take()
		when, err := p.expression(0)
		if err == nil {
			err = p.want("then")
		}
		if err != nil {
			return nil, err
		}
		then, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		c.when, c.then = append(c.when, when), append(c.then, then)
	}
	c.otherwise = constant{}
	if len(c.when) > 0 && p.now().kind == "else" {
		p.take()
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		c.otherwise = n
	}
	if len(c.when) == 0 {
		return nil, p.unexpected()
	}
	return c, p.want("end")
}

func (p *parser) function(name string) (node, error) {
	f, known := functions[strings.ToLower(name)]
	if !known {
		return nil, unknownFunction(name)
	}
	if err := p.want("("); err != nil {
		return nil, err
	}
	var args []node
	for p.now().kind != ")" {
		if len(args) > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		n, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	p.take()
	if len(args) < f.least || len(args) > f.most {
		return nil, fmt.Errorf("%s takes %s, not %d", name, f.takes(), len(args))
	}
	return call{strings.ToLower(name), args}, nil
}
