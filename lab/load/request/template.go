package request

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"

	"plimsoll/lab/load/script"
)

// A template holds {{name}} for a variable, whose value is escaped for its place.

// Variables are the names that a template refers to.
func Variables(template string) (names []string, err error) {
	_, err = cut(template, func(name string) (string, error) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return "", nil
	})
	return names, err
}

// expand replaces the variables by their values.
func expand(template string, variables map[string]script.Value, escape func(string) string) (string, error) {
	return cut(template, func(name string) (string, error) {
		v, known := variables[name]
		if !known {
			return "", fmt.Errorf("undefined variable %q", name)
		}
		return escape(v.String()), nil
	})
}

// expandURL escapes values for the path or the query in which they stand. One at the beginning is an address, as a
// link or a redirect has it, and stays as it is.
func expandURL(template string, variables map[string]script.Value) (string, error) {
	first := ""
	if strings.HasPrefix(template, "{{") {
		if end := strings.Index(template, "}}"); end > 0 {
			first, template = template[:end+2], template[end+2:]
		}
	}
	begins, err := expand(first, variables, asIs)
	if err != nil {
		return "", err
	}
	path := template
	if at := strings.IndexByte(template, '?'); at >= 0 {
		path = template[:at]
	}
	if strings.Contains(begins, "?") {
		path = "" // what follows belongs to the query
	}
	query := template[len(path):]
	if path, err = expand(path, variables, url.PathEscape); err != nil {
		return "", err
	}
	query, err = expand(query, variables, url.QueryEscape)
	return begins + path + query, err
}

func cut(template string, value func(name string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}}")
		if name = strings.TrimSpace(name); !closed || !script.IsName(name) {
			return "", fmt.Errorf("{{ must be followed by the name of a variable and }}")
		}
		text, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		template = after
	}
}

// escapeOf a body by its Content-Type; without one it is JSON.
func escapeOf(kind string) func(string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "" || strings.HasSuffix(kind, "json"):
		return inJSON
	case kind == "application/x-www-form-urlencoded":
		return url.QueryEscape
	case strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "html"):
		return html.EscapeString
	}
	return asIs
}

// inJSON escapes what would end a JSON string; numbers stay as they are.
func inJSON(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}

// oneLine removes line breaks from a header.
func oneLine(s string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(s) }

func asIs(s string) string { return s }
