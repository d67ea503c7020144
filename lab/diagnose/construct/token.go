package construct

import (
	"strings"

	"plimsoll/ground/postgres/sqltext"
)

// token of a statement: a name, a value, a sign, or a group in parentheses or brackets with what it holds.
type token struct {
	text  string  // as it is written; a group: "(" or "["
	word  string  // in lower case, where it may be a word of SQL: without quotes and dots
	name  string  // the last part of a name, as the server folds it
	table string  // what stands before it: a table, an alias or a schema
	value bool    // a string, a number, a parameter, or what stands for one
	inner []token // of a group
}

func (t token) group() bool { return t.text == "(" || t.text == "[" }

// read the tokens of a text. What a cut left open is closed; cut says that the text does not end there.
func read(sql string) (all []token, cut bool) {
	open, marks := [][]token{nil}, []string{""}
	add := func(t token) { open[len(open)-1] = append(open[len(open)-1], t) }
	leave := func() {
		last := len(open) - 1
		group := token{text: marks[last], inner: settle(open[last])}
		open, marks = open[:last], marks[:last]
		add(group)
	}
	for p := range sqltext.Parts(sql, false) {
		switch {
		case p.Kind == sqltext.Blank || p.Kind == sqltext.Comment:
		case p.Kind == sqltext.Name && p.Text == sqltext.CutMark:
			add(token{text: sqltext.CutMark})
		case p.Kind == sqltext.Name:
			add(named(strings.TrimSuffix(p.Text, sqltext.CutMark)))
		case p.Kind != sqltext.Symbol:
			add(token{text: p.Text, value: true})
		case p.Text == "(" || p.Text == "[":
			open, marks = append(open, nil), append(marks, p.Text)
		case p.Text == ")" || p.Text == "]":
			if len(open) > 1 {
				leave()
			}
		default:
			for _, text := range signs(p.Text) {
				add(token{text: text})
			}
		}
	}
	cut = len(open) > 1 || strings.HasSuffix(strings.TrimRight(sql, " ;"), sqltext.CutMark)
	for len(open) > 1 {
		leave()
	}
	all = settle(open[0])
	if len(all) == 0 {
		return nil, true
	}
	last := all[len(all)-1]
	return all, cut || reserved[last.word] && !ends[last.word] || unfinished[last.text]
}

// What a statement may end with, though it is a word of SQL; and what it cannot end with.
var (
	ends = words(`end null true false asc desc only all update current_date localtime current_timestamp current_time
		localtimestamp current_user isnull notnull`)
	unfinished = words("= < > <= >= <> != , + - / || -> ->> ::")
)

// named token: SELECT, o.total, "T 1".b.
func named(text string) token {
	t := token{text: text}
	if !strings.ContainsAny(text, `".`) {
		t.word = fold(text)
		t.name = t.word
		return t
	}
	var parts []string
	var part strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			part.WriteByte('"')
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			parts = append(parts, part.String())
			part.Reset()
		case quoted:
			part.WriteByte(c)
		default:
			part.WriteString(fold(text[i : i+1]))
		}
	}
	t.name = part.String()
	if len(parts) > 0 {
		t.table = parts[len(parts)-1]
	}
	return t
}

// fold a name as the server does: letters of ASCII alone.
func fold(text string) string {
	low := []byte(text)
	for i, c := range low {
		if c >= 'A' && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return string(low)
}

// signs that stand together: a question mark stands for a value, with an operator before or behind it.
func signs(text string) (all []string) {
	if text == "?|" || text == "?&" || text == "@?" {
		return []string{text}
	}
	begin := 0
	for i := range len(text) {
		if text[i] == '?' {
			if i > begin {
				all = append(all, text[begin:i])
			}
			all = append(all, "?")
			begin = i + 1
		}
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}

// settle which question marks are values, and what two signs are: :: and $?.
func settle(all []token) (out []token) {
	for i, t := range all {
		last := len(out) - 1
		switch {
		case t.text == ":" && last >= 0 && out[last].text == ":":
			out[last].text = "::"
		case t.text == "?" && last >= 0 && out[last].text == "$":
			out[last] = token{text: "$?", value: true}
		case t.text == "?":
			t.value = !(last >= 0 && operand(out[last]) && i+1 < len(all) && operand(all[i+1]))
			out = append(out, t)
		default:
			out = append(out, t)
		}
	}
	return out
}

// operand may stand on one side of an operator.
func operand(t token) bool {
	return t.value || t.group() || t.text == "?" || t.name != "" && !reserved[t.word]
}

// reserved words that are no columns, functions or types.
var reserved = words(`select from where and or not between like ilike similar in is on by limit offset then when else
	case end values set returning having union intersect except as all any some distinct null true false using join
	left right full inner outer cross natural group order window for with recursive exists lateral both leading trailing
	asc desc nulls collate escape filter over within partition preceding following unbounded to into update insert
	delete merge fetch only materialized array symmetric isnull notnull overlaps current_date current_timestamp
	current_time localtime localtimestamp current_user zone precision varying`)

// words of a text, as a set.
func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(text) {
		all[word] = true
	}
	return all
}

// each token of these, also within groups; what a query within them has, too.
func each(all []token, do func(token)) {
	for _, t := range all {
		do(t)
		each(t.inner, do)
	}
}

// has one of some words at this level.
func has(all []token, some ...string) bool {
	for _, t := range all {
		for _, word := range some {
			if t.word == word {
				return true
			}
		}
	}
	return false
}

// wordAt a place; empty: none.
func wordAt(all []token, i int) string {
	if i < 0 || i >= len(all) {
		return ""
	}
	return all[i].word
}

// column says that a token may be one: no function, no type of a cast, no word of SQL.
func column(all []token, i int) bool {
	t := all[i]
	return t.name != "" && !reserved[t.word] && !(i+1 < len(all) && all[i+1].text == "(") &&
		!(i > 0 && all[i-1].text == "::") && !(i+1 < len(all) && all[i+1].value && types[t.word]) &&
		wordAt(all, i-1) != "as" && !(t.word == "time" && wordAt(all, i+1) == "zone") &&
		!(t.word == "at" && wordAt(all, i+1) == "time")
}

// types that stand before their value.
var types = words("date time timestamp timestamptz interval numeric text int json jsonb inet uuid")

// columns that these tokens have, also within groups.
func columns(all []token) (found []token) {
	for i, t := range all {
		if column(all, i) {
			found = append(found, t)
		}
		found = append(found, columns(t.inner)...)
	}
	return found
}

// tablesOf the columns, as far as they are written before them.
func tablesOf(all []token) map[string]bool {
	found := map[string]bool{}
	each(all, func(t token) {
		if t.table != "" {
			found[t.table] = true
		}
	})
	return found
}

// split at a word of this level: AND of BETWEEN, and what CASE holds, stay together. No part is empty.
func split(all []token, word string) (parts [][]token) {
	begin, between, cases := 0, false, 0
	for i, t := range all {
		switch {
		case t.word == "case":
			cases++
		case t.word == "end" && cases > 0:
			cases--
		case cases > 0:
		case t.word == "between":
			between = true
		case t.word == "and" && between:
			between = false
		case t.word == word || word == "," && t.text == ",":
			if i > begin {
				parts = append(parts, all[begin:i])
			}
			begin = i + 1
		}
	}
	if begin < len(all) {
		parts = append(parts, all[begin:])
	}
	return parts
}

// conjuncts of a condition: what AND connects, also within parentheses of their own.
func conjuncts(all []token) (found [][]token) {
	for _, part := range split(all, "and") {
		if len(part) == 1 && part[0].text == "(" && !isQuery(part[0].inner) && len(split(part[0].inner, ",")) == 1 {
			found = append(found, conjuncts(part[0].inner)...)
			continue
		}
		found = append(found, part)
	}
	return found
}

// disjuncts of a conjunct; one where no OR connects it.
func disjuncts(all []token) [][]token {
	if len(all) == 1 && all[0].text == "(" && !isQuery(all[0].inner) {
		return disjuncts(all[0].inner)
	}
	return split(all, "or")
}
