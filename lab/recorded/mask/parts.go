package mask

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	// element of an array as PostgreSQL writes it: {a,"b c",NULL}.
	element = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^{},"]+`)
	escaped = regexp.MustCompile(`\\(.)`)
)

// parts of a value, each by what do gives for it: the texts of JSON, though not its names, the elements of an array, or
// the value as a whole. So what is masked can still be read as what it was.
func parts(text string, do func(string) string) string {
	switch {
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		if json.Valid([]byte(text)) {
			return inJSON(text, do)
		}
		if text[0] == '{' && text[len(text)-1] == '}' {
			return element.ReplaceAllStringFunc(text, func(part string) string { return inArray(part, do) })
		}
	}
	return do(text)
}

func inJSON(text string, do func(string) string) string {
	var out strings.Builder
	last := 0
	for _, at := range jsonText.FindAllStringIndex(text, -1) {
		out.WriteString(text[last:at[0]])
		last = at[1]
		part, value := text[at[0]:at[1]], ""
		isName := strings.HasPrefix(strings.TrimLeft(text[at[1]:], " \t\r\n"), ":")
		if !isName && json.Unmarshal([]byte(part), &value) == nil {
			if other, err := json.Marshal(do(value)); err == nil {
				part = string(other)
			}
		}
		out.WriteString(part)
	}
	return out.String() + text[last:]
}

func inArray(part string, do func(string) string) string {
	switch {
	case strings.EqualFold(part, "NULL"):
		return part
	case part[0] != '"':
		return do(part)
	}
	plain := escaped.ReplaceAllString(part[1:len(part)-1], "$1")
	other := do(plain)
	if other == plain {
		return part
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(other) + `"`
}
