package gate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"plimsoll/ground/human"
	"plimsoll/ground/problem"
)

// Mistake is what is wrong with the text of a gate, and where.
type Mistake struct {
	Text string
	At   int // the character at which it is, from 1
	Says string
	Hint string
}

func (m *Mistake) Error() string { return fmt.Sprintf("%q, character %d: %s", m.Text, m.At, m.Says) }

// Usage is the problem of a mistake on a command line.
func Usage(err error) error {
	var m *Mistake
	hint := ""
	if errors.As(err, &m) {
		hint = m.Hint
	}
	return problem.New(problem.Usage, fmt.Errorf("--fail-if %w", err), hint)
}

// Wrong makes a mistake at a byte of a gate's text.
type Wrong func(at int, says, hint string) error

// ReadAll reads the gates of a command line, each by the same function.
func ReadAll[G any](texts []string, read func(text string, wrong Wrong) (G, error)) (all []G, err error) {
	for _, text := range texts {
		g, err := read(text, (&reader{text: text}).wrong)
		if err != nil {
			return nil, Usage(err)
		}
		all = append(all, g)
	}
	return all, nil
}

// ParseAll reads the gates of a run.
func ParseAll(texts, operations []string) ([]Gate, error) {
	return ReadAll(texts, func(text string, _ Wrong) (Gate, error) { return Parse(text, operations) })
}

// figureNames are what a gate can begin with, for suggestions; any other percentile may be written too.
var figureNames = []string{"p50", "p90", "p95", "p99", "p99.9", string(Mean), string(Max), string(Errors),
	string(Refused), string(Throughput), string(Apdex)}

// Examples of gates, by unit.
const Examples = `such as "goods_sale.post: p95 > 200ms", "errors > 1%", "throughput < 50/s" or "*: apdex < 0.85"`

// reader walks through the text of one gate.
type reader struct {
	text string
	at   int // bytes read
}

func (r *reader) wrong(at int, says, hint string) error {
	return &Mistake{Text: r.text, At: utf8.RuneCountInString(r.text[:at]) + 1, Says: says, Hint: hint}
}

func (r *reader) blanks() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
		r.at++
	}
}

// while reads characters of a kind.
func (r *reader) while(is func(c byte) bool) string {
	from := r.at
	for r.at < len(r.text) && is(r.text[r.at]) {
		r.at++
	}
	return r.text[from:r.at]
}

// Parse reads one gate. Its operation must be one of those given.
func Parse(text string, operations []string) (g Gate, err error) {
	r := &reader{text: text}
	operation, named, err := r.operation(operations)
	if err != nil {
		return g, err
	}
	g.Operation = operation
	r.blanks()
	from := r.at
	word := r.while(func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_'
	})
	if err := g.figure(r, from, word); err != nil {
		return g, err
	}
	if g.Operation == "" && !g.Figure.ofRun() {
		return g, r.wrong(from, word+" of which operation? One over all would move with the mix",
			`name one, or each by *, such as "*: `+strings.TrimSpace(text[from:])+`"`)
	}
	if g.Operation == Each && len(operations) == 0 {
		return g, r.wrong(named, "there is no key operation", "")
	}
	if err := g.compared(r, word); err != nil {
		return g, err
	}
	return g, g.limit(r)
}

// operation before the last colon, if there is one.
func (r *reader) operation(known []string) (name string, at int, err error) {
	colon := strings.LastIndexByte(r.text, ':')
	if colon < 0 {
		return "", 0, nil
	}
	r.blanks()
	at = r.at
	name = strings.TrimSpace(r.text[at:max(at, colon)])
	if strings.HasPrefix(name, `"`) {
		plain, err := strconv.Unquote(name)
		if err != nil {
			return "", at, r.wrong(at, "the name's quotes do not end", "")
		}
		name = plain
	}
	r.at = colon + 1
	switch {
	case name == "":
		return "", at, r.wrong(at, "there is no operation before the colon", Examples)
	case name != Each && !slices.Contains(known, name):
		return "", at, r.wrong(at, fmt.Sprintf("no key operation %q", name),
			human.NearestHint(name, known, "there are "+strings.Join(known, ", ")))
	}
	return name, at, nil
}

// figure of a word.
func (g *Gate) figure(r *reader, at int, word string) error {
	lower := strings.ToLower(word)
	if number, is := strings.CutPrefix(lower, "p"); is && number != "" && strings.Trim(number, "0123456789.") == "" {
		p, err := strconv.ParseFloat(number, 64)
		if err != nil || !(p > 0 && p < 100) {
			return r.wrong(at, "a percentile lies between p0 and p100, not "+word, "max is the longest")
		}
		g.Figure, g.Percent = Percentile, p
		return nil
	}
	for _, f := range []Figure{Mean, Max, Errors, Refused, Throughput, Apdex} {
		if lower == string(f) {
			g.Figure = f
			return nil
		}
	}
	if word == "" {
		return r.wrong(at, "there is no figure", Examples)
	}
	return r.wrong(at, fmt.Sprintf("no figure %q", word), human.NearestHint(lower, figureNames, "there are "+
		strings.Join(figureNames, ", ")))
}

// compared reads the sign. A gate whose sign looks the other way was meant as a wish, and would fail when all is well.
func (g *Gate) compared(r *reader, word string) error {
	r.blanks()
	from := r.at
	sign := r.while(func(c byte) bool { return strings.IndexByte("<>=!", c) >= 0 })
	g.AtLimit = strings.HasSuffix(sign, "=")
	fails := g.comparison()
	switch sign {
	case fails:
		return nil
	case ">", "<", ">=", "<=":
		return r.wrong(from, fmt.Sprintf("%s %s fails when all is well: a gate says what fails", word, sign),
			fmt.Sprintf("did you mean %s %s?", word, fails))
	case "":
		return r.wrong(from, fmt.Sprintf("%s is compared with a limit by %s", word, fails), Examples)
	}
	return r.wrong(from, fmt.Sprintf("%s is no comparison", sign), fmt.Sprintf("did you mean %s %s?", word, fails))
}

// limit reads the rest.
func (g *Gate) limit(r *reader) error {
	r.blanks()
	from := r.at
	text := strings.TrimSpace(r.text[from:])
	takes := func(what string) error {
		if text == "" {
			return r.wrong(from, "there is no limit", "it takes "+what)
		}
		return r.wrong(from, fmt.Sprintf("%s takes %s, not %s", g.FigureText(), what, text), "")
	}
	switch g.Figure.Unit() {
	case Milliseconds:
		d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil || d <= 0 {
			return takes("a time such as 200ms or 1.5s")
		}
		g.Limit = float64(d) / float64(time.Millisecond)
	case Share:
		number, percent := strings.CutSuffix(text, "%")
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !percent && x != 0 || !(x >= 0 && x <= 100) {
			return takes("a share in percent such as 1%")
		}
		g.Limit = x / 100
	case PerSecond:
		number, per := text, 1.0
		for unit, seconds := range map[string]float64{"/s": 1, "/min": 60, "/h": 3600} {
			if cut, is := strings.CutSuffix(text, unit); is {
				number, per = cut, seconds
			}
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(x > 0 && x < 1e12) {
			return takes("operations per second such as 50/s")
		}
		g.Limit = x / per
	case Score:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return takes("a score between 0 and 1 such as 0.85")
		}
		g.Limit = x
	}
	return nil
}
