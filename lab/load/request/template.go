package request

import (
	"encoding/json"
	"fmt"
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
