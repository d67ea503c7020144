// Package sqltext owns what is done to the text of a statement without parsing it: the parts that it consists of, and
// taking out its values, so that equal statements add up and a report holds no data of users.
package sqltext

import "strings"

// WithoutStrings is a statement whose quoted strings are empty, without comments. What stands in dollar quotes is code
// more often than data, and is treated as a statement.
func WithoutStrings(sql string) string {
	var out strings.Builder
	for p := range Parts(sql, false) {
		switch {
		case p.Kind == Comment:
			out.WriteByte(' ')
		case p.Kind == String && p.Mark[0] == '$':
			code := p.Inner()
			out.WriteString(p.Mark + WithoutStrings(code) + p.Text[len(p.Mark)+len(code):])
		case p.Kind == String:
			out.WriteString("''")
		default:
			out.WriteString(p.Text)
		}
	}
	return out.String()
}

// CutMark ends a text that was cut: what it lacks may have stood behind it.
const CutMark = "…"

// WithoutValues is a statement in one line, without comments, with a question mark for each string and number.
func WithoutValues(sql string) string {
	var out strings.Builder
	gap := false
	for p := range Parts(sql, false) {
		text := p.Text
		switch p.Kind {
		case Blank, Comment:
			gap = out.Len() > 0
			continue
		case String, Number:
			text = "?"
		case Parameter:
			text = "$?"
		}
		if gap {
			out.WriteByte(' ')
			gap = false
		}
		out.WriteString(text)
	}
	if strings.HasSuffix(sql, CutMark) && !strings.HasSuffix(out.String(), CutMark) { // cut within a value or a comment
		out.WriteString(CutMark)
	}
	return out.String()
}

// WithoutLead is a statement without the blanks and comments before it.
func WithoutLead(sql string) string {
	for p := range Parts(sql, false) {
		if p.Kind != Blank && p.Kind != Comment {
			break
		}
		sql = sql[len(p.Text):]
	}
	return sql
}
