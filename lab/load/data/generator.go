package data

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"plimsoll/lab/load/script"
)

// RowVariable is the number of a row that is made, from 1.
const RowVariable = "row"

// Column whose values are made: text with {{expressions}} of :row. One that is a single expression is a number.
type Column struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// generator makes rows. The numbers of a column depend on the seed, the column and the row alone.
type generator struct{ columns []madeColumn }

type madeColumn struct {
	seed  uint64
	parts []part
}

// part of a column: a text, or an expression.
type part struct {
	text       string
	expression *script.Expression
}

func newGenerator(columns []Column) (*generator, error) {
	g := &generator{}
	for _, c := range columns {
		parts, err := parseColumn(c.Text)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(c.Name))
		g.columns = append(g.columns, madeColumn{h.Sum64(), parts})
	}
	return g, nil
}

// CheckColumn says what is wrong with the text of a column.
func CheckColumn(text string) error {
	_, err := parseColumn(text)
	return err
}

func parseColumn(text string) (all []part, err error) {
	for {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" || !found && len(all) == 0 {
			all = append(all, part{text: before})
		}
		if !found {
			return all, nil
		}
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("{{ without }}")
		}
		e, err := script.ParseExpression(inner)
		if err != nil {
			return nil, fmt.Errorf("{{%s}}: %w", inner, err)
		}
		for _, name := range e.Variables() {
			if name != RowVariable {
				return nil, fmt.Errorf("{{%s}}: the only variable is :%s, not :%s", inner, RowVariable, name)
			}
		}
		all = append(all, part{expression: &e})
		text = after
	}
}

func (g *generator) value(row, column int, seed uint64) (script.Value, error) {
	c := g.columns[column]
	env := &script.Environment{
		Variables: map[string]script.Value{RowVariable: script.Int(int64(row) + 1),
			script.DefaultSeed: script.Int(int64(seed))},
		RNG: rand.New(rand.NewPCG(seed^c.seed, uint64(row))),
	}
	var b strings.Builder
	for _, p := range c.parts {
		if p.expression == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := p.expression.Eval(env)
		if err != nil {
			return v, err
		}
		if len(c.parts) == 1 {
			return v, nil
		}
		b.WriteString(v.String())
	}
	return script.Text(b.String()), nil
}
